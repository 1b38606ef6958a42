/** Keeps one ConfigMap for each Widget, with its text, and says in its status that it is there. */
import { Access, applier, Conditions, ConfigMap, Controller, Owner } from "effect-controller-manager"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Widget } from "./Widget.ts"

export const WidgetController = Controller.make({
  name: "widget",
  for: Widget,
  owns: [ConfigMap],
  access: [Access.create(ConfigMap), Access.patch(ConfigMap), Access.patch(Widget, "status")],
  reconcileObject: (object, { client }) =>
    Effect.gen(function* () {
      const { deletionTimestamp, name, namespace } = object.metadata
      // What it owns goes with it.
      if (deletionTimestamp !== undefined) return
      const { apply, applyStatus } = applier(client)
      // Applying the same again changes nothing.
      yield* apply(ConfigMap, {
        metadata: { name, namespace, ownerReferences: [Owner.reference(Widget, object)] },
        data: { text: object.spec.text }
      })
      const before = object.status?.conditions
      const ready = { type: "Ready", status: true, reason: "Written", message: `config map ${name} has the text` }
      const conditions = Conditions.set(before, ready, yield* Clock.currentTimeMillis)
      if (conditions !== before) yield* applyStatus(Widget, object, { conditions })
    })
})
