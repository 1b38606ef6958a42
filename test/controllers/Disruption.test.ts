/** What a budget says of its pods, when, and what users are told. Rows of part G.9. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Resource from "../../src/kube/Resource.ts"
import {
  Deployment,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  ReplicationController,
  StatefulSet
} from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/layers/apiserver/ApiServer.ts"
import * as Stand from "./disruption/stand.ts"

const { advance, budget, controlledBy, create, patch, pending, running, said, workload, world } = Stand

const version = (name: string) =>
  Effect.map(Stand.get(PodDisruptionBudget, name), ({ metadata }) => metadata.resourceVersion)

describe("a budget", () => {
  it.effect("counts its pods, those that are ready, and how many of them may go", () =>
    world(
      Effect.gen(function* () {
        yield* running(["a", "b", "c"])
        yield* pending("d")
        yield* running(["other"], { labels: { app: "other" } })
        yield* budget({ minAvailable: 2 })
        assert.deepStrictEqual(yield* Stand.statusOf(), {
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
        yield* Stand.becomes("a", false)
        assert.strictEqual(yield* said(), "healthy 2 of 2, expected 4, allowed 0")
        const [condition] = (yield* Stand.statusOf())?.conditions ?? []
        assert.deepInclude(condition, {
          status: "False",
          reason: "InsufficientPods",
          message: "",
          lastTransitionTime: "1970-01-01T00:00:10Z"
        })
        yield* Stand.remove(Pod, "b", {})
        assert.strictEqual(yield* said(), "healthy 1 of 2, expected 4, allowed 0")
      })
    )
  )

  it.effect("looks again when it changes, and says what it has looked at", () =>
    world(
      Effect.gen(function* () {
        yield* running(["a", "b", "c"])
        yield* budget({ minAvailable: 3 })
        assert.strictEqual(yield* said(), "healthy 3 of 3, expected 3, allowed 0")
        yield* patch(PodDisruptionBudget, "web", { spec: { minAvailable: 1 } })
        assert.strictEqual(yield* said(), "healthy 3 of 1, expected 3, allowed 2")
        yield* patch(PodDisruptionBudget, "web", { spec: { selector: { matchLabels: { app: "other" } } } })
        assert.strictEqual(yield* said(), "healthy 0 of 1, expected 0, allowed 0")
        assert.strictEqual((yield* Stand.statusOf())?.observedGeneration, 3)
      })
    )
  )

  it.effect("writes nothing when nothing has changed", () =>
    world(
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
    world(
      Effect.gen(function* () {
        yield* running(["a", "b"])
        yield* running(["bare"], { labels: {} })
        yield* budget({ minAvailable: 1, selector: {} }, "all")
        yield* budget({ minAvailable: 1, selector: null }, "none")
        const matchExpressions = [{ key: "app", operator: "DoesNotExist" }]
        yield* budget({ minAvailable: 1, selector: { matchExpressions } }, "bare")
        assert.strictEqual(yield* said("all"), "healthy 3 of 1, expected 3, allowed 2")
        assert.strictEqual(yield* said("none"), "healthy 0 of 1, expected 0, allowed 0")
        assert.strictEqual(yield* said("bare"), "healthy 1 of 1, expected 1, allowed 0")
        assert.include(yield* Stand.events, "none: Normal NoPods No matching pods found")
      })
    )
  )

  it.effect("follows a pod whose labels change, before and after", () =>
    world(
      Effect.gen(function* () {
        yield* running(["a", "b"])
        yield* budget({ minAvailable: 0 })
        yield* budget({ minAvailable: 0, selector: { matchLabels: { app: "other" } } }, "other")
        yield* patch(Pod, "a", { metadata: { labels: { app: "other" } } })
        assert.strictEqual(yield* said(), "healthy 1 of 0, expected 1, allowed 1")
        assert.strictEqual(yield* said("other"), "healthy 1 of 0, expected 1, allowed 1")
      })
    )
  )
})

describe("the size of what controls its pods", () => {
  const controllers = Effect.gen(function* () {
    const rc = yield* create(ReplicationController, "rc", { ...workload(2), selector: Stand.labels })
    const set = yield* create(ReplicaSet, "set", workload(3))
    const deployment = yield* create(Deployment, "deployment", workload(5))
    const owned = yield* create(ReplicaSet, "owned", workload(4), controlledBy(deployment, Deployment))
    const stateful = yield* create(StatefulSet, "stateful", workload(7))
    return { rc, set, owned, stateful }
  })

  it.effect(
    "counts each controller once: replication controllers, replica sets, their Deployments, stateful sets",
    () =>
      world(
        Effect.gen(function* () {
          const { owned, rc, set, stateful } = yield* controllers
          yield* running(["a", "b"], controlledBy(set, ReplicaSet))
          yield* budget({ maxUnavailable: 1 })
          assert.strictEqual(yield* said(), "healthy 2 of 2, expected 3, allowed 0")
          yield* running(["c"], controlledBy(owned, ReplicaSet))
          assert.strictEqual(yield* said(), "healthy 3 of 7, expected 8, allowed 0")
          yield* running(["d"], controlledBy(rc, ReplicationController))
          yield* running(["e"], controlledBy(stateful, StatefulSet))
          assert.strictEqual(yield* said(), "healthy 5 of 16, expected 17, allowed 0")
          yield* patch(PodDisruptionBudget, "web", { spec: { maxUnavailable: "80%" } })
          // A share is rounded up: 14 of 17 may be missing.
          assert.strictEqual(yield* said(), "healthy 5 of 3, expected 17, allowed 2")
          yield* patch(PodDisruptionBudget, "web", { spec: { maxUnavailable: null, minAvailable: "20%" } })
          assert.strictEqual(yield* said(), "healthy 5 of 4, expected 17, allowed 1")
        })
      )
  )

  it.effect("is followed when it changes, without a change of any pod", () =>
    world(
      Effect.gen(function* () {
        const { owned, set } = yield* controllers
        yield* running(["a"], controlledBy(set, ReplicaSet))
        yield* running(["b"], controlledBy(owned, ReplicaSet))
        yield* budget({ maxUnavailable: 0 })
        assert.strictEqual(yield* said(), "healthy 2 of 8, expected 8, allowed 0")
        yield* patch(ReplicaSet, "set", { spec: { replicas: 1 } })
        assert.strictEqual(yield* said(), "healthy 2 of 6, expected 6, allowed 0")
        yield* patch(Deployment, "deployment", { spec: { replicas: 1 } })
        assert.strictEqual(yield* said(), "healthy 2 of 2, expected 2, allowed 0")
      })
    )
  )

  it.effect("is nobody's for pods that nobody controls, which is told", () =>
    world(
      Effect.gen(function* () {
        const { set } = yield* controllers
        yield* running(["a", "b"], controlledBy(set, ReplicaSet))
        yield* running(["bare"])
        const matchExpressions = [
          { key: "app", operator: "In", values: ["web", "x"] },
          { key: "tier", operator: "DoesNotExist" }
        ]
        yield* budget({ maxUnavailable: "50%", selector: { matchLabels: Stand.labels, matchExpressions } })
        assert.strictEqual(yield* said(), "healthy 3 of 1, expected 3, allowed 2")
        assert.deepStrictEqual(yield* Stand.events, [
          'web: Warning UnmanagedPods Pods selected by this PodDisruptionBudget (selector: &LabelSelector{MatchLabels:map[string]string{app: web,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:app,Operator:In,Values:[web x],},LabelSelectorRequirement{Key:tier,Operator:DoesNotExist,Values:[],},},}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.'
        ])
        // A number asks nobody.
        yield* budget({ minAvailable: 1 }, "number")
        assert.strictEqual(yield* said("number"), "healthy 3 of 1, expected 3, allowed 2")
        assert.lengthOf(yield* Stand.events, 1)
      })
    )
  )
})

const game = { group: "example.test", version: "v1", kind: "Game", plural: "games" } as const
const Game = Resource.make()(game)

const definition = (subresources?: object) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "games.example.test" },
  spec: {
    group: "example.test",
    scope: "Namespaced",
    names: { kind: "Game", plural: "games" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        ...(subresources === undefined ? {} : { subresources })
      }
    ]
  }
})

const scale = { scale: { specReplicasPath: ".spec.players", statusReplicasPath: ".status.players" } }

describe("controllers of other kinds", () => {
  it.effect("are asked for their scale", () =>
    world(
      Effect.gen(function* () {
        const chess = yield* create(Game, "chess", { players: 4 })
        yield* running(["a", "b", "c", "d"], controlledBy(chess, Game))
        yield* budget({ maxUnavailable: 2 })
        assert.strictEqual(yield* said(), "healthy 4 of 2, expected 4, allowed 2")
        assert.deepStrictEqual(yield* Stand.events, [])
      }),
      { crds: [definition(scale)] }
    )
  )

  it.effect("allow nothing when they have no scale, and say so", () =>
    world(
      Effect.gen(function* () {
        const chess = yield* create(Game, "chess", { players: 4 })
        yield* running(["a", "b"], controlledBy(chess, Game))
        yield* budget({ maxUnavailable: 2 })
        const why = "games.example.test does not implement the scale subresource"
        assert.strictEqual(yield* Stand.condition(), `False SyncFailed ${why}`)
        assert.strictEqual(yield* said(), "healthy 0 of 0, expected 0, allowed 0")
        assert.deepStrictEqual(yield* Stand.events, [
          `web: Warning CalculateExpectedPodCountFailed Failed to calculate the number of expected pods: ${why}`
        ])
      }),
      { crds: [definition()] }
    )
  )

  it.effect(
    "of kinds that nobody serves, that are gone, or are others by now, allow nothing; until they are there",
    () =>
      world(
        Effect.gen(function* () {
          const set = yield* create(ReplicaSet, "set", workload(2))
          const owner = { metadata: { name: "chess", uid: "u" } }
          yield* running(["a"], controlledBy(set, ReplicaSet))
          yield* budget({ maxUnavailable: 1 })
          assert.strictEqual(yield* said(), "healthy 1 of 1, expected 2, allowed 0")
          yield* running(["b"], controlledBy(owner, Game))
          assert.strictEqual(
            yield* Stand.condition(),
            'False SyncFailed no matches for kind "Game" in version "example.test/v1"'
          )
          yield* Stand.remove(Pod, "b")
          assert.strictEqual(yield* Stand.condition(), "False InsufficientPods")
          const other = { metadata: { name: "set", uid: "another" } }
          yield* running(["c"], controlledBy(other, ReplicaSet))
          assert.strictEqual(yield* Stand.condition(), 'False SyncFailed found no controllers for pod "c"')
          yield* Stand.remove(Pod, "c")
          yield* running(["d"], controlledBy(set, ReplicaSet))
          assert.strictEqual(yield* Stand.condition(), "True SufficientPods")
        })
      )
  )

  it.effect("that could not be asked are asked again", () =>
    world(
      Effect.gen(function* () {
        const server = yield* ApiServer
        const chess = yield* create(Game, "chess", { players: 2 })
        yield* running(["a", "b"], controlledBy(chess, Game))
        yield* server.setFaults([
          { match: ({ path }) => path.endsWith("/scale"), fault: { _tag: "Status", code: 403, message: "not now" } }
        ])
        yield* budget({ maxUnavailable: 1 })
        assert.strictEqual(yield* Stand.condition(), "False SyncFailed not now")
        yield* server.setFaults([])
        yield* advance("1 minute")
        assert.strictEqual(yield* Stand.condition(), "True SufficientPods")
        assert.strictEqual(yield* said(), "healthy 2 of 1, expected 2, allowed 1")
      }),
      { crds: [definition(scale)] }
    )
  )
})

const noted = (pods: Readonly<Record<string, string>>) =>
  patch(PodDisruptionBudget, "web", { status: { disruptedPods: pods } }, "status")

describe("a pod that was let go", () => {
  it.effect("is not healthy until it is gone, or for two minutes; then it is told of", () =>
    world(
      Effect.gen(function* () {
        yield* running(["a", "b", "c"])
        yield* budget({ minAvailable: 1 })
        yield* noted({ a: "1970-01-01T00:00:00Z", b: "1970-01-01T00:00:00Z", gone: "1970-01-01T00:00:00Z" })
        assert.strictEqual(yield* said(), "healthy 1 of 1, expected 3, allowed 0")
        assert.deepStrictEqual(Object.keys((yield* Stand.statusOf())?.disruptedPods ?? {}), ["a", "b"])
        yield* Stand.remove(Pod, "a", {})
        assert.deepStrictEqual(Object.keys((yield* Stand.statusOf())?.disruptedPods ?? {}), ["b"])
        yield* advance("119 seconds")
        assert.strictEqual(yield* said(), "healthy 1 of 1, expected 3, allowed 0")
        assert.deepStrictEqual(yield* Stand.events, [])
        yield* advance("1 second")
        assert.strictEqual(yield* said(), "healthy 2 of 1, expected 3, allowed 1")
        assert.notProperty(yield* Stand.statusOf(), "disruptedPods")
        assert.deepStrictEqual(yield* Stand.events, [
          "b: Warning NotDeleted Pod was expected by PDB default/web to be deleted but it wasn't"
        ])
      })
    )
  )

  it.effect("is told to stay when it has not gone after two minutes, unless its kubelet said it", () =>
    world(
      Effect.gen(function* () {
        yield* running(["a", "b", "c"])
        const told = (name: string, reason: string) =>
          Effect.gen(function* () {
            const { status } = yield* Stand.get(Pod, name)
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
          Effect.map(Stand.get(Pod, name), ({ status }) =>
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
        assert.strictEqual((yield* Stand.get(Pod, "a")).status?.conditions?.length, 2)
      })
    )
  )
})

describe("users", () => {
  it.effect("are warned of a pod that several budgets select, and each of them counts it", () =>
    world(
      Effect.gen(function* () {
        yield* budget({ minAvailable: 0 }, "second")
        yield* budget({ minAvailable: 1 }, "first")
        yield* running(["a"])
        assert.strictEqual(yield* said("first"), "healthy 1 of 1, expected 1, allowed 0")
        assert.strictEqual(yield* said("second"), "healthy 1 of 0, expected 1, allowed 1")
        assert.include(
          yield* Stand.events,
          'a: Warning MultiplePodDisruptionBudgets Pod "default"/"a" matches multiple PodDisruptionBudgets.  Chose "first" arbitrarily.'
        )
      })
    )
  )

  it.effect("see no failure when somebody else was faster", () =>
    world(
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
        assert.strictEqual(yield* Stand.condition(), "True SufficientPods")
        assert.lengthOf(seen, 3)
        assert.notInclude(seen.join(), "SyncFailed")
      })
    )
  )
})
