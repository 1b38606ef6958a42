/** The cases for Jobs from Kubernetes' end-to-end suite, except policies and indexes: test/e2e/apps/{job,ttl_after_finished}.go. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Job, Pod } from "../../src/kube/resources.ts"
import * as Harness from "./harness.ts"
import { condition, keepRunning, exit, fails, job, timeout, podsOf, succeeds } from "./work.ts"

const status = Effect.map(Harness.get(Job, "work"), (found) => found.status)

Harness.scenario(
  "a Job is complete when enough pods have succeeded, and keeps them",
  Effect.gen(function* () {
    yield* Harness.create(Job, job(succeeds))
    yield* condition("SuccessCriteriaMet", "CompletionsReached")
    yield* condition("Complete", "CompletionsReached")
    assert.strictEqual((yield* status)?.succeeded, 4)
    assert.deepStrictEqual(
      (yield* podsOf).map((pod) => pod.status?.phase),
      Array(4).fill("Succeeded")
    )
  })
)

Harness.scenario(
  "a Job that is created suspended has no pods until it is resumed",
  Effect.gen(function* () {
    yield* Harness.create(Job, job(succeeds, { suspend: true }))
    yield* condition("Suspended", "JobSuspended")
    yield* Harness.advance("30 seconds")
    assert.isEmpty(yield* podsOf)
    yield* Harness.update(Job, "work", (found) => ({ ...found, spec: { ...found.spec, suspend: false } }))
    yield* condition("SuccessCriteriaMet", "CompletionsReached")
    yield* condition("Complete", "CompletionsReached")
  })
)

Harness.scenario(
  "a Job that is suspended loses its pods, and its status counts the ready ones all the time",
  Effect.gen(function* () {
    const ready = (count: number) =>
      Harness.until(
        Effect.map(status, (found) => assert.strictEqual(found?.ready, count)),
        timeout
      )
    yield* Harness.create(Job, job(keepRunning, { suspend: true }))
    yield* ready(0)
    yield* Harness.patch(Job, "work", { spec: { suspend: false } })
    yield* ready(2)
    yield* Harness.patch(Job, "work", { spec: { suspend: true } })
    yield* ready(0)
    yield* Harness.until(Effect.map(podsOf, (all) => assert.isEmpty(all)))
    yield* condition("Suspended", "JobSuspended")
    assert.deepStrictEqual([(yield* status)?.active, (yield* status)?.failed], [undefined, undefined])
  })
)

Harness.scenario(
  "a Job with podReplacementPolicy Failed waits until a pod has failed before it replaces it",
  Effect.gen(function* () {
    const spec = { parallelism: 1, completions: 1, backoffLimit: 1, podReplacementPolicy: "Failed" }
    yield* Harness.create(Job, job(keepRunning, spec, { terminationGracePeriodSeconds: 30 }))
    const [pod] = yield* Harness.running("job-name=work", 1)
    yield* Harness.remove(Pod, pod?.metadata.name ?? "", { gracePeriodSeconds: 30 })
    const counts = Effect.map(status, (found) => [found?.active ?? 0, found?.failed ?? 0, found?.terminating])
    yield* Harness.until(Effect.map(counts, (found) => assert.deepStrictEqual(found, [0, 0, 1])))
    yield* Harness.until(Effect.map(counts, (found) => assert.deepStrictEqual(found, [1, 1, 0])))
  })
)

Harness.scenario(
  "a Job is complete although each container fails once and is restarted in its pod",
  Effect.gen(function* () {
    yield* Harness.create(Job, job(fails, {}, { restartPolicy: "OnFailure" }))
    yield* Harness.until(
      Effect.gen(function* () {
        for (const pod of yield* podsOf)
          if ((pod.status?.containerStatuses?.[0]?.restartCount ?? 0) > 0) yield* exit(pod, 0)
        assert.strictEqual((yield* status)?.succeeded, 4)
      }),
      timeout
    )
    yield* condition("Complete", "CompletionsReached")
    assert.deepStrictEqual([(yield* podsOf).length, (yield* status)?.failed ?? 0], [4, 0])
  })
)

Harness.scenario(
  "a Job is complete although two pods fail and are replaced",
  Effect.gen(function* () {
    yield* Harness.create(Job, job(keepRunning))
    let failures = 0
    yield* Harness.until(
      Effect.gen(function* () {
        for (const pod of (yield* podsOf).filter((one) => one.status?.phase === "Running"))
          yield* exit(pod, failures++ < 2 ? 1 : 0)
        assert.strictEqual((yield* status)?.succeeded, 4)
      }),
      timeout
    )
    yield* condition("SuccessCriteriaMet", "CompletionsReached")
    yield* condition("Complete", "CompletionsReached")
    assert.strictEqual((yield* status)?.failed, 2)
  })
)

Harness.scenario(
  "a Job fails when its deadline is over",
  Effect.gen(function* () {
    yield* Harness.create(Job, job(keepRunning, { activeDeadlineSeconds: 1 }))
    yield* condition("FailureTarget", "DeadlineExceeded")
    yield* condition("Failed", "DeadlineExceeded")
  })
)

Harness.scenario(
  "a Job fails when more pods fail than its limit allows, and keeps exactly these",
  Effect.gen(function* () {
    yield* Harness.create(Job, job(fails, { parallelism: 1, completions: 1, backoffLimit: 1 }))
    yield* condition("FailureTarget", "BackoffLimitExceeded")
    yield* condition("Failed", "BackoffLimitExceeded")
    assert.deepStrictEqual(
      (yield* podsOf).map((pod) => pod.status?.phase),
      ["Failed", "Failed"]
    )
  })
)

Harness.scenario(
  "a Job adopts a pod without an owner, and releases one that it does not select",
  Effect.gen(function* () {
    const { metadata } = yield* Harness.create(Job, job(keepRunning))
    const [pod] = yield* Harness.running("job-name=work", 2)
    const name = pod?.metadata.name ?? ""
    yield* Harness.update(Pod, name, (found) => ({ ...found, metadata: { ...found.metadata, ownerReferences: [] } }))
    yield* Harness.until(
      Effect.map(Harness.get(Pod, name), (found) =>
        assert.deepInclude(Harness.controllerOf(found), { kind: "Job", name: "work", uid: metadata.uid ?? "" })
      )
    )
    yield* Harness.update(Pod, name, (found) => ({ ...found, metadata: { ...found.metadata, labels: {} } }))
    yield* Harness.until(Effect.map(Harness.get(Pod, name), (found) => assert.isUndefined(Harness.controllerOf(found))))
  })
)

Harness.scenario(
  "a Job keeps a condition that another client adds and changes",
  Effect.gen(function* () {
    yield* Harness.create(Job, job(keepRunning))
    yield* Harness.running("job-name=work", 2)
    const custom = (lastTransitionTime: string) => ({ type: "Custom", status: "True", lastTransitionTime })
    const [first, second] = ["2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"]
    const patched = { metadata: { annotations: { patchedstatus: "true" } }, status: { conditions: [custom(first)] } }
    yield* Harness.patch(Job, "work", patched, "status")
    yield* Harness.advance("10 seconds")
    const [pod] = yield* podsOf
    yield* Harness.remove(Pod, pod?.metadata.name ?? "")
    yield* Harness.advance("10 seconds")
    const times = Effect.map(status, (found) => found?.conditions?.map(({ lastTransitionTime }) => lastTransitionTime))
    assert.deepStrictEqual(yield* times, [first])
    const changed = { conditions: [custom(second)] }
    yield* Harness.update(Job, "work", (found) => ({ ...found, status: { ...found.status, ...changed } }), "status")
    yield* Harness.advance("10 seconds")
    assert.deepStrictEqual(yield* times, [second])
  })
)

Harness.scenario(
  "a Job can be labelled, resumed, completed and deleted with its collection, and takes its pods with it",
  Effect.gen(function* () {
    yield* Harness.create(Job, job(succeeds, { suspend: true }, {}, { labels: { e2e: "work" } }))
    yield* Harness.strategic(Job, "work", { metadata: { labels: { patched: "yes" } } })
    yield* Harness.update(Job, "work", (found) => ({
      ...found,
      metadata: { ...found.metadata, annotations: { updated: "true" } },
      spec: { ...found.spec, suspend: false }
    }))
    yield* condition("Complete", "CompletionsReached")
    yield* Harness.removeAll(Job, "e2e=work", { propagationPolicy: "Background" })
    yield* Harness.gone(Job, "work")
    yield* Harness.until(Effect.map(podsOf, (all) => assert.isEmpty(all)))
  })
)

Harness.scenario(
  "a Job that is deleted in the foreground stays until its running pods are gone",
  Effect.gen(function* () {
    yield* Harness.create(Job, job(keepRunning))
    yield* Harness.running("job-name=work", 2)
    yield* Harness.remove(Job, "work", { propagationPolicy: "Foreground" })
    yield* Harness.gone(Job, "work")
    assert.isEmpty(yield* podsOf)
  })
)

Harness.scenario(
  "a Job with managedBy is left alone",
  Effect.gen(function* () {
    const made = yield* Harness.create(Job, job(succeeds, { managedBy: "example.com/controller" }))
    yield* Harness.advance("1 minute")
    const found = yield* Harness.get(Job, "work")
    assert.deepStrictEqual([yield* podsOf, found.metadata.resourceVersion], [[], made.metadata.resourceVersion])
  })
)

Harness.scenario(
  "a finished Job is deleted after its ttl, when the finalizers of others are removed",
  Effect.gen(function* () {
    const spec = { parallelism: 1, completions: 1, ttlSecondsAfterFinished: 10 }
    yield* Harness.create(Job, job(succeeds, spec, {}, { finalizers: ["k8s.io/dummy-finalizer"] }))
    yield* condition("Complete", "CompletionsReached")
    const { metadata } = yield* Harness.until(
      Effect.tap(Harness.get(Job, "work"), (found) =>
        Effect.sync(() => assert.isDefined(found.metadata.deletionTimestamp))
      )
    )
    const end = (yield* status)?.conditions?.find(({ type }) => type === "Complete")?.lastTransitionTime
    assert.isAtLeast(Date.parse(metadata.deletionTimestamp ?? ""), Date.parse(end ?? "") + 10_000)
    yield* Harness.update(Job, "work", (found) => ({
      ...found,
      metadata: {
        ...found.metadata,
        finalizers: (found.metadata.finalizers ?? []).filter((one) => one !== "k8s.io/dummy-finalizer")
      }
    }))
    yield* Harness.gone(Job, "work")
    yield* Harness.until(Effect.map(podsOf, (all) => assert.isEmpty(all)))
  })
)
