/** What Kubernetes' end-to-end suite asks of Jobs, but for policies and indexes: test/e2e/apps/{job,ttl_after_finished}.go. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Job, Pod } from "../../src/kube/resources.ts"
import * as World from "./stand.ts"
import { condition, endure, exit, fails, job, patience, podsOf, succeeds } from "./work.ts"

const status = Effect.map(World.get(Job, "work"), (found) => found.status)

World.scenario(
  "is complete when so many pods have succeeded, and keeps them",
  Effect.gen(function* () {
    yield* World.create(Job, job(succeeds))
    yield* condition("SuccessCriteriaMet", "CompletionsReached")
    yield* condition("Complete", "CompletionsReached")
    assert.strictEqual((yield* status)?.succeeded, 4)
    assert.deepStrictEqual(
      (yield* podsOf).map((pod) => pod.status?.phase),
      Array(4).fill("Succeeded")
    )
  })
)

World.scenario(
  "that begins suspended has no pods until it is resumed",
  Effect.gen(function* () {
    yield* World.create(Job, job(succeeds, { suspend: true }))
    yield* condition("Suspended", "JobSuspended")
    yield* World.advance("30 seconds")
    assert.isEmpty(yield* podsOf)
    yield* World.update(Job, "work", (found) => ({ ...found, spec: { ...found.spec, suspend: false } }))
    yield* condition("SuccessCriteriaMet", "CompletionsReached")
    yield* condition("Complete", "CompletionsReached")
  })
)

World.scenario(
  "that is suspended loses its pods, and says how many are ready all the while",
  Effect.gen(function* () {
    const ready = (count: number) =>
      World.until(
        Effect.map(status, (found) => assert.strictEqual(found?.ready, count)),
        patience
      )
    yield* World.create(Job, job(endure, { suspend: true }))
    yield* ready(0)
    yield* World.patch(Job, "work", { spec: { suspend: false } })
    yield* ready(2)
    yield* World.patch(Job, "work", { spec: { suspend: true } })
    yield* ready(0)
    yield* World.until(Effect.map(podsOf, (all) => assert.isEmpty(all)))
    yield* condition("Suspended", "JobSuspended")
    assert.deepStrictEqual([(yield* status)?.active, (yield* status)?.failed], [undefined, undefined])
  })
)

World.scenario(
  "waits for a pod to have failed before it replaces it, where it is told to",
  Effect.gen(function* () {
    const spec = { parallelism: 1, completions: 1, backoffLimit: 1, podReplacementPolicy: "Failed" }
    yield* World.create(Job, job(endure, spec, { terminationGracePeriodSeconds: 30 }))
    const [pod] = yield* World.running("job-name=work", 1)
    yield* World.remove(Pod, pod?.metadata.name ?? "", { gracePeriodSeconds: 30 })
    const counts = Effect.map(status, (found) => [found?.active ?? 0, found?.failed ?? 0, found?.terminating])
    yield* World.until(Effect.map(counts, (found) => assert.deepStrictEqual(found, [0, 0, 1])))
    yield* World.until(Effect.map(counts, (found) => assert.deepStrictEqual(found, [1, 1, 0])))
  })
)

World.scenario(
  "is complete although each container fails once, and is started again where it is",
  Effect.gen(function* () {
    yield* World.create(Job, job(fails, {}, { restartPolicy: "OnFailure" }))
    yield* World.until(
      Effect.gen(function* () {
        for (const pod of yield* podsOf)
          if ((pod.status?.containerStatuses?.[0]?.restartCount ?? 0) > 0) yield* exit(pod, 0)
        assert.strictEqual((yield* status)?.succeeded, 4)
      }),
      patience
    )
    yield* condition("Complete", "CompletionsReached")
    assert.deepStrictEqual([(yield* podsOf).length, (yield* status)?.failed ?? 0], [4, 0])
  })
)

World.scenario(
  "is complete although two pods fail, and are made again",
  Effect.gen(function* () {
    yield* World.create(Job, job(endure))
    let failures = 0
    yield* World.until(
      Effect.gen(function* () {
        for (const pod of (yield* podsOf).filter((one) => one.status?.phase === "Running"))
          yield* exit(pod, failures++ < 2 ? 1 : 0)
        assert.strictEqual((yield* status)?.succeeded, 4)
      }),
      patience
    )
    yield* condition("SuccessCriteriaMet", "CompletionsReached")
    yield* condition("Complete", "CompletionsReached")
    assert.strictEqual((yield* status)?.failed, 2)
  })
)

World.scenario(
  "fails when its time is over",
  Effect.gen(function* () {
    yield* World.create(Job, job(endure, { activeDeadlineSeconds: 1 }))
    yield* condition("FailureTarget", "DeadlineExceeded")
    yield* condition("Failed", "DeadlineExceeded")
  })
)

World.scenario(
  "fails when more pods have than may, and keeps just these",
  Effect.gen(function* () {
    yield* World.create(Job, job(fails, { parallelism: 1, completions: 1, backoffLimit: 1 }))
    yield* condition("FailureTarget", "BackoffLimitExceeded")
    yield* condition("Failed", "BackoffLimitExceeded")
    assert.deepStrictEqual(
      (yield* podsOf).map((pod) => pod.status?.phase),
      ["Failed", "Failed"]
    )
  })
)

World.scenario(
  "adopts a pod whose owner was forgotten, and lets one go that it does not select",
  Effect.gen(function* () {
    const { metadata } = yield* World.create(Job, job(endure))
    const [pod] = yield* World.running("job-name=work", 2)
    const name = pod?.metadata.name ?? ""
    yield* World.update(Pod, name, (found) => ({ ...found, metadata: { ...found.metadata, ownerReferences: [] } }))
    yield* World.until(
      Effect.map(World.get(Pod, name), (found) =>
        assert.deepInclude(World.controllerOf(found), { kind: "Job", name: "work", uid: metadata.uid ?? "" })
      )
    )
    yield* World.update(Pod, name, (found) => ({ ...found, metadata: { ...found.metadata, labels: {} } }))
    yield* World.until(Effect.map(World.get(Pod, name), (found) => assert.isUndefined(World.controllerOf(found))))
  })
)

World.scenario(
  "keeps a condition that others add, for them to change",
  Effect.gen(function* () {
    yield* World.create(Job, job(endure))
    yield* World.running("job-name=work", 2)
    const custom = (lastTransitionTime: string) => ({ type: "Custom", status: "True", lastTransitionTime })
    const [first, second] = ["2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"]
    const patched = { metadata: { annotations: { patchedstatus: "true" } }, status: { conditions: [custom(first)] } }
    yield* World.patch(Job, "work", patched, "status")
    yield* World.advance("10 seconds")
    const [pod] = yield* podsOf
    yield* World.remove(Pod, pod?.metadata.name ?? "")
    yield* World.advance("10 seconds")
    const times = Effect.map(status, (found) => found?.conditions?.map(({ lastTransitionTime }) => lastTransitionTime))
    assert.deepStrictEqual(yield* times, [first])
    const changed = { conditions: [custom(second)] }
    yield* World.update(Job, "work", (found) => ({ ...found, status: { ...found.status, ...changed } }), "status")
    yield* World.advance("10 seconds")
    assert.deepStrictEqual(yield* times, [second])
  })
)

World.scenario(
  "is labelled, resumed, completed and deleted with others, and takes its pods along",
  Effect.gen(function* () {
    yield* World.create(Job, job(succeeds, { suspend: true }, {}, { labels: { e2e: "work" } }))
    yield* World.strategic(Job, "work", { metadata: { labels: { patched: "yes" } } })
    yield* World.update(Job, "work", (found) => ({
      ...found,
      metadata: { ...found.metadata, annotations: { updated: "true" } },
      spec: { ...found.spec, suspend: false }
    }))
    yield* condition("Complete", "CompletionsReached")
    yield* World.removeAll(Job, "e2e=work", { propagationPolicy: "Background" })
    yield* World.gone(Job, "work")
    yield* World.until(Effect.map(podsOf, (all) => assert.isEmpty(all)))
  })
)

World.scenario(
  "in the foreground goes after its pods, although they are at work",
  Effect.gen(function* () {
    yield* World.create(Job, job(endure))
    yield* World.running("job-name=work", 2)
    yield* World.remove(Job, "work", { propagationPolicy: "Foreground" })
    yield* World.gone(Job, "work")
    assert.isEmpty(yield* podsOf)
  })
)

World.scenario(
  "that somebody else manages is left alone",
  Effect.gen(function* () {
    const made = yield* World.create(Job, job(succeeds, { managedBy: "example.com/controller" }))
    yield* World.advance("1 minute")
    const found = yield* World.get(Job, "work")
    assert.deepStrictEqual([yield* podsOf, found.metadata.resourceVersion], [[], made.metadata.resourceVersion])
  })
)

World.scenario(
  "is deleted some time after its end, and goes when others let it",
  Effect.gen(function* () {
    const spec = { parallelism: 1, completions: 1, ttlSecondsAfterFinished: 10 }
    yield* World.create(Job, job(succeeds, spec, {}, { finalizers: ["k8s.io/dummy-finalizer"] }))
    yield* condition("Complete", "CompletionsReached")
    const { metadata } = yield* World.until(
      Effect.tap(World.get(Job, "work"), (found) =>
        Effect.sync(() => assert.isDefined(found.metadata.deletionTimestamp))
      )
    )
    const end = (yield* status)?.conditions?.find(({ type }) => type === "Complete")?.lastTransitionTime
    assert.isAtLeast(Date.parse(metadata.deletionTimestamp ?? ""), Date.parse(end ?? "") + 10_000)
    yield* World.update(Job, "work", (found) => ({
      ...found,
      metadata: {
        ...found.metadata,
        finalizers: (found.metadata.finalizers ?? []).filter((one) => one !== "k8s.io/dummy-finalizer")
      }
    }))
    yield* World.gone(Job, "work")
    yield* World.until(Effect.map(podsOf, (all) => assert.isEmpty(all)))
  })
)
