/**
 * Mirrors the ConfigMaps with the label `mirror=edge` to the other cluster: a change in either cluster enqueues the ConfigMap, and a
 * ConfigMap that is deleted here is deleted there. Only ConfigMaps with the label are ever deleted.
 */
import { Access, ConfigMap, Controller, Key, Patch } from "effect-controller-manager"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Edge } from "./Edge.ts"

const isMirrored = (one: ConfigMap | undefined): one is ConfigMap => one?.metadata.labels?.["mirror"] === "edge"

/** All changes of ConfigMaps in the other cluster. */
const changesThere = Stream.unwrap(
  Effect.map(Edge, ({ cache }) => Stream.map(cache.changes(ConfigMap), ({ object }) => Key.of(object)))
)

export const Mirror = Controller.make({
  name: "mirror",
  for: ConfigMap,
  sources: [changesThere],
  access: [Access.record],
  reconcile: ({ key, name, namespace }, { cache, events }) =>
    Effect.gen(function* () {
      const edge = yield* Edge
      const here = yield* cache.get(ConfigMap, key)
      yield* edge.cache.synced(ConfigMap)
      const there = yield* edge.cache.get(ConfigMap, Key.make(namespace, name))
      if (isMirrored(here)) {
        if (there !== undefined && !isMirrored(there)) {
          return yield* events.warning(here, "NotMirrored", "the other cluster has a config map of that name already")
        }
        const wanted = {
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: { name, namespace, labels: { mirror: "edge" } },
          data: here.data ?? {}
        }
        yield* edge.client.patch(ConfigMap, { namespace, name }, Patch.apply(wanted), {
          fieldManager: "mirror",
          force: true
        })
      } else if (isMirrored(there)) {
        yield* edge.client.delete(ConfigMap, { namespace, name }, { preconditions: { uid: there.metadata.uid } })
      }
    })
})
