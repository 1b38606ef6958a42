/** Built-in admission: namespaces, limit ranges, quotas. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ConfigMap } from "../../../src/kube/resources.ts"
import { type Case, configMap } from "../Case.ts"

export const admission: ReadonlyArray<Case> = [
  {
    title: "create in a namespace that does not exist is NotFound and names the namespace",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const error = yield* Effect.flip(client.create(ConfigMap, configMap("a"), { namespace: `${namespace}-none` }))
      assert.strictEqual(error.reason._tag, "NotFound")
      assert.include(error.detail, `namespaces "${namespace}-none" not found`)
    })
  }
]
