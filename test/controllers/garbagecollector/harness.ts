/** The harness of the garbage collector's tests: the collector on the embedded API server, and objects with owners. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as GarbageCollector from "../../../src/controllers/GarbageCollector.ts"
import type { KubeObject, OwnerReference } from "../../../src/kube/Meta.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import type * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap, Secret } from "../../../src/kube/resources.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { ClusterTest, type Provides } from "../../../src/testing/ClusterTest.ts"

export const collector = GarbageCollector.make()

export const settle = Effect.flatMap(ClusterTest, (cluster) => cluster.settle)

/** Runs the garbage collector from the beginning to the end of the test. */
export const withCollector = <A, E>(test: Effect.Effect<A, E, Provides | Scope.Scope>) =>
  Effect.flatMap(ClusterTest, (cluster) => Effect.andThen(cluster.run(collector), test)).pipe(
    Effect.scoped,
    Effect.provide(ClusterTest.layer())
  )

export interface Shape {
  readonly kind?: "ConfigMap" | "Secret"
  readonly namespace?: string
  readonly owners?: ReadonlyArray<OwnerReference>
  readonly finalizers?: ReadonlyArray<string>
}

export const manifest = (
  name: string,
  { finalizers, kind = "ConfigMap", namespace = "default", owners }: Shape = {}
) => ({
  apiVersion: "v1",
  kind,
  metadata: {
    name,
    namespace,
    ...(owners === undefined ? {} : { ownerReferences: owners }),
    ...(finalizers === undefined ? {} : { finalizers })
  }
})

/** Applies one object and returns what is stored. */
export const make = (name: string, shape: Shape = {}) => apply(manifest(name, shape))

export const apply = (object: object) =>
  Effect.flatMap(ClusterTest, (cluster) =>
    Effect.map(cluster.apply([object]), ([stored]) => {
      if (stored === undefined) throw new Error("nothing was stored")
      return stored
    })
  )

/** A reference to a stored object. */
export const to = (owner: KubeObject, flags: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: owner.apiVersion ?? "",
  kind: owner.kind ?? "",
  name: owner.metadata.name,
  uid: owner.metadata.uid ?? "",
  ...flags
})

export const blocking = (owner: KubeObject) => to(owner, { blockOwnerDeletion: true })

type Chain<Names extends ReadonlyArray<string>> = { readonly [K in keyof Names]: KubeObject }

/** Makes ConfigMaps each of which owns the next one by a reference that `refer` makes, then settles. */
export const makeChain = <const Names extends ReadonlyArray<string>>(
  refer: (owner: KubeObject) => OwnerReference,
  ...names: Names
) =>
  Effect.gen(function* () {
    const objects: Array<KubeObject> = []
    for (const name of names) {
      const owner = objects.at(-1)
      objects.push(yield* make(name, owner === undefined ? {} : { owners: [refer(owner)] }))
    }
    yield* settle
    return objects as unknown as Chain<Names>
  })

/** Replaces the owners of a ConfigMap. */
export const setOwners = (name: string, ...ownerReferences: ReadonlyArray<OwnerReference>) =>
  Effect.flatMap(KubeClient, (client) =>
    client.patch(ConfigMap, { name, namespace: "default" }, Patch.merge({ metadata: { ownerReferences } }))
  )

/** Sends the deletion of an object in the namespace `default`, and does not settle. */
export const remove = (
  name: string,
  propagationPolicy: "Background" | "Foreground" | "Orphan" = "Background",
  resource: Resource.Any = ConfigMap
) =>
  Effect.flatMap(KubeClient, (client) => client.delete(resource, { name, namespace: "default" }, { propagationPolicy }))

/** The objects of a kind by name, with the names of their owners; `!` marks those that are being deleted. */
export const left = (resource: Resource.Any) =>
  Effect.map(
    Effect.flatMap(ClusterTest, (cluster) => cluster.snapshot(resource)),
    (objects) =>
      objects.map(({ metadata: { deletionTimestamp, name, ownerReferences = [] } }) =>
        [`${name}${deletionTimestamp === undefined ? "" : "!"}`, ...ownerReferences.map((one) => one.name)].join(" < ")
      )
  )

/** The ConfigMaps and Secrets, in the format of `left`. */
export const all = Effect.map(Effect.all([left(ConfigMap), left(Secret)]), ([configMaps, secrets]) => [
  ...configMaps,
  ...secrets
])
