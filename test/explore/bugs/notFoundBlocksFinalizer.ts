/** A cleanup that fails where there is nothing to clean up, so that the finalizer stays. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Access from "../../../src/kube/Access.ts"
import * as ApiError from "../../../src/kube/ApiError.ts"
import * as Owner from "../../../src/kube/Owner.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import type { Bug } from "../Bug.ts"

const Zone = Resource.make({
  group: "bugs.example.com",
  version: "v1",
  kind: "Zone",
  plural: "zones",
  spec: Schema.Struct({})
})

const controller = (isRepaired: boolean) =>
  Controller.make({
    name: "zone",
    for: Zone,
    owns: [ConfigMap],
    access: [Access.create(ConfigMap), Access.remove(ConfigMap)],
    finalizers: {
      "bugs.example.com/records": ({ metadata: { name, namespace } }, { client }) => {
        const deleted = client.delete(ConfigMap, { namespace, name })
        // What is gone already needs no cleanup.
        return Effect.asVoid(isRepaired ? ApiError.unlessGone(deleted) : deleted)
      }
    },
    reconcileObject: (zone, { cache, client }) =>
      Effect.gen(function* () {
        const { name, namespace = "" } = zone.metadata
        if ((yield* cache.get(ConfigMap, `${namespace}/${name}`)) !== undefined) return
        yield* client.create(ConfigMap, {
          metadata: { namespace, name, ownerReferences: [Owner.reference(Zone, zone)] }
        })
      })
  })

export const bug: Bug = {
  title: "a finalizer is never removed because what it deletes is gone already",
  sources: [
    "https://github.com/cryostatio/cryostat-operator/issues/245",
    "https://github.com/zalando/postgres-operator/pull/2538"
  ],
  write: "delete configmaps",
  explore: (isRepaired) =>
    explore("not-found-blocks-finalizer", {
      controllers: [controller(isRepaired)],
      scenario: (cluster) =>
        Effect.gen(function* () {
          yield* cluster.apply("{ apiVersion: bugs.example.com/v1, kind: Zone, metadata: { name: a }, spec: {} }")
          yield* cluster.advance("1 minute")
          yield* cluster.delete(Zone, { namespace: "default", name: "a" })
        })
    })
}
