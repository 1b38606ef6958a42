/** A controller cleans up after deletions of the objects that it remembers, and has no finalizer. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Access from "../../../src/kube/Access.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import * as Trigger from "../../../src/streams/store/trigger.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import type { Bug } from "../Bug.ts"

const Zone = Resource.make({
  group: "bugs.example.com",
  version: "v1",
  kind: "Zone",
  plural: "zones",
  spec: Schema.Struct({})
})

/** In another namespace, which is why no owner reference is possible. */
const entry = (name: string) => ({ namespace: "kube-system", name: `zone-${name}` })

const remembering = Controller.stateful({
  name: "zone",
  for: Zone,
  access: [Access.read(Zone), Access.create(ConfigMap), Access.remove(ConfigMap)],
  body: ({ cache, client }) => {
    const known = new Set<string>()
    return Effect.succeed({
      sources: [Controller.watch(Zone, Trigger.self)],
      reconcile: ({ key, name }) =>
        Effect.gen(function* () {
          if ((yield* cache.get(Zone, key)) !== undefined) {
            known.add(key)
            yield* client
              .create(ConfigMap, { metadata: entry(name) })
              .pipe(Effect.catchReason("ApiError", "AlreadyExists", () => Effect.void))
          } else if (known.has(key)) {
            yield* client
              .delete(ConfigMap, entry(name))
              .pipe(Effect.catchReason("ApiError", "NotFound", () => Effect.void))
            known.delete(key)
          }
        })
    })
  }
})

const finalizing = Controller.make({
  name: "zone",
  for: Zone,
  access: [Access.get(Zone), Access.create(ConfigMap), Access.remove(ConfigMap)],
  reconcileObject: ({ metadata: { name, namespace, uid } }, { client }) =>
    Effect.gen(function* () {
      // A stale cache may still have a zone whose entry has been deleted for good.
      const zone = yield* client.get(Zone, { namespace, name })
      if (zone.metadata.uid !== uid || zone.metadata.deletionTimestamp !== undefined) return
      yield* client.create(ConfigMap, { metadata: entry(name) })
    }).pipe(Effect.catchReasons("ApiError", { NotFound: () => Effect.void, AlreadyExists: () => Effect.void })),
  finalizers: {
    "bugs.example.com/entry": ({ metadata: { name } }, { client }) =>
      client.delete(ConfigMap, entry(name)).pipe(
        Effect.asVoid,
        Effect.catchReason("ApiError", "NotFound", () => Effect.void)
      )
  }
})

export const bug: Bug = {
  title: "a deletion while the controller is down is never cleaned up after",
  sources: [
    "https://github.com/kubernetes-sigs/controller-runtime/issues/243",
    "https://github.com/kube-rs/kube/issues/290",
    "https://github.com/coryodaniel/bonny/issues/72"
  ],
  write: "delete configmaps kube-system/zone-a",
  explore: (isRepaired) =>
    explore("missed-deletion", {
      controllers: [isRepaired ? finalizing : remembering],
      scenario: (cluster) =>
        Effect.gen(function* () {
          yield* cluster.apply([
            { apiVersion: "bugs.example.com/v1", kind: "Zone", metadata: { namespace: "default", name: "a" }, spec: {} }
          ])
          yield* cluster.advance("1 minute")
          yield* cluster.delete(Zone, { namespace: "default", name: "a" })
        })
    })
}
