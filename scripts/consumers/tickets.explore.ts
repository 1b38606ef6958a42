/**
 * An exploration that finds a mistake: a Ticket's ConfigMap has a generated name, so that it is created again after a response was lost. scripts/runtimes.mjs
 * compares the reports of all versions of Node, which have the timeline of the failure.
 */
import { Access, ConfigMap, Controller, Owner, Patch, Resource } from "effect-controller-manager"
import { explore } from "effect-controller-manager/testing"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const Ticket = Resource.make({
  group: "consumers.example.com",
  version: "v1",
  kind: "Ticket",
  plural: "tickets",
  subresources: { status: true },
  spec: Schema.Struct({}),
  status: Schema.Struct({ map: Schema.optionalKey(Schema.String) })
})

const Tickets = Controller.make({
  name: "tickets",
  for: Ticket,
  owns: [ConfigMap],
  access: [Access.create(ConfigMap), Access.patch(Ticket, "status")],
  reconcileObject: (ticket, { client }) =>
    Effect.gen(function* () {
      if (ticket.status?.map !== undefined) return
      const { name, namespace = "" } = ticket.metadata
      const map = yield* client.create(ConfigMap, {
        metadata: { namespace, generateName: `${name}-`, ownerReferences: [Owner.reference(Ticket, ticket)] }
      })
      const status = { map: map.metadata.name }
      yield* client.subresource("status").patch(Ticket, { namespace, name }, Patch.merge({ status }))
    })
})

export const tickets = explore("tickets", {
  controllers: [Tickets],
  scenario: (cluster) =>
    cluster.apply([
      {
        apiVersion: "consumers.example.com/v1",
        kind: "Ticket",
        metadata: { namespace: "default", name: "a" },
        spec: {}
      }
    ])
})
