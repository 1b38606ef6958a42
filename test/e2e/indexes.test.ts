/** The cases for indexed Jobs, for policies of Jobs and for the finalizer of their pods from Kubernetes' suites: test/e2e/apps/job.go, test/integration/job. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Job, Pod } from "../../src/kube/resources.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as Harness from "./harness.ts"
import { condition, keepRunning, exit, fails, job, podsOf, succeeds } from "./work.ts"

const indexKey = "batch.kubernetes.io/job-completion-index"

const indexed = { completionMode: "Indexed" }

const status = Effect.map(Harness.get(Job, "work"), (found) => found.status)

const indexOf = ({ metadata }: Pod) => Number(metadata.annotations?.[indexKey])

/** Ends each running pod with the code for its index, until the condition holds. */
const ending = (codeOf: (index: number) => number, until: Effect.Effect<unknown, unknown, Harness.Services>) =>
  Harness.until(
    Effect.gen(function* () {
      const running = (yield* podsOf).filter(
        ({ metadata, status }) => status?.phase === "Running" && metadata.deletionTimestamp === undefined
      )
      yield* Effect.forEach(running, (pod) => exit(pod, codeOf(indexOf(pod))), { discard: true })
      yield* until
    }),
    "15 minutes"
  )

const holds = (type: string, reason: string) =>
  Effect.map(status, (found) =>
    assert.deepInclude(
      found?.conditions?.find((one) => one.type === type),
      { status: "True", reason }
    )
  )

const numbers = Effect.map(status, (found) => [
  found?.completedIndexes,
  found?.failedIndexes,
  found?.succeeded ?? 0,
  found?.failed ?? 0
])

Harness.scenario(
  "an indexed Job gives each pod an index and a host name with this index",
  Effect.gen(function* () {
    yield* Harness.create(Job, job(succeeds, indexed))
    yield* condition("Complete", "CompletionsReached")
    const ended = (yield* podsOf).filter((pod) => pod.status?.phase === "Succeeded")
    assert.sameMembers(ended.map(indexOf), [0, 1, 2, 3])
    for (const pod of ended) assert.strictEqual(pod.spec?.hostname, `work-${indexOf(pod)}`)
  })
)

Harness.scenario(
  "an indexed Job continues with all indexes although some fail, each up to its own limit",
  Effect.gen(function* () {
    yield* Harness.create(Job, job(keepRunning, { ...indexed, backoffLimitPerIndex: 1 }))
    yield* ending((index) => index % 2, holds("FailureTarget", "FailedIndexes"))
    yield* condition("Failed", "FailedIndexes")
    assert.deepStrictEqual(yield* numbers, ["0,2", "1,3", 2, 4])
  })
)

Harness.scenario(
  "an indexed Job stops when more indexes have failed than its limit allows",
  Effect.gen(function* () {
    const limits = { backoffLimitPerIndex: 0, maxFailedIndexes: 0, parallelism: 1 }
    yield* Harness.create(Job, job(fails, { ...indexed, ...limits }))
    yield* condition("FailureTarget", "MaxFailedIndexesExceeded")
    yield* condition("Failed", "MaxFailedIndexesExceeded")
    const [, failedIndexes, , failed] = yield* numbers
    assert.deepStrictEqual([failedIndexes, failed], ["0", 1])
  })
)

const onExit = (action: string, ...values: ReadonlyArray<number>) => ({
  podFailurePolicy: { rules: [{ action, onExitCodes: { operator: "In", values } }] }
})

Harness.scenario(
  "a FailIndex rule of the failure policy fails an index at once",
  Effect.gen(function* () {
    yield* Harness.create(
      Job,
      job(keepRunning, { ...indexed, ...onExit("FailIndex", 1), backoffLimitPerIndex: 1, completions: 2 })
    )
    yield* ending((index) => index % 2, holds("FailureTarget", "FailedIndexes"))
    yield* condition("Failed", "FailedIndexes")
    assert.deepStrictEqual(yield* numbers, ["0", "1", 1, 1])
  })
)

Harness.scenario(
  "a FailJob rule of the failure policy fails the Job at the first matching pod",
  Effect.gen(function* () {
    yield* Harness.create(Job, job(fails, onExit("FailJob", 1)))
    yield* condition("FailureTarget", "PodFailurePolicy")
    yield* condition("Failed", "PodFailurePolicy")
  })
)

Harness.scenario(
  "a failure that an Ignore rule matches does not count",
  Effect.gen(function* () {
    yield* Harness.create(Job, job(keepRunning, { ...onExit("Ignore", 1), backoffLimit: 0 }))
    let calls = 0
    yield* ending(() => (calls++ < 2 ? 1 : 0), holds("SuccessCriteriaMet", "CompletionsReached"))
    yield* condition("Complete", "CompletionsReached")
    assert.isAbove((yield* podsOf).length, 4)
    assert.deepStrictEqual([(yield* status)?.failed ?? 0, (yield* status)?.succeeded], [0, 4])
  })
)

const disrupted = { action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] }

