/** Scenarios of the operators memcached and ecsbinding. Their definitions have no validation, so that invalid objects can be stored. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as EcsBindings from "../../src/controllers/EcsBinding.ts"
import * as Memcacheds from "../../src/controllers/Memcached.ts"
import * as Crd from "../../src/kube/crd/Crd.ts"
import * as Patch from "../../src/kube/Patch.ts"
import * as Resource from "../../src/kube/Resource.ts"
import { Deployment } from "../../src/kube/resources.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Recorder } from "../../src/layers/Recorder.ts"
import { withoutValidation } from "../support/definitions.ts"
import * as Scenario from "./scenario.ts"

const { EcsBinding } = EcsBindings
const { Memcached } = Memcacheds

const namespace = "default"

/** Controllers list before they watch, as on a server without streaming lists. */
const onCluster = (kind: Resource.AnyCustom) =>
  ({ crds: [withoutValidation(Result.getOrThrow(Crd.make(kind)))], cache: { streamingList: "never" } }) as const

const object = (kind: Resource.AnyCustom, name: string, spec: object) => ({
  apiVersion: Resource.apiVersion(kind),
  kind: kind.kind,
  metadata: kind.scope === "Cluster" ? { name } : { namespace, name },
  spec
})

/** An invalid object gets an event, which is counted up when the object changes and is still invalid. */
const isSpoilt = Effect.fnUntraced(function* (kind: Resource.AnyCustom) {
  const cluster = yield* ClusterTest
  const client = yield* KubeClient
  yield* cluster.apply([object(kind, "spoilt", {})])
  yield* cluster.advance("10 seconds")
  yield* client.patch(kind, { namespace, name: "spoilt" }, Patch.merge({ spec: { more: 1 } }))
  yield* cluster.advance("10 seconds")
  yield* (yield* Recorder).drained
})

const serves = Scenario.makeIn(
  namespace,
  "a Memcached gets its servers, which are restored after a deletion, and is deleted",
  onCluster(Memcached),
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const client = yield* KubeClient
    yield* cluster.run(Memcacheds.make())
    yield* isSpoilt(Memcached)
    yield* cluster.apply([object(Memcached, "cache", { size: 2 })])
    yield* cluster.advance("10 seconds")
    yield* client.patch(Deployment, { namespace, name: "cache" }, Patch.merge({ spec: { replicas: 7 } }))
    yield* cluster.advance("10 seconds")
    assert.strictEqual((yield* client.get(Deployment, { namespace, name: "cache" })).spec?.replicas, 2)
    const { status } = yield* client.get(Memcached, { namespace, name: "cache" })
    assert.strictEqual(status?.conditions?.[0]?.reason, "ServersMissing")
    yield* client.delete(Memcached, { namespace, name: "cache" })
    yield* cluster.advance("10 seconds")
    assert.deepStrictEqual(
      (yield* cluster.snapshot(Memcached)).map(({ metadata }) => metadata.name),
      ["spoilt"]
    )
    yield* (yield* Recorder).drained
  })
)

const marks = Scenario.make(
  "an EcsBinding is annotated",
  onCluster(EcsBinding),
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    yield* cluster.run(EcsBindings.make())
    yield* isSpoilt(EcsBinding)
    const spec = { id: "ecs-1", name: "first", nodename: "worker-1", innerip: "10.0.0.1" }
    yield* cluster.apply([object(EcsBinding, "node", spec)])
    yield* cluster.advance("10 seconds")
    const marked = (yield* cluster.snapshot(EcsBinding)).filter(
      ({ metadata }) => metadata.annotations?.[EcsBindings.annotation] === "true"
    )
    assert.deepStrictEqual(
      marked.map(({ metadata }) => metadata.name),
      ["node"]
    )
  })
)

export const scenarios: ReadonlyArray<Scenario.Scenario> = [serves, marks].flat()
