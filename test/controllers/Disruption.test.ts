/** The disruption controller on the embedded API server: the status of budgets, and events. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { Pod, PodDisruptionBudget, ReplicaSet, StatefulSet } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { logged } from "../support/logged.ts"
import * as Harness from "./disruption/harness.ts"

const { advance, budget, controlledBy, create, patch, pending, running, summary, workload, scenario } = Harness

const version = (name: string) =>
  Effect.map(Harness.get(PodDisruptionBudget, name), ({ metadata }) => metadata.resourceVersion)

describe("a budget", () => {
  it.effect("counts its pods, the healthy ones, and the allowed disruptions", () =>
    scenario(
      Effect.gen(function* () {
        yield* running(["a", "b", "c"])
        yield* pending("d")
        yield* running(["other"], { labels: { app: "other" } })
        yield* budget({ minAvailable: 2 })
        assert.deepStrictEqual(yield* Harness.statusOf(), {
          conditions: [
            {
              type: "DisruptionAllowed",
              status: "True",
              observedGeneration: 1,
              lastTransitionTime: "1970-01-01T00:00:00Z",
              reason: "SufficientPods",
              message: ""
            }
          ],
          observedGeneration: 1,
          currentHealthy: 3,
          desiredHealthy: 2,
          expectedPods: 4,
          disruptionsAllowed: 1
        })
        yield* advance("10 seconds")
        yield* Harness.becomes("a", false)
        assert.strictEqual(yield* summary(), "healthy 2 of 2, expected 4, allowed 0")
        const [condition] = (yield* Harness.statusOf())?.conditions ?? []
        assert.deepInclude(condition, {
          status: "False",
          reason: "InsufficientPods",
          message: "",
          lastTransitionTime: "1970-01-01T00:00:10Z"
        })
        yield* Harness.remove(Pod, "b", {})
        assert.strictEqual(yield* summary(), "healthy 1 of 2, expected 4, allowed 0")
      })
    )
  )

  it.effect("is synced when it changes, and reports the observed generation", () =>
    scenario(
      Effect.gen(function* () {
        yield* running(["a", "b", "c"])
        yield* budget({ minAvailable: 3 })
        assert.strictEqual(yield* summary(), "healthy 3 of 3, expected 3, allowed 0")
        yield* patch(PodDisruptionBudget, "web", { spec: { minAvailable: 1 } })
        assert.strictEqual(yield* summary(), "healthy 3 of 1, expected 3, allowed 2")
        yield* patch(PodDisruptionBudget, "web", { spec: { selector: { matchLabels: { app: "other" } } } })
        assert.strictEqual(yield* summary(), "healthy 0 of 1, expected 0, allowed 0")
        assert.strictEqual((yield* Harness.statusOf())?.observedGeneration, 3)
      })
    )
  )

  it.effect("writes nothing when nothing has changed", () =>
    scenario(
      Effect.gen(function* () {
        yield* running(["a", "b"])
        yield* budget({ minAvailable: 1 })
        const before = yield* version("web")
        yield* patch(Pod, "a", { metadata: { annotations: { note: "x" } } })
        yield* advance("1 hour")
        assert.strictEqual(yield* version("web"), before)
      })
    )
  )

  it.effect("selects every pod of its namespace when its selector is empty, and none without one", () =>
    scenario(
      Effect.gen(function* () {
        yield* running(["a", "b"])
        yield* running(["bare"], { labels: {} })
        yield* budget({ minAvailable: 1, selector: {} }, "all")
        yield* budget({ minAvailable: 1, selector: null }, "none")
        const matchExpressions = [{ key: "app", operator: "DoesNotExist" }]
        yield* budget({ minAvailable: 1, selector: { matchExpressions } }, "bare")
        assert.strictEqual(yield* summary("all"), "healthy 3 of 1, expected 3, allowed 2")
        assert.strictEqual(yield* summary("none"), "healthy 0 of 1, expected 0, allowed 0")
        assert.strictEqual(yield* summary("bare"), "healthy 1 of 1, expected 1, allowed 0")
        assert.include(yield* Harness.events, "none: Normal NoPods No matching pods found")
      })
    )
  )

  it.effect("follows a pod whose labels change, before and after", () =>
    scenario(
      Effect.gen(function* () {
        yield* running(["a", "b"])
        yield* budget({ minAvailable: 0 })
        yield* budget({ minAvailable: 0, selector: { matchLabels: { app: "other" } } }, "other")
        yield* patch(Pod, "a", { metadata: { labels: { app: "other" } } })
        assert.strictEqual(yield* summary(), "healthy 1 of 0, expected 1, allowed 1")
        assert.strictEqual(yield* summary("other"), "healthy 1 of 0, expected 1, allowed 1")
      })
    )
  )
})

const noted = (pods: Readonly<Record<string, string>>) =>
  patch(PodDisruptionBudget, "web", { status: { disruptedPods: pods } }, "status")

describe("an evicted pod", () => {
  it.effect("is unhealthy until it is deleted, or for two minutes; then an event is recorded", () =>
    scenario(
      Effect.gen(function* () {
        yield* running(["a", "b", "c"])
        yield* budget({ minAvailable: 1 })
        yield* noted({ a: "1970-01-01T00:00:00Z", b: "1970-01-01T00:00:00Z", gone: "1970-01-01T00:00:00Z" })
        assert.strictEqual(yield* summary(), "healthy 1 of 1, expected 3, allowed 0")
        assert.deepStrictEqual(Object.keys((yield* Harness.statusOf())?.disruptedPods ?? {}), ["a", "b"])
        yield* Harness.remove(Pod, "a", {})
        assert.deepStrictEqual(Object.keys((yield* Harness.statusOf())?.disruptedPods ?? {}), ["b"])
        yield* advance("119 seconds")
        assert.strictEqual(yield* summary(), "healthy 1 of 1, expected 3, allowed 0")
        assert.deepStrictEqual(yield* Harness.events, [])
        yield* advance("1 second")
        assert.strictEqual(yield* summary(), "healthy 2 of 1, expected 3, allowed 1")
        assert.notProperty(yield* Harness.statusOf(), "disruptedPods")
        assert.deepStrictEqual(yield* Harness.events, [
          "b: Warning NotDeleted Pod was expected by PDB default/web to be deleted but it wasn't"
        ])
      })
    )
  )

  it.effect(
    "has its DisruptionTarget condition reset after two minutes without a deletion, unless the kubelet set it",
    () =>
      scenario(
        Effect.gen(function* () {
          yield* running(["a", "b", "c"])
          const told = (name: string, reason: string) =>
            Effect.gen(function* () {
              const { status } = yield* Harness.get(Pod, name)
              const target = {
                type: "DisruptionTarget",
                status: "True",
                reason,
                message: "because",
                lastTransitionTime: "1970-01-01T00:00:00Z"
              }
              yield* patch(Pod, name, { status: { conditions: [...(status?.conditions ?? []), target] } }, "status")
            })
          yield* told("a", "PreemptionByScheduler")
          yield* told("b", "TerminationByKubelet")
          const target = (name: string) =>
            Effect.map(Harness.get(Pod, name), ({ status }) =>
              status?.conditions?.find(({ type }) => type === "DisruptionTarget")
            )
          yield* advance("119 seconds")
          assert.strictEqual((yield* target("a"))?.status, "True")
          yield* advance("1 second")
          assert.deepStrictEqual(yield* target("a"), {
            type: "DisruptionTarget",
            status: "False",
            lastProbeTime: null,
            lastTransitionTime: "1970-01-01T00:02:00Z"
          } as never)
          yield* advance("1 hour")
          assert.strictEqual((yield* target("b"))?.status, "True")
          assert.strictEqual((yield* Harness.get(Pod, "a")).status?.conditions?.length, 2)
        })
      )
  )
})

describe("users", () => {
  it.effect("get an event for a pod that several budgets select, and each of them counts it", () =>
    scenario(
      Effect.gen(function* () {
        yield* budget({ minAvailable: 0 }, "second")
        yield* budget({ minAvailable: 1 }, "first")
        yield* running(["a"])
        assert.strictEqual(yield* summary("first"), "healthy 1 of 1, expected 1, allowed 0")
        assert.strictEqual(yield* summary("second"), "healthy 1 of 0, expected 1, allowed 1")
        assert.include(
          yield* Harness.events,
          'a: Warning MultiplePodDisruptionBudgets Pod "default"/"a" matches multiple PodDisruptionBudgets.  Chose "first" arbitrarily.'
        )
      })
    )
  )

  it.effect("get no failure after a conflict with another writer", () =>
    scenario(
      Effect.gen(function* () {
        const seen: Array<string> = []
        yield* (yield* ApiServer).setFaults([
          {
            match: ({ body, context, path }) => {
              if (context.verb !== "update" || !path.endsWith("/poddisruptionbudgets/web/status")) return false
              seen.push(JSON.stringify(body))
              return seen.length <= 2
            },
            fault: { _tag: "Conflict" }
          }
        ])
        yield* running(["a", "b"])
        yield* budget({ minAvailable: 1 })
        yield* advance("1 second")
        assert.strictEqual(yield* Harness.condition(), "True SufficientPods")
        assert.lengthOf(seen, 3)
        assert.notInclude(seen.join(), "SyncFailed")
      })
    )
  )
})

describe("operators", () => {
  it.effect("see metrics of status writes by reason, and of reset conditions", () => {
    const { lines, logger } = logged()
    return scenario(
      Effect.gen(function* () {
        yield* budget({ maxUnavailable: 1 })
        const set = yield* create(ReplicaSet, "set", workload(1))
        yield* running(["a"], controlledBy(set, ReplicaSet))
        yield* running(["b"], controlledBy({ metadata: { name: "gone", uid: "u" } }, StatefulSet))
        const target = { type: "DisruptionTarget", status: "True", lastTransitionTime: "1970-01-01T00:00:00Z" }
        yield* patch(Pod, "a", { status: { conditions: [target] } }, "status")
        yield* advance("2 minutes")
        const counted = (yield* Metric.snapshot).flatMap(({ attributes, id, state }) =>
          id.startsWith("disruption_controller_")
            ? [[id, ...Object.values(attributes ?? {}), (state as { count?: number }).count].join(" ")]
            : []
        )
        assert.sameMembers(counted, [
          "disruption_controller_status_writes_total InsufficientPods 2",
          "disruption_controller_status_writes_total SufficientPods 1",
          "disruption_controller_status_writes_total SyncFailed 1",
          "disruption_controller_stale_disruptions_total 1"
        ])
        assert.deepStrictEqual(lines(/stale/), ["disruption: Reset the stale DisruptionTarget condition of a pod"])
      })
    ).pipe(Effect.provideService(Metric.MetricRegistry, new Map()), Effect.provide(logger))
  })
})
