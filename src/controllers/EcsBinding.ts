/**
 * ecsbinding: sets an annotation on every EcsBinding, a custom resource that binds a cloud machine to a node. The
 * smallest example of a controller for a custom resource: one declaration and one patch.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Access from "../kube/Access.ts"
import * as Patch from "../kube/Patch.ts"
import * as Resource from "../kube/Resource.ts"
import * as Controller from "../layers/Controller.ts"

export const EcsBinding = Resource.make({
  group: "hopegi.com",
  version: "v1",
  kind: "EcsBinding",
  plural: "ecsbinding",
  scope: "Cluster",
  shortNames: ["ecsb"],
  description: "Which machine of a cloud a node is.",
  printerColumns: [
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    { name: "NodeName", type: "string", jsonPath: ".spec.nodename" },
    { name: "InnerIp", type: "string", jsonPath: ".spec.innerip" }
  ],
  spec: Schema.Struct({
    id: Schema.String.annotate({ description: "What the cloud calls the machine." }),
    name: Schema.String.annotate({ description: "What people call the machine." }),
    nodename: Schema.String.annotate({ description: "The name of the node." }),
    innerip: Schema.String.annotate({ description: "The address of the machine inside the cloud." })
  }).annotate({ description: "The machine and its node." }),
  status: Schema.Struct({}).annotate({ description: "Not used: an annotation says that the machine was seen." })
})

/** Set to `true` on a reconciled EcsBinding. */
export const annotation = "has-reconcile"

const access = [Access.patch(EcsBinding)] as const

export const make = () =>
  Controller.make({
    name: "ecsbinding",
    for: EcsBinding,
    access,
    reconcileObject: ({ metadata: { annotations, name } }, { client }) =>
      annotations?.[annotation] === "true"
        ? Effect.void
        : Effect.asVoid(
            client.patch(EcsBinding, { name }, Patch.merge({ metadata: { annotations: { [annotation]: "true" } } }))
          )
  })
