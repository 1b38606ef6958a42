/** Records an event on each Deployment that asks for one by an annotation: replace this by what the controller is for. */
import { Access, Controller, Deployment } from "effect-controller-manager"
import * as Effect from "effect/Effect"

/** Objects without it get no event; its value is the message of the event. */
export const annotation = "widget-operator/example"

export const ExampleController = Controller.make({
  name: "example",
  for: Deployment,
  // All that it may do beyond reading its kind. `Access.patch(Deployment)` would let it change objects.
  access: [Access.record],
  reconcileObject: (object, { events }) => {
    const { annotations, deletionTimestamp } = object.metadata
    const message = annotations?.[annotation]
    if (message === undefined || deletionTimestamp !== undefined) return Effect.void
    return events.normal(object, "Example", message)
  }
})
