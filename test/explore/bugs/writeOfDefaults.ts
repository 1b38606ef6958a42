/** A comparison of the whole object with what is wanted, which the server has filled in with defaults. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Access from "../../../src/kube/Access.ts"
import * as Equality from "../../../src/kube/equality.ts"
import * as Owner from "../../../src/kube/Owner.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { Service } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import * as Reconcile from "../../../src/streams/reconcile/Reconcile.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import type { Bug } from "../Bug.ts"

const Shop = Resource.make({
  group: "bugs.example.com",
  version: "v1",
  kind: "Shop",
  plural: "shops",
  spec: Schema.Struct({ port: Schema.Int })
})

const controller = (isRepaired: boolean) =>
  Controller.make({
    name: "shop",
    for: Shop,
    owns: [Service],
    access: [Access.patch(Service)],
    reconcileObject: (shop, { cache, client }) =>
      Effect.gen(function* () {
        const { name, namespace = "" } = shop.metadata
        const { port } = shop.spec
        const ports = [{ port }]
        const present = yield* cache.get(Service, `${namespace}/${name}`)
        // The server adds a protocol and a target port. Only what is wanted is compared.
        const compare = isRepaired ? Equality.covers : Equality.equal
        const isAsWanted = compare(present?.spec?.ports, ports)
        if (!isAsWanted) {
          const metadata = { name, ownerReferences: [Owner.reference(Shop, shop)] }
          const service = { apiVersion: "v1", kind: "Service", metadata, spec: { ports } }
          yield* client.patch(Service, { namespace, name }, Patch.apply(service))
        }
        return Reconcile.after("1 minute")
      })
  })

export const bug: Bug = {
  title: "a service is written in each run because of the server's defaults",
  sources: [
    "https://github.com/valkey-io/valkey-operator/pull/317",
    "https://github.com/3scale/3scale-operator/pull/1174"
  ],
  write: "patch services",
  isUndisturbed: true,
  explore: (isRepaired) =>
    explore("write-of-defaults", {
      controllers: [controller(isRepaired)],
      scenario: (cluster) =>
        cluster.apply("{ apiVersion: bugs.example.com/v1, kind: Shop, metadata: { name: a }, spec: { port: 80 } }")
    })
}
