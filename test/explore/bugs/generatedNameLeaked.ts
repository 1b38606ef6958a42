/** A child with a generated name, which only the owner's status refers to. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Access from "../../../src/kube/Access.ts"
import * as Owner from "../../../src/kube/Owner.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import type { Bug } from "../Bug.ts"

const Ticket = Resource.make({
  group: "bugs.example.com",
  version: "v1",
  kind: "Ticket",
  plural: "tickets",
  subresources: { status: true },
  spec: Schema.Struct({}),
  status: Schema.Struct({ child: Schema.optionalKey(Schema.String) })
})

const controller = (isRepaired: boolean) =>
  Controller.make({
    name: "ticket",
    for: Ticket,
    owns: [ConfigMap],
    access: [Access.create(ConfigMap), Access.get(ConfigMap), Access.patch(Ticket, "status")],
    reconcileObject: (ticket, { client }) =>
      Effect.gen(function* () {
        if (ticket.status?.child !== undefined) return
        const { name, namespace = "" } = ticket.metadata
        // A name that follows from the owner exists at most once, however often it is created.
        const wanted = isRepaired ? { name: `${name}-child` } : { generateName: `${name}-` }
        const child = yield* client
          .create(ConfigMap, { metadata: { namespace, ...wanted, ownerReferences: [Owner.reference(Ticket, ticket)] } })
          .pipe(
            Effect.catchReason("ApiError", "AlreadyExists", () =>
              client.get(ConfigMap, { namespace, name: `${name}-child` })
            )
          )
        yield* client
          .subresource("status")
          .patch(Ticket, { namespace, name }, Patch.merge({ status: { child: child.metadata.name } }))
      })
  })

export const bug: Bug = {
  title: "a child with a generated name is created again after a lost response",
  sources: ["https://github.com/kubernetes-sigs/controller-runtime/issues/1622"],
  write: "create configmaps",
  explore: (isRepaired) =>
    explore("generated-name-leaked", {
      controllers: [controller(isRepaired)],
      scenario: (cluster) =>
        cluster.apply([
          { apiVersion: "bugs.example.com/v1", kind: "Ticket", metadata: { namespace: "default", name: "a" }, spec: {} }
        ])
    })
}
