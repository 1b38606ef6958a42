/**
 * Deletes objects whose owners are all gone, and completes foreground deletion, as a cluster's garbage collector does, so that an exploration does not
 * need the graph of the real one, which watches every kind.
 */
import * as Effect from "effect/Effect"
import type * as Discover from "../../layers/Discovery.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import type { Client } from "../../layers/KubeClient.ts"
import type { ApiResource } from "../../layers/discovery/documents.ts"
import * as Patch from "../../kube/Patch.ts"

const foreground = "foregroundDeletion"

const orphan = "orphan"

/** One pass over these objects, which are all that there are. Returns whether it changed something. */
export const collect = Effect.fnUntraced(function* (
  client: Client,
  discovery: Discover.Discovery["Service"],
  objects: ReadonlyArray<KubeObject>
) {
  const byUid = new Map(objects.map((object) => [object.metadata.uid, object]))
  const resourceOf = (object: KubeObject) => {
    const [group = "", version] = (object.apiVersion ?? "").includes("/")
      ? (object.apiVersion ?? "").split("/")
      : ["", object.apiVersion]
    return discovery.resourceFor({ group, version, kind: object.kind ?? "" })
  }
  let changed = false
  const act = (object: KubeObject, what: (resource: ApiResource) => Effect.Effect<unknown, unknown>) => {
    changed = true
    return Effect.ignore(Effect.flatMap(resourceOf(object), what))
  }
  for (const object of objects) {
    const { metadata } = object
    const owners = metadata.ownerReferences ?? []
    const waits = (metadata.finalizers ?? []).filter((one): boolean => one === foreground || one === orphan)
    if (metadata.deletionTimestamp !== undefined && waits.length > 0) {
      const dependents = objects.filter(({ metadata: other }) =>
        other.ownerReferences?.some(({ uid }) => uid === metadata.uid)
      )
      if (waits.includes(orphan)) {
        for (const one of dependents) {
          const ownerReferences = (one.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== metadata.uid)
          yield* act(one, (resource) =>
            client.patch(resource, one.metadata, Patch.merge({ metadata: { ownerReferences } }))
          )
        }
      } else {
        const blocking = dependents.filter(({ metadata: other }) =>
          other.ownerReferences?.some((one) => one.uid === metadata.uid && one.blockOwnerDeletion === true)
        )
        for (const one of dependents.filter(({ metadata: other }) => other.deletionTimestamp === undefined)) {
          yield* act(one, (resource) => client.delete(resource, one.metadata, { propagationPolicy: "Foreground" }))
        }
        if (blocking.length > 0) continue
      }
      const finalizers = (metadata.finalizers ?? []).filter((one) => !waits.includes(one))
      yield* act(object, (resource) => client.patch(resource, metadata, Patch.merge({ metadata: { finalizers } })))
    } else if (
      owners.length > 0 &&
      metadata.deletionTimestamp === undefined &&
      owners.every(({ uid }) => !byUid.has(uid))
    ) {
      yield* act(object, (resource) =>
        client.delete(resource, metadata, { preconditions: { uid: metadata.uid }, propagationPolicy: "Background" })
      )
    }
  }
  return changed
})
