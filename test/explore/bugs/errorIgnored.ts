/** A write whose failure is ignored. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Access from "../../../src/kube/Access.ts"
import * as Owner from "../../../src/kube/Owner.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { Service } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import type { Bug } from "../Bug.ts"

const Site = Resource.make({
  group: "bugs.example.com",
  version: "v1",
  kind: "Site",
  plural: "sites",
  spec: Schema.Struct({})
})

const controller = (isRepaired: boolean) =>
  Controller.make({
    name: "site",
    for: Site,
    owns: [Service],
    access: [Access.create(Service)],
    reconcileObject: (site, { cache, client }) =>
      Effect.gen(function* () {
        const { name, namespace = "" } = site.metadata
        if ((yield* cache.get(Service, `${namespace}/${name}`)) !== undefined) return
        const created = client.create(Service, {
          metadata: { namespace, name, ownerReferences: [Owner.reference(Site, site)] },
          spec: { ports: [{ port: 80 }] }
        })
        // The failure of a write is the failure of the run, which is then repeated.
        yield* isRepaired ? created : Effect.catch(created, (error) => Effect.logWarning("no service", error))
      })
  })

export const bug: Bug = {
  title: "a service is never created after its first creation has failed",
  sources: [
    "https://github.com/infinispan/infinispan-operator/issues/337",
    "https://github.com/mulgadc/spinifex/pull/840"
  ],
  write: "create services",
  explore: (isRepaired) =>
    explore("error-ignored", {
      controllers: [controller(isRepaired)],
      scenario: (cluster) =>
        cluster.apply("{ apiVersion: bugs.example.com/v1, kind: Site, metadata: { name: a }, spec: {} }")
    })
}
