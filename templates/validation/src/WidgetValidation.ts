/** Rules for the kind Widget that a Schema cannot express, such as a rule about a change. The API server applies them before it stores an object. */
import { Webhook } from "effect-controller-manager"
import * as Effect from "effect/Effect"
import { Widget } from "./Widget.ts"

/** Names that no Widget may have: replace this by the rules of the kind. The function also gets `oldObject`, which an update replaces. */
const reserved = ["default", "system"]

export const WidgetValidation = Webhook.validating(Widget, ({ object }) => {
  const name = object?.metadata.name
  return name !== undefined && reserved.includes(name)
    ? Effect.fail(Webhook.deny(`the name ${name} is reserved`, { path: "metadata.name" }))
    : Effect.void
})
