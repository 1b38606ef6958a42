/** The controller that `create` scaffolds, which keeps a ConfigMap with the text of each Widget. */
import assert from "node:assert/strict"
import * as Effect from "effect/Effect"
import type * as Resource from "../../../src/kube/Resource.ts"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import { ConfigMap } from "../../../src/kube/resources.ts"
import type { Subject } from "./Subject.ts"

interface Widget extends KubeObject {
  readonly spec: { readonly text: string }
  readonly status?: { readonly conditions?: ReadonlyArray<{ readonly type: string; readonly status: string }> }
}

const object = (name: string, text: string) => ({
  apiVersion: "example.com/v1alpha1",
  kind: "Widget",
  metadata: { namespace: "default", name },
  spec: { text }
})

const a = { namespace: "default", name: "a" }
const b = { namespace: "default", name: "b" }

export const subject = (controller: Subject["controller"], widgets: Resource.Resource<Widget>): Subject => ({
  controller,
  scenario: ({ advance, apply, delete: remove, edit }) =>
    Effect.gen(function* () {
      yield* apply([object("a", "one"), object("b", "two")])
      yield* advance("1 minute")
      yield* remove(ConfigMap, a)
      yield* advance("1 minute")
      yield* edit(widgets, a, { spec: { text: "three" } })
      yield* advance("1 minute")
      yield* edit(ConfigMap, a, { data: { text: "edited" } })
      yield* advance("1 minute")
      yield* remove(widgets, b)
      yield* advance("1 minute")
      yield* apply([object("b", "four")])
    }),
  converged: ({ snapshot }) =>
    Effect.gen(function* () {
      const all = yield* snapshot(widgets)
      const own = (yield* snapshot(ConfigMap)).filter(({ metadata }) => metadata.namespace === "default")
      assert.deepEqual(
        own.map(({ data, metadata }) => [metadata.name, data?.["text"]]),
        all.map(({ metadata, spec }) => [metadata.name, spec.text]),
        "each Widget has a ConfigMap with its text"
      )
      for (const { metadata, status } of all) {
        const isReady = status?.conditions?.some(({ status: state, type }) => type === "Ready" && state === "True")
        assert.ok(isReady, `Ready of ${metadata.name}`)
      }
    })
})
