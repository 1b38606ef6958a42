/** Records an event on each Widget that asks for one by an annotation: replace this by what the controller is for. */
import { Access, Controller } from "effect-controller-manager"
import * as Effect from "effect/Effect"
import { Widget } from "./Widget.ts"

/** Objects without it get no event; its value is the message of the event. */
export const annotation = "widget-operator/example"

export const ExampleController = Controller.make({
  name: "example",
  for: Widget,
  // All that it may do beyond reading its kind. `Access.patch(Widget)` would let it change objects.
  access: [Access.record],
  reconcileObject: (object, { events }) => {
    const { annotations, deletionTimestamp } = object.metadata
    const message = annotations?.[annotation]
    if (message === undefined || deletionTimestamp !== undefined) return Effect.void
    return events.normal(object, "Example", message)
  }
})
