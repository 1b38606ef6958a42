/** A scenario of disruption budgets: controllers of built-in and custom kinds, and a pod that is not deleted after its eviction. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Disruption from "../../src/controllers/Disruption.ts"
import type { KubeObject } from "../../src/kube/Meta.ts"
import * as Patch from "../../src/kube/Patch.ts"
import * as Resource from "../../src/kube/Resource.ts"
import {
  Deployment,
  Event,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  ReplicationController,
  StatefulSet
} from "../../src/kube/resources.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Recorder } from "../../src/layers/Recorder.ts"
import { definitionOf } from "../support/definitions.ts"
import * as Scenario from "./scenario.ts"

const namespace = "default"
const labels = { app: "web" }
const containers = [{ name: "main", image: "example.test/web:1" }]

const Game = Resource.make()({ group: "example.test", version: "v1", kind: "Game", plural: "games" })

const subresources = { scale: { specReplicasPath: ".spec.players", statusReplicasPath: ".status.players" } }

/** Controllers list before they watch, as on a server without streaming lists. */
const listing = { cache: { streamingList: "never" }, crds: [definitionOf(Game, { subresources })] } as const

const create = (resource: Resource.Any, name: string, spec: object, metadata: object = {}) =>
  Effect.flatMap(KubeClient, (client) =>
    client.create(resource, { metadata: { namespace, name, ...metadata }, spec } as never)
  )

const workload = (replicas: number) => ({
  replicas,
  selector: { matchLabels: labels },
  template: { metadata: { labels }, spec: { containers } }
})

const by = (kind: Resource.Any, { metadata: { name, uid } }: KubeObject) => ({
  ownerReferences: [{ apiVersion: Resource.apiVersion(kind), kind: kind.kind, name, uid, controller: true }]
})

const pod = (name: string, kind: Resource.Any, owner: KubeObject) =>
  create(Pod, name, { containers }, { labels, ...by(kind, owner) })

const scaled = (resource: Resource.Any, name: string, replicas: number) =>
  Effect.flatMap(KubeClient, (client) =>
    client.patch(resource, { namespace, name }, Patch.merge({ spec: { replicas } }))
  )

export const scenarios: ReadonlyArray<Scenario.Scenario> = Scenario.makeIn(
  namespace,
  "a budget follows the sizes of its pods' controllers, and a stale DisruptionTarget condition is reset",
  listing,
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const client = yield* KubeClient
    const rc = yield* create(ReplicationController, "rc", { ...workload(1), selector: labels })
    const deployment = yield* create(Deployment, "deployment", workload(1))
    const set = yield* create(ReplicaSet, "set", workload(1), by(Deployment, deployment))
    const lone = yield* create(ReplicaSet, "lone", workload(1))
    const stateful = yield* create(StatefulSet, "stateful", workload(1))
    const game = yield* create(Game, "game", { players: 1 })
    yield* pod("a", ReplicationController, rc)
    yield* pod("b", ReplicaSet, set)
    yield* pod("c", ReplicaSet, lone)
    yield* pod("d", StatefulSet, stateful)
    yield* pod("e", Game, game)
    yield* cluster.run(Disruption.make())
    const budget = { selector: { matchLabels: labels }, maxUnavailable: 1 }
    yield* create(PodDisruptionBudget, "web", budget)
    yield* cluster.settle
    const expected = Effect.map(
      client.get(PodDisruptionBudget, { namespace, name: "web" }),
      ({ status }) => status?.expectedPods
    )
    assert.strictEqual(yield* expected, 5)
    // The controllers are watched, so a changed size counts at once.
    for (const [index, [resource, name]] of (
      [
        [ReplicationController, "rc"],
        [Deployment, "deployment"],
        [ReplicaSet, "lone"],
        [StatefulSet, "stateful"]
      ] as const
    ).entries()) {
      yield* scaled(resource, name, 2)
      yield* cluster.settle
      assert.strictEqual(yield* expected, 6 + index)
    }
    const target = { type: "DisruptionTarget", status: "True", lastTransitionTime: "1970-01-01T00:00:00Z" }
    yield* client.patch(
      Pod,
      { namespace, name: "a", subresource: "status" },
      Patch.merge({ status: { conditions: [target] } })
    )
    yield* cluster.advance("3 minutes")
    const { status } = yield* client.get(Pod, { namespace, name: "a" })
    assert.strictEqual(status?.conditions?.find(({ type }) => type === "DisruptionTarget")?.status, "False")
    // The event is recorded twice, so it is counted up.
    yield* create(PodDisruptionBudget, "none", { ...budget, selector: { matchLabels: { app: "none" } } })
    yield* cluster.settle
    yield* client.patch(PodDisruptionBudget, { namespace, name: "none" }, Patch.merge({ spec: { maxUnavailable: 2 } }))
    yield* cluster.advance("1 minute")
    yield* (yield* Recorder).drained
    const events = (yield* cluster.snapshot(Event)).filter(({ involvedObject }) => involvedObject.name === "none")
    assert.isAbove(Math.max(...events.map(({ count }) => count ?? 1)), 1)
  })
)
