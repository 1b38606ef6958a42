/** Indexed Jobs: completion indexes, backoffLimitPerIndex, and success policies. Source: pkg/controller/job; KEP-3850, KEP-3998. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Pod } from "../../../src/kube/resources.ts"
import * as Harness from "./harness.ts"

const indexed = (spec: object = {}, metadata: object = {}) =>
  Harness.job({ completionMode: "Indexed", completions: 4, parallelism: 4, ...spec }, metadata)

const activeIndexes = Effect.map(Harness.activePods, (all) => all.map((pod) => Harness.indexOf(pod) ?? "").toSorted())

describe("an indexed Job", () => {
  it.effect("gives each pod its index as label, annotation, variable and hostname", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        const containers = [
          { name: "main", image: "work:1" },
          { name: "own", image: "work:1", env: [{ name: "JOB_COMPLETION_INDEX", value: "mine" }] }
        ]
        const initContainers = [{ name: "init", image: "work:1" }]
        yield* Harness.apply(
          indexed({
            template: { spec: { restartPolicy: "Never", containers, initContainers } },
            completions: 2,
            parallelism: 2
          })
        )
        const pod = (yield* Harness.pods).find((one) => Harness.indexOf(one) === "1")
        assert.strictEqual(pod?.metadata.generateName, "work-1-")
        assert.strictEqual(pod?.spec?.hostname, "work-1")
        assert.strictEqual(pod?.metadata.labels?.[Harness.indexKey], "1")
        const variable = {
          name: "JOB_COMPLETION_INDEX",
          valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: `metadata.labels['${Harness.indexKey}']` } }
        }
        assert.deepStrictEqual(
          [...(pod?.spec?.initContainers ?? []), ...(pod?.spec?.containers ?? [])].map(({ env }) => env),
          [[variable], [variable], [{ name: "JOB_COMPLETION_INDEX", value: "mine" }]]
        )
        assert.isUndefined(pod?.metadata.annotations?.["batch.kubernetes.io/job-index-failure-count"])
      })
    )
  )

  it.effect("shortens a long name to leave room for the generated suffix", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        const name = "a".repeat(60)
        yield* Harness.apply(indexed({ completions: 11, parallelism: 11 }, { name }))
        const prefixes = (yield* Harness.pods).map(({ metadata }) => metadata.generateName ?? "")
        assert.include(prefixes, `${"a".repeat(55)}-0-`)
        assert.include(prefixes, `${"a".repeat(54)}-10-`)
      })
    )
  )

  it.effect("is complete when each index has succeeded, and lists completedIndexes", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(indexed({ completions: 8, parallelism: 8 }))
        for (const index of [0, 3, 4, 6]) yield* Harness.endIndex(index, 0)
        yield* Harness.rounds
        assert.deepInclude(yield* Harness.statusOf(), { completedIndexes: "0,3,4,6", succeeded: 4, active: 4 })
        yield* Harness.endIndex(2, 0)
        yield* Harness.rounds
        assert.deepInclude(yield* Harness.statusOf(), { completedIndexes: "0,2-4,6", succeeded: 5 })
        for (const index of [1, 5, 7]) yield* Harness.endIndex(index, 0)
        yield* Harness.rounds
        const status = yield* Harness.statusOf()
        assert.deepInclude(status, { completedIndexes: "0-7", succeeded: 8 })
        assert.isUndefined(status?.failedIndexes)
        assert.deepStrictEqual(yield* Harness.conditions, ["SuccessCriteriaMet", "Complete"])
      })
    )
  )

  it.effect("creates pods for the lowest indexes first, and replaces the failed pod of an index", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(indexed({ parallelism: 2 }))
        assert.deepStrictEqual(yield* activeIndexes, ["0", "1"])
        yield* Harness.endIndex(1, 0)
        yield* Harness.rounds
        assert.deepStrictEqual(yield* activeIndexes, ["0", "2"])
        yield* Harness.endIndex(0, 1)
        yield* Harness.advance("12 seconds")
        assert.deepStrictEqual(yield* activeIndexes, ["0", "2"])
        assert.deepInclude(yield* Harness.statusOf(), { failed: 1, completedIndexes: "1" })
      })
    )
  )

  it.effect("deletes pods with duplicate or invalid indexes", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(indexed({ completions: 2, parallelism: 2 }))
        const { spec } = yield* Harness.get()
        const stray = (name: string, index?: string) => ({
          apiVersion: "v1",
          kind: "Pod",
          metadata: {
            name,
            namespace: "default",
            labels: spec?.template.metadata?.labels,
            ...(index === undefined ? {} : { annotations: { [Harness.indexKey]: index } })
          },
          spec: { containers: [{ name: "main", image: "work:1" }] }
        })
        yield* Harness.advance("1 second")
        yield* Harness.apply(stray("none"), stray("twice", "1"), stray("beyond", "7"))
        yield* Harness.rounds
        assert.deepStrictEqual(yield* activeIndexes, ["0", "1"])
        assert.notIncludeMembers((yield* Harness.activePods).map(Harness.nameOf), ["none", "twice", "beyond"])
        assert.isUndefined((yield* Harness.statusOf())?.failed)
      })
    )
  )

  it.effect("can be scaled to more and fewer indexes", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(indexed({ completions: 3, parallelism: 3 }))
        yield* Harness.endIndex(2, 0)
        yield* Harness.rounds
        yield* Harness.change({ completions: 5, parallelism: 5 })
        assert.deepStrictEqual(yield* activeIndexes, ["0", "1", "3", "4"])
        yield* Harness.change({ completions: 2, parallelism: 2 })
        yield* Harness.rounds
        assert.deepStrictEqual(yield* activeIndexes, ["0", "1"])
        const status = yield* Harness.statusOf()
        assert.isUndefined(status?.completedIndexes)
        assert.isUndefined(status?.succeeded)
      })
    )
  )
})

const failures = (pod: Pod | undefined) => pod?.metadata.annotations?.["batch.kubernetes.io/job-index-failure-count"]

describe("an indexed Job with backoffLimitPerIndex", () => {
  it.effect("lets one index fail while the others continue", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(indexed({ completions: 3, parallelism: 3, backoffLimitPerIndex: 1 }))
        assert.deepStrictEqual((yield* Harness.pods).map(failures), ["0", "0", "0"])
        yield* Harness.endIndex(0, 1)
        yield* Harness.rounds
        // The failed pod is kept for its failure count, until another pod continues the count.
        const failed = (yield* Harness.pods).find(({ status }) => status?.phase === "Failed")
        assert.isTrue(failed !== undefined && Harness.isTracked(failed))
        assert.deepInclude(yield* Harness.statusOf(), { failedIndexes: "" })
        yield* Harness.advance("8 seconds")
        const again = (yield* Harness.activePods).find((pod) => Harness.indexOf(pod) === "0")
        assert.strictEqual(failures(again), "1")
        yield* Harness.rounds
        assert.deepStrictEqual(
          (yield* Harness.pods).filter((pod) => pod.status?.phase === "Failed").map(Harness.isTracked),
          [false]
        )
        yield* Harness.endIndex(0, 1)
        yield* Harness.rounds
        assert.deepInclude(yield* Harness.statusOf(), { failedIndexes: "0", failed: 2, active: 2 })
        assert.deepStrictEqual(yield* Harness.conditions, [])
        yield* Harness.endIndex(1, 0)
        yield* Harness.endIndex(2, 0)
        yield* Harness.rounds
        assert.deepStrictEqual(yield* Harness.conditions, ["FailureTarget", "Failed"])
        assert.deepInclude(yield* Harness.statusOf(), {
          failedIndexes: "0",
          completedIndexes: "1,2",
          succeeded: 2,
          failed: 2
        })
        assert.deepStrictEqual(yield* Harness.jobEvents, ["Warning FailedIndexes Job has failed indexes"])
      })
    )
  )

  it.effect("has a backoff for each index", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(indexed({ completions: 2, parallelism: 2, backoffLimitPerIndex: 5 }))
        yield* Harness.endIndex(0, 1)
        yield* Harness.advance("6 seconds")
        yield* Harness.endIndex(1, 1)
        yield* Harness.advance("4 seconds")
        assert.deepStrictEqual(yield* activeIndexes, ["0"])
        yield* Harness.advance("6 seconds")
        assert.deepStrictEqual(yield* activeIndexes, ["0", "1"])
        yield* Harness.endIndex(0, 1)
        yield* Harness.advance("19 seconds")
        assert.deepStrictEqual(yield* activeIndexes, ["1"])
        yield* Harness.advance("1 second")
        assert.deepStrictEqual(yield* activeIndexes, ["0", "1"])
      })
    )
  )

  it.effect("fails at once when more than maxFailedIndexes have failed", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(indexed({ backoffLimitPerIndex: 0, maxFailedIndexes: 1 }))
        yield* Harness.endIndex(0, 1)
        yield* Harness.endIndex(2, 1)
        yield* Harness.rounds
        assert.deepStrictEqual(yield* Harness.conditions, ["FailureTarget", "Failed"])
        assert.deepInclude(yield* Harness.statusOf(), { failedIndexes: "0,2", failed: 4 })
        assert.deepStrictEqual(yield* Harness.jobEvents, [
          "Warning MaxFailedIndexesExceeded Job has exceeded the specified maximal number of failed indexes"
        ])
      })
    )
  )

  it.effect("fails an index at once by a FailIndex rule, and does not count failures that a rule ignores", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        const podFailurePolicy = {
          rules: [
            { action: "FailIndex", onExitCodes: { operator: "In", values: [42] } },
            { action: "Ignore", onExitCodes: { operator: "In", values: [7] } }
          ]
        }
        yield* Harness.apply(indexed({ completions: 2, parallelism: 2, backoffLimitPerIndex: 3, podFailurePolicy }))
        yield* Harness.endIndex(0, 42)
        yield* Harness.endIndex(1, 7)
        yield* Harness.advance("12 seconds")
        assert.deepInclude(yield* Harness.statusOf(), { failedIndexes: "0", failed: 1 })
        const [pod] = yield* Harness.activePods
        assert.strictEqual(failures(pod), "0")
        assert.strictEqual(pod?.metadata.annotations?.["batch.kubernetes.io/job-index-ignored-failure-count"], "1")
      })
    )
  )
})

describe("an indexed Job with a success policy", () => {
  it.effect("is complete when a rule is met, and deletes the other pods without counting them", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        const successPolicy = { rules: [{ succeededIndexes: "0" }, { succeededCount: 2 }] }
        yield* Harness.apply(indexed({ successPolicy }))
        yield* Harness.bindAll
        yield* Harness.endIndex(1, 0)
        yield* Harness.rounds
        assert.deepStrictEqual(yield* Harness.conditions, [])
        yield* Harness.endIndex(3, 0)
        yield* Harness.rounds
        assert.deepStrictEqual(yield* Harness.conditions, ["SuccessCriteriaMet"])
        const met = (yield* Harness.statusOf())?.conditions?.[0]
        assert.strictEqual(`${met?.reason} ${met?.message}`, "SuccessPolicy Matched rules at index 1")
        const terminating = (yield* Harness.pods).filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
        assert.lengthOf(terminating, 2)
        for (const pod of terminating) yield* Harness.deleteNow(Harness.nameOf(pod))
        yield* Harness.rounds
        assert.deepStrictEqual(yield* Harness.conditions, ["SuccessCriteriaMet", "Complete"])
        const status = yield* Harness.statusOf()
        assert.deepInclude(status, { completedIndexes: "1,3", succeeded: 2, terminating: 0 })
        assert.isUndefined(status?.failed)
        assert.deepStrictEqual(yield* Harness.jobEvents, ["Normal Completed Job completed"])
      })
    )
  )

  it.effect("can require a number of given indexes", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        const successPolicy = { rules: [{ succeededIndexes: "1-3", succeededCount: 2 }] }
        yield* Harness.apply(indexed({ successPolicy }))
        yield* Harness.endIndex(0, 0)
        yield* Harness.endIndex(2, 0)
        yield* Harness.rounds
        assert.deepStrictEqual(yield* Harness.conditions, [])
        yield* Harness.endIndex(3, 0)
        yield* Harness.rounds
        assert.deepStrictEqual(yield* Harness.conditions, ["SuccessCriteriaMet", "Complete"])
      })
    )
  )
})
