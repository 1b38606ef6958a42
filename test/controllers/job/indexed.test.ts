/** Jobs whose pods each have an index, the limit of failures per index, and enough successes: spec D.4, D.6, D.7, D.11. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Pod } from "../../../src/kube/resources.ts"
import * as Stand from "./harness.ts"

const indexed = (spec: object = {}, metadata: object = {}) =>
  Stand.job({ completionMode: "Indexed", completions: 4, parallelism: 4, ...spec }, metadata)

const activeIndexes = Effect.map(Stand.activePods, (all) => all.map((pod) => Stand.indexOf(pod) ?? "").toSorted())

describe("an indexed Job", () => {
  it.effect("gives each pod its index in every form", () =>
    Stand.world(
      Effect.gen(function* () {
        const containers = [
          { name: "main", image: "work:1" },
          { name: "own", image: "work:1", env: [{ name: "JOB_COMPLETION_INDEX", value: "mine" }] }
        ]
        const initContainers = [{ name: "init", image: "work:1" }]
        yield* Stand.apply(
          indexed({
            template: { spec: { restartPolicy: "Never", containers, initContainers } },
            completions: 2,
            parallelism: 2
          })
        )
        const pod = (yield* Stand.pods).find((one) => Stand.indexOf(one) === "1")
        assert.strictEqual(pod?.metadata.generateName, "work-1-")
        assert.strictEqual(pod?.spec?.hostname, "work-1")
        assert.strictEqual(pod?.metadata.labels?.[Stand.indexKey], "1")
        const told = {
          name: "JOB_COMPLETION_INDEX",
          valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: `metadata.labels['${Stand.indexKey}']` } }
        }
        assert.deepStrictEqual(
          [...(pod?.spec?.initContainers ?? []), ...(pod?.spec?.containers ?? [])].map(({ env }) => env),
          [[told], [told], [{ name: "JOB_COMPLETION_INDEX", value: "mine" }]]
        )
        assert.isUndefined(pod?.metadata.annotations?.["batch.kubernetes.io/job-index-failure-count"])
      })
    )
  )

  it.effect("leaves room for what the server adds to a long name", () =>
    Stand.world(
      Effect.gen(function* () {
        const name = "a".repeat(60)
        yield* Stand.apply(indexed({ completions: 11, parallelism: 11 }, { name }))
        const prefixes = (yield* Stand.pods).map(({ metadata }) => metadata.generateName ?? "")
        assert.include(prefixes, `${"a".repeat(55)}-0-`)
        assert.include(prefixes, `${"a".repeat(54)}-10-`)
      })
    )
  )

  it.effect("is complete when each index has succeeded, and says which have", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(indexed({ completions: 8, parallelism: 8 }))
        for (const index of [0, 3, 4, 6]) yield* Stand.endIndex(index, 0)
        yield* Stand.rounds
        assert.deepInclude(yield* Stand.statusOf(), { completedIndexes: "0,3,4,6", succeeded: 4, active: 4 })
        yield* Stand.endIndex(2, 0)
        yield* Stand.rounds
        assert.deepInclude(yield* Stand.statusOf(), { completedIndexes: "0,2-4,6", succeeded: 5 })
        for (const index of [1, 5, 7]) yield* Stand.endIndex(index, 0)
        yield* Stand.rounds
        const status = yield* Stand.statusOf()
        assert.deepInclude(status, { completedIndexes: "0-7", succeeded: 8 })
        assert.isUndefined(status?.failedIndexes)
        assert.deepStrictEqual(yield* Stand.conditions, ["SuccessCriteriaMet", "Complete"])
      })
    )
  )

  it.effect("works on the first indexes first, and again on those that fail", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(indexed({ parallelism: 2 }))
        assert.deepStrictEqual(yield* activeIndexes, ["0", "1"])
        yield* Stand.endIndex(1, 0)
        yield* Stand.rounds
        assert.deepStrictEqual(yield* activeIndexes, ["0", "2"])
        yield* Stand.endIndex(0, 1)
        yield* Stand.advance("12 seconds")
        assert.deepStrictEqual(yield* activeIndexes, ["0", "2"])
        assert.deepInclude(yield* Stand.statusOf(), { failed: 1, completedIndexes: "1" })
      })
    )
  )

  it.effect("calls back who works on what another works on, or on nothing", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(indexed({ completions: 2, parallelism: 2 }))
        const { spec } = yield* Stand.get()
        const stray = (name: string, index?: string) => ({
          apiVersion: "v1",
          kind: "Pod",
          metadata: {
            name,
            namespace: "default",
            labels: spec?.template.metadata?.labels,
            ...(index === undefined ? {} : { annotations: { [Stand.indexKey]: index } })
          },
          spec: { containers: [{ name: "main", image: "work:1" }] }
        })
        yield* Stand.advance("1 second")
        yield* Stand.apply(stray("none"), stray("twice", "1"), stray("beyond", "7"))
        yield* Stand.rounds
        assert.deepStrictEqual(yield* activeIndexes, ["0", "1"])
        assert.notIncludeMembers((yield* Stand.activePods).map(Stand.nameOf), ["none", "twice", "beyond"])
        assert.isUndefined((yield* Stand.statusOf())?.failed)
      })
    )
  )

  it.effect("may be given more indexes and fewer", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(indexed({ completions: 3, parallelism: 3 }))
        yield* Stand.endIndex(2, 0)
        yield* Stand.rounds
        yield* Stand.change({ completions: 5, parallelism: 5 })
        assert.deepStrictEqual(yield* activeIndexes, ["0", "1", "3", "4"])
        yield* Stand.change({ completions: 2, parallelism: 2 })
        yield* Stand.rounds
        assert.deepStrictEqual(yield* activeIndexes, ["0", "1"])
        const status = yield* Stand.statusOf()
        assert.isUndefined(status?.completedIndexes)
        assert.isUndefined(status?.succeeded)
      })
    )
  )
})

const failures = (pod: Pod | undefined) => pod?.metadata.annotations?.["batch.kubernetes.io/job-index-failure-count"]

describe("with a limit per index", () => {
  it.effect("each index fails for itself, and the others go on", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(indexed({ completions: 3, parallelism: 3, backoffLimitPerIndex: 1 }))
        assert.deepStrictEqual((yield* Stand.pods).map(failures), ["0", "0", "0"])
        yield* Stand.endIndex(0, 1)
        yield* Stand.rounds
        // The failed pod is kept for what is written on it, until another takes that over.
        const failed = (yield* Stand.pods).find(({ status }) => status?.phase === "Failed")
        assert.isTrue(failed !== undefined && Stand.isHeld(failed))
        assert.deepInclude(yield* Stand.statusOf(), { failedIndexes: "" })
        yield* Stand.advance("8 seconds")
        const again = (yield* Stand.activePods).find((pod) => Stand.indexOf(pod) === "0")
        assert.strictEqual(failures(again), "1")
        yield* Stand.rounds
        assert.deepStrictEqual((yield* Stand.pods).filter((pod) => pod.status?.phase === "Failed").map(Stand.isHeld), [
          false
        ])
        yield* Stand.endIndex(0, 1)
        yield* Stand.rounds
        assert.deepInclude(yield* Stand.statusOf(), { failedIndexes: "0", failed: 2, active: 2 })
        assert.deepStrictEqual(yield* Stand.conditions, [])
        yield* Stand.endIndex(1, 0)
        yield* Stand.endIndex(2, 0)
        yield* Stand.rounds
        assert.deepStrictEqual(yield* Stand.conditions, ["FailureTarget", "Failed"])
        assert.deepInclude(yield* Stand.statusOf(), {
          failedIndexes: "0",
          completedIndexes: "1,2",
          succeeded: 2,
          failed: 2
        })
        assert.deepStrictEqual(yield* Stand.news, ["Warning FailedIndexes Job has failed indexes"])
      })
    )
  )

  it.effect("each index waits for itself", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(indexed({ completions: 2, parallelism: 2, backoffLimitPerIndex: 5 }))
        yield* Stand.endIndex(0, 1)
        yield* Stand.advance("6 seconds")
        yield* Stand.endIndex(1, 1)
        yield* Stand.advance("4 seconds")
        assert.deepStrictEqual(yield* activeIndexes, ["0"])
        yield* Stand.advance("6 seconds")
        assert.deepStrictEqual(yield* activeIndexes, ["0", "1"])
        yield* Stand.endIndex(0, 1)
        yield* Stand.advance("19 seconds")
        assert.deepStrictEqual(yield* activeIndexes, ["1"])
        yield* Stand.advance("1 second")
        assert.deepStrictEqual(yield* activeIndexes, ["0", "1"])
      })
    )
  )

  it.effect("fails at once when more indexes have failed than may", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(indexed({ backoffLimitPerIndex: 0, maxFailedIndexes: 1 }))
        yield* Stand.endIndex(0, 1)
        yield* Stand.endIndex(2, 1)
        yield* Stand.rounds
        assert.deepStrictEqual(yield* Stand.conditions, ["FailureTarget", "Failed"])
        assert.deepInclude(yield* Stand.statusOf(), { failedIndexes: "0,2", failed: 4 })
        assert.deepStrictEqual(yield* Stand.news, [
          "Warning MaxFailedIndexesExceeded Job has exceeded the specified maximal number of failed indexes"
        ])
      })
    )
  )

  it.effect("a rule may fail an index at once, and leave failures out of account", () =>
    Stand.world(
      Effect.gen(function* () {
        const podFailurePolicy = {
          rules: [
            { action: "FailIndex", onExitCodes: { operator: "In", values: [42] } },
            { action: "Ignore", onExitCodes: { operator: "In", values: [7] } }
          ]
        }
        yield* Stand.apply(indexed({ completions: 2, parallelism: 2, backoffLimitPerIndex: 3, podFailurePolicy }))
        yield* Stand.endIndex(0, 42)
        yield* Stand.endIndex(1, 7)
        yield* Stand.advance("12 seconds")
        assert.deepInclude(yield* Stand.statusOf(), { failedIndexes: "0", failed: 1 })
        const [pod] = yield* Stand.activePods
        assert.strictEqual(failures(pod), "0")
        assert.strictEqual(pod?.metadata.annotations?.["batch.kubernetes.io/job-index-ignored-failure-count"], "1")
      })
    )
  )
})

describe("with a policy of success", () => {
  it.effect("is complete when the rule is met, and the others are taken away uncounted", () =>
    Stand.world(
      Effect.gen(function* () {
        const successPolicy = { rules: [{ succeededIndexes: "0" }, { succeededCount: 2 }] }
        yield* Stand.apply(indexed({ successPolicy }))
        yield* Stand.bindAll
        yield* Stand.endIndex(1, 0)
        yield* Stand.rounds
        assert.deepStrictEqual(yield* Stand.conditions, [])
        yield* Stand.endIndex(3, 0)
        yield* Stand.rounds
        assert.deepStrictEqual(yield* Stand.conditions, ["SuccessCriteriaMet"])
        const met = (yield* Stand.statusOf())?.conditions?.[0]
        assert.strictEqual(`${met?.reason} ${met?.message}`, "SuccessPolicy Matched rules at index 1")
        const leaving = (yield* Stand.pods).filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
        assert.lengthOf(leaving, 2)
        for (const pod of leaving) yield* Stand.takeAway(Stand.nameOf(pod))
        yield* Stand.rounds
        assert.deepStrictEqual(yield* Stand.conditions, ["SuccessCriteriaMet", "Complete"])
        const status = yield* Stand.statusOf()
        assert.deepInclude(status, { completedIndexes: "1,3", succeeded: 2, terminating: 0 })
        assert.isUndefined(status?.failed)
        assert.deepStrictEqual(yield* Stand.news, ["Normal Completed Job completed"])
      })
    )
  )

  it.effect("some of certain indexes may be enough", () =>
    Stand.world(
      Effect.gen(function* () {
        const successPolicy = { rules: [{ succeededIndexes: "1-3", succeededCount: 2 }] }
        yield* Stand.apply(indexed({ successPolicy }))
        yield* Stand.endIndex(0, 0)
        yield* Stand.endIndex(2, 0)
        yield* Stand.rounds
        assert.deepStrictEqual(yield* Stand.conditions, [])
        yield* Stand.endIndex(3, 0)
        yield* Stand.rounds
        assert.deepStrictEqual(yield* Stand.conditions, ["SuccessCriteriaMet", "Complete"])
      })
    )
  )
})
