/**
 * The kind Memcached of `cache.example.com`: so many memcached servers, where they listen, and what became of them. Everything else about
 * the kind (definition, client, cache, validation, samples) follows from this value. Source: operator-sdk's tutorial.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Conditions from "../../kube/conditions.ts"
import * as Resource from "../../kube/Resource.ts"
import * as Webhook from "../../layers/Webhook.ts"

const size = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 })).annotate({
  description: "How many servers."
})

const containerPort = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 65_535 }))
  .annotate({ description: "The port on which each server listens." })
  .pipe(Schema.withDecodingDefaultKey(Effect.succeed(11_211)))

const nodes = Schema.Array(Schema.String).annotate({ description: "The names of the pods, in order." })

export const Memcached = Resource.make({
  group: "cache.example.com",
  version: "v1alpha1",
  kind: "Memcached",
  plural: "memcacheds",
  shortNames: ["mc"],
  description: "A group of memcached servers.",
  subresources: { status: true },
  printerColumns: [
    { name: "Size", type: "integer", jsonPath: ".spec.size" },
    { name: "Available", type: "string", jsonPath: '.status.conditions[?(@.type=="Available")].status' },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" }
  ],
  spec: Schema.Struct({ size, containerPort }),
  status: Schema.Struct({ conditions: Schema.optionalKey(Conditions.schema), nodes: Schema.optionalKey(nodes) })
})

/** One of them, as its Schemas decode it. */
export type Memcached = Resource.Decoded<typeof Memcached>

/** A label's value has so many characters at most. */
const longest = 63

const tooLong = `must be no more than ${longest} characters, because its pods are labelled with it`

/** Defaults come from the Schemas; no Schema can check that the name is valid as a label. Without the webhooks the definition still holds. */
export const webhooks = [
  Webhook.defaulting(Memcached, Effect.succeed),
  Webhook.validating(Memcached, (review) =>
    review.operation === "CREATE" && review.object.metadata.name.length > longest
      ? Effect.fail(Webhook.deny(tooLong, { path: "metadata.name" }))
      : Effect.void
  )
]
