/**
 * The kind Memcached of `cache.example.com`: the number of memcached servers, their port, and their state. The definition, client, cache,
 * validation and samples of the kind are derived from this value. Source: operator-sdk's tutorial.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Conditions from "../../kube/conditions.ts"
import * as Resource from "../../kube/Resource.ts"

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
  spec: Schema.Struct({ size, containerPort }).annotate({ description: "The servers that there should be." }),
  status: Schema.Struct({
    conditions: Schema.optionalKey(Conditions.schema),
    nodes: Schema.optionalKey(nodes)
  }).annotate({ description: "The servers that there are, and whether they are available." })
})

/** A decoded Memcached. */
export type Memcached = Resource.Decoded<typeof Memcached>
