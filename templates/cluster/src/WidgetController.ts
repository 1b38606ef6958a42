/** Keeps one ConfigMap with the text of each Widget, and reports it in the status. */
import { Access, applier, Conditions, ConfigMap, Controller, Owner } from "effect-controller-manager"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Widget } from "./Widget.ts"

/** The kind has no namespaces, so all its ConfigMaps are in this one. */
const namespace = "default"

export const WidgetController = Controller.make({
  name: "widget",
  for: Widget,
  owns: [ConfigMap],
  access: [Access.create(ConfigMap), Access.patch(ConfigMap), Access.patch(Widget, "status")],
  reconcileObject: (object, { client }) =>
    Effect.gen(function* () {
      const { deletionTimestamp, name } = object.metadata
      // Owned objects are garbage collected with the Widget.
      if (deletionTimestamp !== undefined) return
      const { apply, applyStatus } = applier(client)
      // The apply is idempotent.
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
