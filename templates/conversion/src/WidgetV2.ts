/** What `create version` makes of Widget.ts; here only so that the other files can be type-checked. */
import { Conditions, Resource } from "effect-controller-manager"
import * as Schema from "effect/Schema"

export const WidgetV2 = Resource.make({
  group: "example.com",
  version: "v2",
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
