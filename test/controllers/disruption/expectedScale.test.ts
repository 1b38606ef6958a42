/** The expected pods of a budget: sizes of its pods' controllers, built-in ones and any with a scale subresource. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Controllers from "../../../src/controllers/disruption/expectedScale.ts"
import * as Key from "../../../src/kube/Key.ts"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import {
  Deployment,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  ReplicationController,
  StatefulSet
} from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import { definitionOf } from "../../support/definitions.ts"
import { checkProperty, oneOf, type ValueOf } from "../../support/property.ts"
import * as Harness from "./harness.ts"

const { advance, budget, controlledBy, create, patch, running, summary, workload, scenario } = Harness

describe("the sizes of the pods' controllers", () => {
  const controllers = Effect.gen(function* () {
    const rc = yield* create(ReplicationController, "rc", { ...workload(2), selector: Harness.labels })
    const set = yield* create(ReplicaSet, "set", workload(3))
    const deployment = yield* create(Deployment, "deployment", workload(5))
    const owned = yield* create(ReplicaSet, "owned", workload(4), controlledBy(deployment, Deployment))
    const stateful = yield* create(StatefulSet, "stateful", workload(7))
    return { rc, set, owned, stateful }
  })

  it.effect("count each controller once: ReplicationControllers, ReplicaSets, their Deployments, StatefulSets", () =>
    scenario(
      Effect.gen(function* () {
        const { owned, rc, set, stateful } = yield* controllers
        yield* running(["a", "b"], controlledBy(set, ReplicaSet))
        yield* budget({ maxUnavailable: 1 })
        assert.strictEqual(yield* summary(), "healthy 2 of 2, expected 3, allowed 0")
        yield* running(["c"], controlledBy(owned, ReplicaSet))
        assert.strictEqual(yield* summary(), "healthy 3 of 7, expected 8, allowed 0")
        yield* running(["d"], controlledBy(rc, ReplicationController))
        yield* running(["e"], controlledBy(stateful, StatefulSet))
        assert.strictEqual(yield* summary(), "healthy 5 of 16, expected 17, allowed 0")
        yield* patch(PodDisruptionBudget, "web", { spec: { maxUnavailable: "80%" } })
        // A percentage is rounded up: 14 of 17 may be missing.
        assert.strictEqual(yield* summary(), "healthy 5 of 3, expected 17, allowed 2")
        yield* patch(PodDisruptionBudget, "web", { spec: { maxUnavailable: null, minAvailable: "20%" } })
        assert.strictEqual(yield* summary(), "healthy 5 of 4, expected 17, allowed 1")
      })
    )
  )

  it.effect("are updated when they change, without a change of any pod", () =>
    scenario(
      Effect.gen(function* () {
        const { owned, set } = yield* controllers
        yield* running(["a"], controlledBy(set, ReplicaSet))
        yield* running(["b"], controlledBy(owned, ReplicaSet))
        yield* budget({ maxUnavailable: 0 })
        assert.strictEqual(yield* summary(), "healthy 2 of 8, expected 8, allowed 0")
        yield* patch(ReplicaSet, "set", { spec: { replicas: 1 } })
        assert.strictEqual(yield* summary(), "healthy 2 of 6, expected 6, allowed 0")
        yield* patch(Deployment, "deployment", { spec: { replicas: 1 } })
        assert.strictEqual(yield* summary(), "healthy 2 of 2, expected 2, allowed 0")
      })
    )
  )

  it.effect("do not exist for unmanaged pods, with an event", () =>
    scenario(
      Effect.gen(function* () {
        const { set } = yield* controllers
        yield* running(["a", "b"], controlledBy(set, ReplicaSet))
        yield* running(["bare"])
        const matchExpressions = [
          { key: "app", operator: "In", values: ["web", "x"] },
          { key: "tier", operator: "DoesNotExist" }
        ]
        yield* budget({ maxUnavailable: "50%", selector: { matchLabels: Harness.labels, matchExpressions } })
        assert.strictEqual(yield* summary(), "healthy 3 of 1, expected 3, allowed 2")
        assert.deepStrictEqual(yield* Harness.events, [
          'web: Warning UnmanagedPods Pods selected by this PodDisruptionBudget (selector: &LabelSelector{MatchLabels:map[string]string{app: web,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:app,Operator:In,Values:[web x],},LabelSelectorRequirement{Key:tier,Operator:DoesNotExist,Values:[],},},}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.'
        ])
        // A number needs no sizes.
        yield* budget({ minAvailable: 1 }, "number")
        assert.strictEqual(yield* summary("number"), "healthy 3 of 1, expected 3, allowed 2")
        assert.lengthOf(yield* Harness.events, 1)
      })
    )
  )
})

const Game = Resource.make()({ group: "example.test", version: "v1", kind: "Game", plural: "games" })

const scale = { scale: { specReplicasPath: ".spec.players", statusReplicasPath: ".status.players" } }

describe("controllers of other kinds", () => {
  it.effect("are read through their scale subresource", () =>
    scenario(
      Effect.gen(function* () {
        const chess = yield* create(Game, "chess", { players: 4 })
        yield* running(["a", "b", "c", "d"], controlledBy(chess, Game))
        yield* budget({ maxUnavailable: 2 })
        assert.strictEqual(yield* summary(), "healthy 4 of 2, expected 4, allowed 2")
        assert.deepStrictEqual(yield* Harness.events, [])
      }),
      { crds: [definitionOf(Game, { subresources: scale })] }
    )
  )

  it.effect("allow no disruption without a scale subresource, with an event", () =>
    scenario(
      Effect.gen(function* () {
        const chess = yield* create(Game, "chess", { players: 4 })
        yield* running(["a", "b"], controlledBy(chess, Game))
        yield* budget({ maxUnavailable: 2 })
        const why = "games.example.test does not implement the scale subresource"
        assert.strictEqual(yield* Harness.condition(), `False SyncFailed ${why}`)
        assert.strictEqual(yield* summary(), "healthy 0 of 0, expected 0, allowed 0")
        assert.deepStrictEqual(yield* Harness.events, [
          `web: Warning CalculateExpectedPodCountFailed Failed to calculate the number of expected pods: ${why}`
        ])
      }),
      { crds: [definitionOf(Game)] }
    )
  )

  it.effect("that are unknown, deleted or recreated allow no disruption, until they exist", () =>
    scenario(
      Effect.gen(function* () {
        const set = yield* create(ReplicaSet, "set", workload(2))
        const owner = { metadata: { name: "chess", uid: "u" } }
        yield* running(["a"], controlledBy(set, ReplicaSet))
        yield* budget({ maxUnavailable: 1 })
        assert.strictEqual(yield* summary(), "healthy 1 of 1, expected 2, allowed 0")
        yield* running(["b"], controlledBy(owner, Game))
        assert.strictEqual(
          yield* Harness.condition(),
          'False SyncFailed no matches for kind "Game" in version "example.test/v1"'
        )
        yield* Harness.remove(Pod, "b")
        assert.strictEqual(yield* Harness.condition(), "False InsufficientPods")
        const other = { metadata: { name: "set", uid: "another" } }
        yield* running(["c"], controlledBy(other, ReplicaSet))
        assert.strictEqual(yield* Harness.condition(), 'False SyncFailed found no controllers for pod "c"')
        yield* Harness.remove(Pod, "c")
        yield* running(["d"], controlledBy(set, ReplicaSet))
        assert.strictEqual(yield* Harness.condition(), "True SufficientPods")
      })
    )
  )

  it.effect("that could not be read are retried", () =>
    scenario(
      Effect.gen(function* () {
        const server = yield* ApiServer
        const chess = yield* create(Game, "chess", { players: 2 })
        yield* running(["a", "b"], controlledBy(chess, Game))
        yield* server.setFaults([
          { match: ({ path }) => path.endsWith("/scale"), fault: { _tag: "Status", code: 403, message: "not now" } }
        ])
        yield* budget({ maxUnavailable: 1 })
        assert.strictEqual(yield* Harness.condition(), "False SyncFailed not now")
        yield* server.setFaults([])
        yield* advance("1 minute")
        assert.strictEqual(yield* Harness.condition(), "True SufficientPods")
        assert.strictEqual(yield* summary(), "healthy 2 of 1, expected 2, allowed 1")
      }),
      { crds: [definitionOf(Game, { subresources: scale })] }
    )
  )
})

const cases = Arbitrary.all({
  kind: oneOf("ReplicationController", "ReplicaSet", "ReplicaSet", "ReplicaSet", "StatefulSet", "Deployment"),
  apiVersion: oneOf("v1", "apps/v1", "apps/v1", "apps/v1", "extensions/v1beta1", "example.test/v1"),
  uid: oneOf("same", "same", "same", "other"),
  isThere: oneOf(true, true, false),
  namespace: oneOf("ns", "ns", "ns", "elsewhere"),
  owner: oneOf("none", "Deployment", "Deployment", "Other"),
  ownerVersion: oneOf("apps/v1", "apps/v1", "extensions/v1beta1", "example.test/v1"),
  ownerUid: oneOf("same", "same", "other"),
  ownerIsThere: oneOf(true, true, false),
  replicas: oneOf(0, 3, "none")
})

type Case = ValueOf<typeof cases>

const store = (objects: ReadonlyArray<KubeObject>) =>
  ({ get: (key: Key.Key) => objects.find((one) => Key.of(one) === key) }) as never

const sizeOf = ({ replicas }: Case) => (replicas === "none" ? {} : { replicas })

/** One cached object of each kind, and a reference to one of them. */
const cachedIn = (given: Case) => {
  const { apiVersion, isThere, kind, namespace, owner, ownerIsThere, ownerUid, ownerVersion, uid } = given
  const object = (name: string, extra: object = {}) =>
    ({ metadata: { name, namespace: "ns", uid: `uid-${name}`, ...extra }, spec: sizeOf(given) }) as KubeObject
  const refersTo = (of: string, version: string, name: string, its: string) => ({
    apiVersion: version,
    kind: of,
    name,
    uid: its === "same" ? `uid-${name}` : "another",
    controller: true
  })
  const ownerReferences = owner === "none" ? [] : [refersTo(owner, ownerVersion, "web", ownerUid)]
  const stores = {
    replicationControllers: store(isThere ? [object("x")] : []),
    replicaSets: store(isThere ? [object("x", { ownerReferences })] : []),
    statefulSets: store(isThere ? [object("x")] : []),
    deployments: store(ownerIsThere ? [object("web"), object("x")] : [])
  }
  return Controllers.cached(stores, refersTo(kind, apiVersion, "x", uid), namespace)
}

const workloads = ["apps/v1", "extensions/v1beta1"]

/** The expected controller, by the rules of upstream's finders. */
const wanted = (given: Case): Controllers.Sized | undefined => {
  const { apiVersion, isThere, kind, namespace, owner, ownerIsThere, ownerUid, ownerVersion, uid } = given
  const replicas = given.replicas === "none" ? 1 : given.replicas
  if (!isThere || uid === "other" || namespace === "elsewhere") return undefined
  const own = { uid: "uid-x", replicas }
  if (kind === "ReplicationController") return apiVersion === "v1" ? own : undefined
  if (kind === "StatefulSet") return apiVersion === "apps/v1" ? own : undefined
  if (kind !== "ReplicaSet" || !workloads.includes(apiVersion)) return undefined
  if (owner !== "Deployment") return own
  const isKnown = ownerIsThere && ownerUid === "same" && workloads.includes(ownerVersion)
  return isKnown ? { uid: "uid-web", replicas } : undefined
}

describe("Controllers", () => {
  checkProperty(
    "the cache finds exactly the controllers that upstream's finders find",
    cases,
    (given) => JSON.stringify(cachedIn(given)) === JSON.stringify(wanted(given))
  )
})
