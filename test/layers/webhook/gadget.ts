/** A kind for tests of webhooks: a size with a default and bounds, and a field that only some of its versions have. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Crd from "../../../src/kube/crd/Crd.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import * as Webhook from "../../../src/layers/Webhook.ts"
import * as Result from "effect/Result"

const size = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 }))
const old = Schema.Struct({ count: size, colour: Schema.optionalKey(Schema.String) })

export const Gadget = Resource.make({
  group: "demo.example.com",
  version: "v2",
  kind: "Gadget",
  plural: "gadgets",
  spec: Schema.Struct({ size, colour: Schema.optionalKey(Schema.String) }),
  versions: [{ version: "v1", spec: old }]
})

export const GadgetV1 = Resource.make({
  group: "demo.example.com",
  version: "v1",
  kind: "Gadget",
  plural: "gadgets",
  spec: old
})

export const definition: Crd.CustomResourceDefinition = Result.getOrThrow(Crd.make(Gadget))

/** Any spec may be stored, as before there was validation. */
export const lax = {
  ...definition,
  spec: {
    ...definition.spec,
    versions: definition.spec.versions.map(({ name, served, storage }) => ({
      name,
      served,
      storage,
      schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } }
    }))
  }
}

export const colouring = Webhook.defaulting(Gadget, (gadget) =>
  Effect.succeed({ ...gadget, spec: { colour: "grey", ...gadget.spec } })
)

export const sizes = Webhook.validating(
  Gadget,
  (review) =>
    Effect.gen(function* () {
      if (review.operation === "DELETE") {
        if (review.oldObject.spec.colour === "gold") return yield* Webhook.deny("gold is kept")
        return
      }
      if (review.object.spec.size === 5) yield* review.warn("5 is much")
      if (review.operation === "UPDATE" && review.object.spec.size < (review.oldObject?.spec.size ?? 0)) {
        return yield* Webhook.deny("a gadget does not shrink", { path: "spec.size" })
      }
    }),
  { operations: ["CREATE", "UPDATE", "DELETE"] }
)

export const conversion = Webhook.converting(Gadget, [
  Webhook.spoke(GadgetV1, {
    of: Gadget,
    toHub: ({ spec: { count, ...spec }, ...object }) => Effect.succeed({ ...object, spec: { ...spec, size: count } }),
    fromHub: ({ spec: { size, ...spec }, ...object }) => Effect.succeed({ ...object, spec: { ...spec, count: size } })
  })
])
