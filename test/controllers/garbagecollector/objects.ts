/** Objects with owners for the garbage collector's tests. */
import * as Effect from "effect/Effect"
import type { KubeObject, OwnerReference } from "../../../src/kube/Meta.ts"
import type * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap, Secret } from "../../../src/kube/resources.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"

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

/** The objects of a kind by name, with the names of their owners; `!` marks those that are being deleted. */
export const left = (resource: Resource.Any) =>
  Effect.map(
    Effect.flatMap(ClusterTest, (cluster) => cluster.snapshot(resource)),
    (objects) =>
      objects.map(({ metadata: { deletionTimestamp, name, ownerReferences = [] } }) =>
        [`${name}${deletionTimestamp === undefined ? "" : "!"}`, ...ownerReferences.map((one) => one.name)].join(" < ")
      )
  )

/** ConfigMaps and Secrets, which all tests use. */
export const all = Effect.map(Effect.all([left(ConfigMap), left(Secret)]), ([configMaps, secrets]) => [
  ...configMaps,
  ...secrets
])
