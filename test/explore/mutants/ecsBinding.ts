/** EcsBinding: it owns nothing, so a user's change of what it keeps is that of its annotation. */
import assert from "node:assert/strict"
import * as Effect from "effect/Effect"
import { annotation, EcsBinding } from "../../../src/controllers/EcsBinding.ts"
import type { Subject } from "./Subject.ts"

const object = (name: string) => ({
  apiVersion: "hopegi.com/v1",
  kind: "EcsBinding",
  metadata: { name },
  spec: { id: "1", name: "machine", nodename: "node-1", innerip: "10.0.0.1" }
})

export const subject = (controller: Subject["controller"]): Subject => ({
  controller,
  scenario: ({ advance, apply, delete: remove, edit }) =>
    Effect.gen(function* () {
      const a = { name: "a" }
      yield* apply([object("a"), object("b")])
      yield* advance("1 minute")
      for (const spec of [{ id: "2" }, { name: "other" }, { nodename: "node-2" }, { innerip: "10.0.0.2" }]) {
        yield* edit(EcsBinding, a, { spec })
        yield* advance("1 minute")
      }
      yield* edit(EcsBinding, a, { metadata: { annotations: { [annotation]: "false" } } })
      yield* advance("1 minute")
      yield* edit(EcsBinding, { name: "b" }, { metadata: { annotations: { [annotation]: null } } })
      yield* advance("1 minute")
      yield* remove(EcsBinding, a)
      yield* advance("1 minute")
      yield* apply([object("a")])
    }),
  converged: ({ snapshot }) =>
    Effect.gen(function* () {
      for (const { metadata } of yield* snapshot(EcsBinding)) {
        assert.equal(metadata.annotations?.[annotation], "true", `the annotation of ${metadata.name}`)
      }
    })
})
