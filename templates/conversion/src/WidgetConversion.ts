/**
 * Converts the kind Widget between the stored version and the others. The functions get any stored object, in wire form. What a version cannot
 * express must be kept in an annotation: test/WidgetConversion.test.ts checks that nothing is lost.
 */
import { Webhook } from "effect-controller-manager"
import * as Effect from "effect/Effect"
import { Widget } from "./Widget.ts"
import { WidgetV2 } from "./WidgetV2.ts"

export const WidgetConversion = Webhook.converting(Widget, [
  // A version is a copy of the stored one at first. Change both directions with it: ({ spec: { a, ...spec }, ...object }) => …
  Webhook.spoke(WidgetV2, { of: Widget, toHub: Effect.succeed, fromHub: Effect.succeed })
])
