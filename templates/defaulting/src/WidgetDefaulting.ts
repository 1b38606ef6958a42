/** Sets missing fields of the kind Widget that a default in its Schema cannot set. The API server applies them before it validates an object. */
import { Webhook } from "effect-controller-manager"
import * as Effect from "effect/Effect"
import { Widget } from "./Widget.ts"

/** Replace this by the defaults of the kind. A value that the client has set is kept. */
const defaults = { "app.kubernetes.io/managed-by": "widget-operator" }

export const WidgetDefaulting = Webhook.defaulting(Widget, (object) =>
  Effect.succeed({ ...object, metadata: { ...object.metadata, labels: { ...defaults, ...object.metadata.labels } } })
)
