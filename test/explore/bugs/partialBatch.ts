/** An annotation that says that children are created before all of them are. */
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

const Batch = Resource.make({
  group: "bugs.example.com",
  version: "v1",
  kind: "Batch",
  plural: "batches",
  spec: Schema.Struct({ size: Schema.Int })
})

const annotation = "bugs.example.com/created"

const controller = (isRepaired: boolean) =>
  Controller.make({
    name: "batch",
    for: Batch,
    access: [Access.create(ConfigMap), Access.patch(Batch)],
    reconcileObject: (batch, { client }) =>
      Effect.gen(function* () {
        const { annotations, name, namespace = "" } = batch.metadata
        if (annotations?.[annotation] !== undefined) return
        const mark = client.patch(
          Batch,
          { namespace, name },
          Patch.merge({ metadata: { annotations: { [annotation]: "true" } } })
        )
        const ownerReferences = [Owner.reference(Batch, batch)]
        const create = Effect.forEach(Array.from({ length: batch.spec.size }).keys(), (i) =>
          client.create(ConfigMap, { metadata: { namespace, name: `${name}-${i}`, ownerReferences } }).pipe(
            Effect.asVoid,
            Effect.catchReason("ApiError", "AlreadyExists", () => Effect.void)
          )
        )
        // The mark comes last, and names that follow from the owner make it safe to create all of them again.
        yield* isRepaired ? Effect.andThen(create, mark) : Effect.andThen(mark, create)
      })
  })

export const bug: Bug = {
  title: "some children are missing after a failure because the batch is marked as created before",
  sources: ["https://github.com/kubernetes-sigs/kro/issues/1170"],
  write: "create configmaps",
  explore: (isRepaired) =>
    explore("partial-batch", {
      controllers: [controller(isRepaired)],
      scenario: (cluster) =>
        cluster.apply("{ apiVersion: bugs.example.com/v1, kind: Batch, metadata: { name: a }, spec: { size: 3 } }")
    })
}
