/** A list in the order in which the cache happens to have its objects. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Access from "../../../src/kube/Access.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import * as Trigger from "../../../src/streams/store/trigger.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import type { Bug } from "../Bug.ts"

const Catalogue = Resource.make({
  group: "bugs.example.com",
  version: "v1",
  kind: "Catalogue",
  plural: "catalogues",
  subresources: { status: true },
  spec: Schema.Struct({}),
  status: Schema.Struct({ parts: Schema.optionalKey(Schema.String) })
})

const labels = [{ key: "catalogue", operator: "Exists", values: [] }] as const

const controller = (isRepaired: boolean) =>
  Controller.make({
    name: "catalogue",
    for: Catalogue,
    watches: [
      Controller.watch(
        ConfigMap,
        Trigger.map(({ metadata: { namespace } }) => [`${namespace}/a`])
      )
    ],
    access: [Access.patch(Catalogue, "status")],
    reconcileObject: (catalogue, { cache, client }) =>
      Effect.gen(function* () {
        const { name, namespace } = catalogue.metadata
        const names = (yield* cache.list(ConfigMap, { namespace, labels })).map(({ metadata }) => metadata.name)
        // The cache promises no order.
        const parts = (isRepaired ? names.toSorted() : names).join(",")
        if (catalogue.status?.parts === parts) return
        yield* client.subresource("status").patch(Catalogue, { namespace, name }, Patch.merge({ status: { parts } }))
      })
  })

const part = (name: string) =>
  `{ apiVersion: v1, kind: ConfigMap, metadata: { name: ${name}, labels: { catalogue: a } } }`

export const bug: Bug = {
  title: "a list is written again in another order after a restart",
  sources: ["https://github.com/keycloak/keycloak/issues/19725", "https://github.com/stacklok/toolhive/pull/5064"],
  write: "patch catalogues.bugs.example.com/status",
  explore: (isRepaired) =>
    explore("list-order", {
      controllers: [controller(isRepaired)],
      scenario: (cluster) =>
        Effect.gen(function* () {
          yield* cluster.apply("{ apiVersion: bugs.example.com/v1, kind: Catalogue, metadata: { name: a }, spec: {} }")
          yield* cluster.apply(part("y"))
          yield* cluster.apply(part("x"))
        })
    })
}
