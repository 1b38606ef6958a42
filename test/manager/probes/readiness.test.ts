/** Readiness of a whole manager on the embedded API server, in virtual time. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { TestClock } from "effect/testing"
import * as Access from "../../../src/kube/Access.ts"
import { ConfigMap, Secret } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import { on } from "../../../src/apiserver/faults.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import * as Health from "../../../src/layers/Health.ts"
import { noBody } from "../../../src/layers/http/handler.ts"
import { Leadership } from "../../../src/layers/Leadership.ts"
import * as Manager from "../../../src/manager/Manager.ts"
import { handler } from "../../../src/manager/probes/handle.ts"
import * as Cluster from "../../support/cluster.ts"

const controller = Controller.make({
  name: "reader",
  for: ConfigMap,
  access: [Access.read(Secret)],
  reconcile: () => Effect.void
})

it.effect(
  "names a kind that has not synced with its last error, is ready after it has, and not after the manager ended",
  () =>
    Effect.gen(function* () {
      const health = yield* Health.Health
      const server = yield* ApiServer
      const readyz = Effect.map(
        handler(health)({
          method: "GET",
          path: "/readyz",
          query: new URLSearchParams("verbose"),
          bearer: undefined,
          body: noBody
        }),
        ({ body }) => (typeof body === "string" ? body : "")
      )
      // The check that the servers register before the manager starts.
      yield* health.register("readiness", { name: "informer-sync", run: Effect.succeed("not running") })
      server.faults.set([
        { match: on({ resource: "secrets" }), fault: { _tag: "Status", code: 503, message: "overloaded" } }
      ])
      const running = yield* Effect.forkChild(Manager.run({ controllers: [controller] }))
      yield* TestClock.adjust("20 seconds")
      yield* Cluster.settle
      assert.match(
        yield* readyz,
        /^\[-\]informer-sync failed: secrets not synced, failed \d+ times in a row: .*secrets.*overloaded\n/
      )
      server.faults.set([])
      yield* TestClock.adjust("1 minute")
      yield* Cluster.settle
      assert.strictEqual(yield* readyz, "[+]informer-sync ok\n[+]workers-reader ok\nreadyz check passed\n")
      yield* Fiber.interrupt(running)
      assert.strictEqual(yield* readyz, "[-]informer-sync failed: not running\nreadyz check failed\n")
    }).pipe(
      Effect.provide(Layer.merge(Cluster.layer, Leadership.layerAlways)),
      Effect.provideService(Health.Health, Health.makeUnsafe()),
      Effect.scoped
    )
)
