/**
 * A Deployment whose selector cannot be parsed. Current servers reject it, so the transport inserts it into responses.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import * as DeploymentController from "../../../src/controllers/Deployment.ts"
import { Deployment } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import { Cache } from "../../../src/layers/Cache.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { Quiescence } from "../../../src/layers/Quiescence.ts"
import { Recorder } from "../../../src/layers/Recorder.ts"
import { Supervisor } from "../../../src/layers/Supervisor.ts"
import { Transport } from "../../../src/layers/Transport.ts"
import { start } from "../../support/cluster.ts"
import { logged } from "../../support/logged.ts"
import { deployment } from "./harness.ts"

const invalid = <A>(value: A): A =>
  JSON.parse(JSON.stringify(value).replaceAll('"operator":"Exists"', '"operator":"Like"')) as A

const rewriting = Layer.effect(
  Transport,
  Effect.map(Transport, (transport) =>
    Transport.of({
      send: (request) => Effect.map(transport.send(request), invalid),
      watch: (request) => Stream.map(transport.watch(request), invalid)
    })
  )
).pipe(Layer.provide(ApiServer.layerTransport))

const layer = Recorder.layer.pipe(
  Layer.provideMerge(Cache.layer()),
  Layer.provideMerge(KubeClient.layer),
  Layer.provideMerge(rewriting),
  Layer.provideMerge(ApiServer.layer()),
  Layer.provideMerge(Supervisor.layer),
  Layer.provideMerge(Quiescence.layer)
)

it.effect("a Deployment with an invalid selector is retried 15 times", () => {
  const { lines, logger } = logged()
  return Effect.gen(function* () {
    const client = yield* KubeClient
    const matchLabels = { app: "web" }
    const selector = { matchLabels, matchExpressions: [{ key: "app", operator: "Exists" }] }
    yield* client.create(Deployment, deployment({ selector }))
    const { stop } = yield* start(DeploymentController.make())
    yield* TestClock.adjust("1 hour")
    const tries = lines(/Reconciler/)
    assert.lengthOf(tries, 16)
    assert.include(tries.at(-1), "gave up")
    yield* stop()
  }).pipe(Effect.provide(Layer.mergeAll(layer, logger)))
})
