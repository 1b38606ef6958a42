/** Security: credentials, bounds, hostile bodies. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Resource from "../../../src/kube/Resource.ts"
import { Pod } from "../../../src/kube/resources.ts"
import type { Transport } from "../../../src/layers/Transport.ts"
import type { Case } from "../Case.ts"

export const security: ReadonlyArray<Case> = [
  {
    title: "a wrong token is Unauthorized; no token is no administrator",
    since: 20,
    needs: "credentials",
    run: Effect.fnUntraced(function* ({ as, namespace }) {
      const path = Resource.path(Pod, { namespace })
      const list = (transport: Transport["Service"]) =>
        Effect.flip(
          transport.send({ method: "GET", path, context: { verb: "list", path, resource: "pods", namespace } })
        )
      assert.strictEqual((yield* list(yield* as("wrong"))).reason._tag, "Unauthorized")
      const anonymous = yield* list(yield* as(undefined))
      assert.include(["Unauthorized", "Forbidden"], anonymous.reason._tag)
      if (anonymous.reason._tag === "Forbidden")
        assert.include(anonymous.message, `list pods in namespace "${namespace}"`)
      const watch = Stream.runDrain(
        (yield* as("wrong")).watch({ method: "GET", path, query: { watch: true }, context: { verb: "watch", path } })
      )
      assert.strictEqual((yield* Effect.flip(watch)).reason._tag, "Unauthorized")
    })
  },
  {
    title: "an escaped name is one name, not a path",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const error = yield* Effect.flip(client.get(Pod, { namespace, name: "../nodes" }))
      assert.include(["NotFound", "BadRequest"], error.reason._tag)
      assert.include(Resource.path(Pod, { namespace, name: "../nodes" }), "..%2Fnodes")
    })
  }
]
