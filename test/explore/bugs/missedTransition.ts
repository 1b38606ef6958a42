/** A controller acts on a transition that it has to observe, and not on the state after it. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Access from "../../../src/kube/Access.ts"
import * as Owner from "../../../src/kube/Owner.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import type { Bug } from "../Bug.ts"

const Machine = Resource.make({
  group: "bugs.example.com",
  version: "v1",
  kind: "Machine",
  plural: "machines",
  spec: Schema.Struct({ isOn: Schema.Boolean })
})

const controller = (isRepaired: boolean) =>
  Controller.make({
    name: "machine",
    for: Machine,
    predicate: (delta) =>
      isRepaired || (delta._tag === "Updated" && delta.previous.spec.isOn && !delta.object.spec.isOn),
    access: [Access.own(Machine), Access.create(ConfigMap)],
    reconcileObject: (machine, { client }) => {
      const { name, namespace = "" } = machine.metadata
      const metadata = { namespace, name, ownerReferences: [Owner.reference(Machine, machine)] }
      return machine.spec.isOn
        ? Effect.void
        : client.create(ConfigMap, { metadata, data: { snapshot: "" } }).pipe(
            Effect.asVoid,
            Effect.catchReason("ApiError", "AlreadyExists", () => Effect.void)
          )
    }
  })

export const bug: Bug = {
  title: "a transition that a controller does not observe is never acted on",
  sources: [
    "https://github.com/instaclustr/cassandra-operator/issues/398",
    "https://github.com/rook/rook/issues/3577",
    "https://github.com/pulumi/pulumi-kubernetes-operator/pull/717"
  ],
  write: "create configmaps default/a",
  explore: (isRepaired) =>
    explore("missed-transition", {
      controllers: [controller(isRepaired)],
      scenario: (cluster) =>
        Effect.gen(function* () {
          yield* cluster.apply([
            {
              apiVersion: "bugs.example.com/v1",
              kind: "Machine",
              metadata: { namespace: "default", name: "a" },
              spec: { isOn: true }
            }
          ])
          yield* cluster.advance("1 minute")
          yield* cluster.edit(Machine, { namespace: "default", name: "a" }, { spec: { isOn: false } })
        })
    })
}
