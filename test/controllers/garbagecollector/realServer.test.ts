/**
 * The garbage collector on a real API server: every propagation policy and kind of owner, and the server's handling of
 * the patches. In real time, by watch events. Needs `KUBEBUILDER_ASSETS`.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as GarbageCollector from "../../../src/controllers/GarbageCollector.ts"
import type { OwnerReference } from "../../../src/kube/Meta.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import type * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap, Event, Namespace, Node, Secret } from "../../../src/kube/resources.ts"
import { Cache } from "../../../src/layers/Cache.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { Recorder } from "../../../src/layers/Recorder.ts"
import * as envtest from "../../support/envtest.ts"
import * as RealServer from "../../support/realServer.ts"
import { blocking, to } from "./harness.ts"

const isMissing = envtest.isMissing("the garbage collector on a real API server")

interface Shape {
  readonly owners?: ReadonlyArray<OwnerReference>
  readonly finalizers?: ReadonlyArray<string>
  readonly namespace?: string
}

const create = (
  resource: Resource.Any,
  name: string,
  { finalizers = [], namespace = "default", owners = [] }: Shape = {}
) =>
  Effect.flatMap(KubeClient, (client) =>
    client.create(resource, {
      metadata: { name, finalizers, ownerReferences: owners, ...(resource.scope === "Cluster" ? {} : { namespace }) }
    })
  )

const remove = (resource: Resource.Any, name: string, propagationPolicy: "Background" | "Foreground" | "Orphan") =>
  Effect.flatMap(KubeClient, (client) => client.delete(resource, { name, namespace: "default" }, { propagationPolicy }))

const merge = (resource: Resource.Any, name: string, metadata: object) =>
  Effect.flatMap(KubeClient, (client) =>
    client.patch(resource, { name, namespace: "default" }, Patch.merge({ metadata }))
  )

/** Waits until the objects of a kind, except the server's own, are these, with these owners. */
const until = (resource: Resource.Any, ...expected: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const informer = yield* (yield* Cache).subscribe(resource)
    const present = () =>
      informer.store
        .list()
        .filter(({ metadata }) => !metadata.name.startsWith("kube-"))
        .map(({ metadata: { deletionTimestamp, name, ownerReferences = [] } }) =>
          [`${name}${deletionTimestamp === undefined ? "" : "!"}`, ...ownerReferences.map((one) => one.name)].join(
            " < "
          )
        )
        .sort()
    const wanted = [...expected].sort().join("; ")
    yield* informer.synced
    if (present().join("; ") === wanted) return
    yield* informer.changes.pipe(
      Stream.filter(() => present().join("; ") === wanted),
      Stream.runHead,
      Effect.timeoutOrElse({
        duration: "40 seconds",
        orElse: () => Effect.die(new Error(`there are ${present().join("; ")} instead of ${wanted}`))
      })
    )
  }).pipe(Effect.scoped)

const deletions = Effect.gen(function* () {
  const a = yield* create(ConfigMap, "a")
  const b = yield* create(ConfigMap, "b", { owners: [to(a)] })
  yield* create(Secret, "c", { owners: [to(b)] })
  yield* remove(ConfigMap, "a", "Background")
  yield* until(ConfigMap)
  yield* until(Secret)

  const d = yield* create(ConfigMap, "d")
  const e = yield* create(ConfigMap, "e", { owners: [blocking(d)] })
  yield* create(ConfigMap, "f", { owners: [blocking(e)], finalizers: ["example.com/hold"] })
  yield* until(ConfigMap, "d", "e < d", "f < e")
  yield* remove(ConfigMap, "d", "Foreground")
  yield* until(ConfigMap, "d!", "e! < d", "f! < e")
  yield* merge(ConfigMap, "f", { finalizers: null })
  yield* until(ConfigMap)

  const g = yield* create(ConfigMap, "g")
  const h = yield* create(ConfigMap, "h")
  yield* create(ConfigMap, "i", { owners: [to(g)] })
  yield* create(ConfigMap, "j", { owners: [to(g), blocking(h)] })
  yield* until(ConfigMap, "g", "h", "i < g", "j < g < h")
  yield* remove(ConfigMap, "g", "Orphan")
  yield* until(ConfigMap, "h", "i", "j < h")

  const k = yield* create(ConfigMap, "k", { owners: [blocking(h)] })
  yield* merge(ConfigMap, "h", { ownerReferences: [blocking(k)] })
  yield* until(ConfigMap, "h < k", "i", "j < h", "k < h")
  yield* remove(ConfigMap, "h", "Foreground")
  yield* until(ConfigMap, "i")
  yield* remove(ConfigMap, "i", "Background")
})

const owners = Effect.gen(function* () {
  const client = yield* KubeClient
  const ghost = { apiVersion: "v1", kind: "ConfigMap", name: "ghost", uid: "no-such-uid" }
  const a = yield* create(ConfigMap, "a")
  yield* client.create(Namespace, { metadata: { name: "team" } })
  yield* create(ConfigMap, "b", { owners: [ghost] })
  yield* create(ConfigMap, "c", { owners: [ghost, to(a)] })
  yield* create(ConfigMap, "d", { owners: [to(a, { name: "other" })] })
  yield* create(ConfigMap, "e", { owners: [to(a)], namespace: "team" })
  yield* create(Node, "n", { owners: [ghost] })
  yield* create(ConfigMap, "f", { owners: [{ ...ghost, apiVersion: "odd.example/v1" }] })
  yield* until(ConfigMap, "a", "c < a", "f < ghost")
  yield* until(Node, "n < ghost")
  yield* (yield* Recorder).drained
  const { items } = yield* client.list(Event, { namespace: "team" })
  assert.deepStrictEqual(
    items.map(({ message, reason }) => [reason, message]),
    [
      [
        "OwnerRefInvalidNamespace",
        `ownerRef [v1/ConfigMap, namespace: team, name: a, uid: ${a.metadata.uid}] does not exist in namespace "team"`
      ]
    ]
  )
  yield* remove(ConfigMap, "a", "Background")
  yield* until(ConfigMap, "f < ghost")
  yield* remove(ConfigMap, "f", "Background")
})

it.live.skipIf(isMissing)("the garbage collector deletes dependents on a real API server", () =>
  Effect.gen(function* () {
    yield* Layer.build(GarbageCollector.make().layer)
    yield* deletions
    yield* owners
  }).pipe(Effect.scoped, Effect.provide(RealServer.services()))
)
