/**
 * A program of a library user with webhooks about config maps and a controller that does nothing. `webhooks.test.ts` tests with it how webhooks are
 * served. Not an example.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { ConfigMap, Controller, Webhook } from "../../../src/index.ts"
import { run } from "../../../src/node.ts"

const idle = Controller.make({ name: "idle", sources: [Stream.never], reconcile: () => Effect.void })

run({
  name: "hooked",
  controllers: [
    {
      controller: idle,
      byDefault: "on",
      summary: "Does nothing",
      webhooks: [
        Webhook.defaulting(ConfigMap, (map) => Effect.succeed({ ...map, data: { filled: "in", ...map.data } })),
        Webhook.validating(ConfigMap, ({ object }) =>
          object?.data?.["forbidden"] === undefined ? Effect.void : Webhook.deny("it has what is forbidden")
        )
      ]
    }
  ]
})
