/**
 * The kind Widget, with its spec and its status. Its type, its CustomResourceDefinition, its validation and its client are derived
 * from this value.
 */
import { Conditions, Resource } from "effect-controller-manager"
import * as Schema from "effect/Schema"

export const Widget = Resource.make({
  group: "example.com",
  version: "v1alpha1",
  kind: "Widget",
  plural: "widgets",
  scope: "Namespaced",
  description: "A text that is kept in a ConfigMap.",
  subresources: { status: true },
  printerColumns: [
    { name: "Text", type: "string", jsonPath: ".spec.text" },
    { name: "Ready", type: "string", jsonPath: ".status.conditions[?(@.type=='Ready')].status" }
  ],
  spec: Schema.Struct({
    text: Schema.String.pipe(Schema.check(Schema.isMinCodePoints(1))).annotate({ description: "What is written." })
  }),
  status: Schema.Struct({ conditions: Schema.optionalKey(Conditions.schema) })
})