for (const [what, policy] of [
  ["the code", onExit("Ignore", 143)],
  ["the condition", { podFailurePolicy: { rules: [disrupted] } }]
] as const)
  Harness.scenario(
    `an evicted pod that a failure policy ignores by ${what} does not count as a failure`,
    Effect.gen(function* () {
      yield* Harness.create(
        Job,
        job(keepRunning, { ...indexed, ...policy, backoffLimit: 0 }, { terminationGracePeriodSeconds: 1 })
      )
      // All pods except the first succeed. The first is evicted and created again.
      yield* ending(
        (index) => (index === 0 ? Number.NaN : 0),
        Effect.map(podsOf, (all) => {
          const ended = all.filter((pod) => pod.status?.phase === "Succeeded").map(indexOf)
          assert.sameMembers(ended, [1, 2, 3])
        })
      )
      const pod = (yield* podsOf).find((one) => indexOf(one) === 0)
      assert.isDefined(pod)
      const { name, namespace } = pod.metadata
      const client = yield* KubeClient
      const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`
      const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace } }
      yield* client.raw({ method: "POST", path, body, context: { verb: "create", path } })
      yield* Harness.gone(Pod, name)
      yield* ending(() => 0, holds("SuccessCriteriaMet", "CompletionsReached"))
      yield* condition("Complete", "CompletionsReached")
      assert.strictEqual((yield* status)?.failed ?? 0, 0)
    })
  )

for (const [rule, message] of [
  [{ succeededIndexes: "0" }, "Matched rules at index 0"],
  [{ succeededCount: 1 }, "Matched rules at index 0"],
  [{ succeededIndexes: "0-1", succeededCount: 1 }, "Matched rules at index 0"]
] as const)
  Harness.scenario(
    `a Job succeeds as soon as ${JSON.stringify(rule)} is met, and its other pods are deleted`,
    Effect.gen(function* () {
      const successPolicy = { rules: [rule] }
      yield* Harness.create(Job, job(keepRunning, { ...indexed, successPolicy, parallelism: 2, completions: 5 }))
      yield* Harness.running("job-name=work", 2)
      const first = (yield* podsOf).find((pod) => indexOf(pod) === 0)
      assert.isDefined(first)
      yield* exit(first, 0)
      yield* condition("SuccessCriteriaMet", "SuccessPolicy")
      yield* condition("Complete", "SuccessPolicy")
      const found = yield* status
      assert.deepStrictEqual([found?.completedIndexes, found?.active, found?.terminating], ["0", undefined, 0])
      assert.deepInclude(found?.conditions?.[0], { message })
    })
  )

Harness.scenario(
  "an indexed Job grows and shrinks with its completions, and drops the indexes beyond them",
  Effect.gen(function* () {
    const scale = (count: number) => Harness.patch(Job, "work", { spec: { completions: count, parallelism: count } })
    yield* Harness.create(Job, job(keepRunning, { ...indexed, completions: 3, parallelism: 3 }))
    yield* Harness.running("job-name=work", 3)
    yield* scale(5)
    yield* Harness.running("job-name=work", 5)
    const last = (yield* podsOf).find((pod) => indexOf(pod) === 4)
    assert.isDefined(last)
    yield* exit(last, 0)
    yield* Harness.until(Effect.map(numbers, ([completed]) => assert.strictEqual(completed, "4")))
    yield* scale(2)
    yield* Harness.until(
      Effect.map(numbers, ([completed, , succeeded]) => assert.deepStrictEqual([completed ?? "", succeeded], ["", 0]))
    )
    yield* ending(() => 0, holds("Complete", "CompletionsReached"))
    assert.deepStrictEqual((yield* numbers).slice(0, 3), ["0,1", undefined, 2])
  })
)

Harness.scenario(
  "a Job with zero completions is complete, suspended or not",
  Effect.gen(function* () {
    for (const suspend of [false, true]) {
      yield* Harness.create(Job, job(keepRunning, { completions: 0, suspend }))
      yield* condition("Complete", "CompletionsReached")
      assert.isEmpty(yield* podsOf)
      yield* Harness.remove(Job, "work", { propagationPolicy: "Background" })
      yield* Harness.gone(Job, "work")
    }
  })
)

for (const policy of ["Orphan", "Background", "Foreground"])
  Harness.scenario(
    `a deleted Job removes the finalizers of its pods: ${policy}`,
    Effect.gen(function* () {
      yield* Harness.create(Job, job(keepRunning, { parallelism: 3 }))
      yield* Harness.running("job-name=work", 3)
      yield* Harness.remove(Job, "work", { propagationPolicy: policy })
      yield* Harness.gone(Job, "work")
      yield* Harness.until(
        Effect.map(podsOf, (all) => {
          assert.strictEqual(all.length, policy === "Orphan" ? 3 : 0)
          for (const { metadata } of all) assert.isEmpty(metadata.finalizers ?? [])
        })
      )
    })
  )

Harness.scenario(
  "a Job that is created again under the same name has its own pods and counts",
  Effect.gen(function* () {
    yield* Harness.create(Job, job(succeeds))
    yield* condition("Complete", "CompletionsReached")
    yield* Harness.remove(Job, "work", { propagationPolicy: "Background" })
    yield* Harness.create(Job, job(keepRunning, { parallelism: 1, completions: 1 }))
    yield* Harness.until(
      Effect.map(status, (found) => assert.deepStrictEqual([found?.active, found?.succeeded ?? 0], [1, 0]))
    )
  })
)
