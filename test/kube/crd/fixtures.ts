/** A typical custom kind: the Memcached of the operator tutorials. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Resource from "../../../src/kube/Resource.ts"

const Condition = Schema.Struct({
  type: Schema.String,
  status: Schema.Literals(["True", "False", "Unknown"]),
  message: Schema.optionalKey(Schema.String)
})

export const Memcached = Resource.make({
  group: "cache.example.com",
  version: "v1alpha1",
  kind: "Memcached",
  plural: "memcacheds",
  shortNames: ["mc"],
  categories: ["all"],
  description: "A cluster of memcached servers.",
  printerColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
  subresources: {
    status: true,
    scale: { specReplicasPath: ".spec.size", statusReplicasPath: ".status.replicas" }
  },
  spec: Schema.Struct({
    size: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 })).annotate({ description: "How many servers." }),
    containerPort: Schema.Int.annotate({ description: "Where they listen." }).pipe(
      Schema.withDecodingDefaultKey(Effect.succeed(11211))
    ),
    budget: Schema.optionalKey(Schema.Union([Schema.Int, Schema.String])),
    tier: Schema.optionalKey(Schema.NullOr(Schema.Literals(["gold", "silver"])))
  }),
  status: Schema.Struct({
    replicas: Schema.optionalKey(Schema.Int),
    conditions: Schema.optionalKey(
      Schema.Array(Condition).annotate({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] })
    )
  })
})
