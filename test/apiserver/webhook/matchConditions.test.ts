/** `matchConditions` are not evaluated: the webhook is called, and the client that configures them gets a warning. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import { configMap, configMaps, post } from "../client.ts"
import { configurations, hook, layer, says } from "./harness.ts"

const user = { name: "system:admin", groups: ["system:masters"] }

const asked: Array<any> = []

it.effect(
  "a webhook with match conditions is asked whatever they say, and its configuration is answered with a warning",
  () =>
    Effect.gen(function* () {
      const { handle } = yield* ApiServer
      const webhooks = [hook("a"), hook("b", { matchConditions: [{ name: "never", expression: "false" }] })]
      const answer = yield* handle({
        method: "POST",
        path: `${configurations}/validatingwebhookconfigurations`,
        query: new URLSearchParams(),
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ metadata: { name: "conditions" }, webhooks }),
        user
      })
      assert.strictEqual(answer._tag === "Answer" ? answer.status : 0, 201)
      assert.strictEqual(
        answer._tag === "Answer" ? answer.headers?.["warning"] : undefined,
        String.raw`299 - "webhooks[1].matchConditions: this server evaluates no CEL: \"b.hooks.example\" is called whatever they say"`
      )
      yield* post(configMaps, configMap("x"))
      assert.strictEqual(asked.length, 2)
    }).pipe(Effect.provide(layer({ a: says({}), b: says({}) }, asked)))
)
