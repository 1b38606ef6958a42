/** Greets every namespace with a label and an event. */
import { Access, Controller, Namespace, Patch } from "effect-controller-manager"
import * as Effect from "effect/Effect"

export const HelloController = Controller.make({
  name: "hello",
  for: Namespace,
  access: [Access.patch(Namespace), Access.record],
  reconcileObject: (namespace, { client, events }) =>
    Effect.gen(function* () {
      const { deletionTimestamp, labels, name } = namespace.metadata
      if (deletionTimestamp !== undefined || labels?.["hello"] === "world") return
      yield* client.patch(Namespace, { name }, Patch.merge({ metadata: { labels: { hello: "world" } } }))
      yield* events.normal(namespace, "Greeted", `hello, ${name}`)
    })
})
