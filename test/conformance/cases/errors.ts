/** Errors: the Status objects of refusals, word for word. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as ApiError from "../../../src/kube/ApiError.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap } from "../../../src/kube/resources.ts"
import type { Transport } from "../../../src/layers/Transport.ts"
import { type Case, configMap } from "../Case.ts"

/** Config maps `a`, `b`, … labelled with their letter, and even ones with `even`. */
/** A real server puts objects of its own (a root CA) into namespaces. */
const raw = (transport: Transport["Service"], path: string, accept?: string) =>
  transport.send({ method: "GET", path, accept, context: { verb: "raw", path } })

export const errors: ReadonlyArray<Case> = [
  {
    title: "a write without its namespace is MethodNotAllowed",
    since: 20,
    run: Effect.fnUntraced(function* ({ transport }) {
      const path = "/api/v1/configmaps"
      const body = configMap("a")
      const call = transport.send({ method: "POST", path, body, context: { verb: "create", path } })
      assert.strictEqual((yield* Effect.flip(call)).reason._tag, "MethodNotAllowed")
    })
  },
  {
    title: "a missing object and a missing resource are different NotFounds",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const object = yield* Effect.flip(client.get(ConfigMap, { namespace, name: "none" }))
      assert.strictEqual(object.reason._tag, "NotFound")
      assert.isFalse(ApiError.isMissingResource(object))
      const Widget = Resource.make()({ group: "none.example", version: "v1", kind: "Widget", plural: "widgets" })
      const resource = yield* Effect.flip(client.get(Widget, { namespace, name: "a" }))
      assert.strictEqual(resource.reason._tag, "NotFound")
      assert.isTrue(ApiError.isMissingResource(resource))
    })
  },
  {
    title: "a path that leads nowhere is NotFound",
    since: 20,
    run: Effect.fnUntraced(function* ({ transport }) {
      for (const path of ["/nowhere", "/apis/none.example", "/api/v1/nonsense", "/api/v2/pods"]) {
        assert.strictEqual((yield* Effect.flip(raw(transport, path))).reason._tag, "NotFound", path)
      }
    })
  }
]
