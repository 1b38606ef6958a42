/** The controller that `create controller` adds, which records an event on each Widget that asks for one by an annotation. */
import assert from "node:assert/strict"
import * as Effect from "effect/Effect"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import type * as Resource from "../../../src/kube/Resource.ts"
import { Event } from "../../../src/kube/resources.ts"
import type { Subject } from "./Subject.ts"

const object = (name: string) => ({
  apiVersion: "example.com/v1alpha1",
  kind: "Widget",
  metadata: { namespace: "default", name },
  spec: { text: "one" }
})

const a = { namespace: "default", name: "a" }

export const subject = (
  controller: Subject["controller"],
  widgets: Resource.Resource<KubeObject>,
  annotation: string
): Subject => ({
  controller,
  scenario: ({ advance, apply, delete: remove, edit }) =>
    Effect.gen(function* () {
      yield* apply([object("a"), object("b")])
      yield* advance("1 minute")
      yield* edit(widgets, a, { metadata: { annotations: { [annotation]: "hello" } } })
      yield* advance("1 minute")
      yield* edit(widgets, a, { spec: { text: "two" } })
      yield* advance("1 minute")
      yield* remove(widgets, a)
      yield* advance("1 minute")
      yield* apply([object("a")])
    }),
  converged: ({ snapshot }) =>
    Effect.gen(function* () {
      const events = (yield* snapshot(Event)).filter(({ involvedObject }) => involvedObject.kind === "Widget")
      const recorded = new Set(events.map(({ involvedObject, message }) => `${involvedObject.name}: ${message}`))
      assert.deepEqual([...recorded], ["a: hello"])
    })
})
