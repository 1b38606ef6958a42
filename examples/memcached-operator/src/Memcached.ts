/** The kind Memcached: a number of memcached servers, and their port. */
import { Conditions, Resource } from "effect-controller-manager"
import * as Schema from "effect/Schema"

export const Memcached = Resource.make({
  group: "cache.example.com",
  version: "v1alpha1",
  kind: "Memcached",
  plural: "memcacheds",
  scope: "Namespaced",
  description: "Some memcached servers.",
  subresources: { status: true },
  printerColumns: [
    { name: "Size", type: "integer", jsonPath: ".spec.size" },
    { name: "Available", type: "string", jsonPath: ".status.conditions[?(@.type=='Available')].status" }
  ],
  spec: Schema.Struct({
    size: Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 1, maximum: 3 }))).annotate({
      description: "How many servers."
    }),
    containerPort: Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 1, maximum: 65_535 }))).annotate({
      description: "The port that they listen on."
    })
  }),
  status: Schema.Struct({
    availableServers: Schema.optionalKey(Schema.Int.annotate({ description: "How many of them answer." })),
    conditions: Schema.optionalKey(Conditions.schema)
  })
})
