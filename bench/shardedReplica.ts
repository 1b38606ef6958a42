/**
 * One replica of a sharded controller, for `sharding.ts`. Its reconcile waits 10 ms on something else. It begins when it reads a line on standard input, and
 * prints its state ten times a second as a line of JSON.
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { once } from "node:events"
import { ConfigMap } from "../src/kube/resources.ts"
import { Cache } from "../src/layers/Cache.ts"
import * as Controller from "../src/layers/Controller.ts"
import { Endpoint } from "../src/layers/Endpoint.ts"
import { KubeClient } from "../src/layers/KubeClient.ts"
import { Recorder } from "../src/layers/Recorder.ts"
import { Shards } from "../src/layers/Shards.ts"
import { Supervisor } from "../src/layers/Supervisor.ts"
import * as HeldShards from "../src/manager/shards/HeldShards.ts"
import * as HttpTransport from "../src/platform/HttpTransport.ts"

/** The arguments: one JSON object. */
export interface Options {
  readonly server: string
  readonly ca: string
  readonly token: string
  /** Of the replicas together. */
  readonly cluster: string
  readonly address: string
  readonly shards: number
  readonly concurrency: number
}

/** A line of its output. */
export interface State {
  readonly held: number
  readonly reconciled: number
  /** Milliseconds since the epoch of the last reconcile. */
  readonly last: number
  /** Milliseconds of the processor since the beginning. */
  readonly cpu: number
}

const { address, ca, cluster, concurrency, server, shards, token } = JSON.parse(process.argv[2] ?? "{}") as Options

let begun: NodeJS.CpuUsage | undefined
let [reconciled, last, held] = [0, 0, 0]
const go = Deferred.makeUnsafe<void>()

const worker = Controller.make({
  name: "worker",
  for: ConfigMap,
  shardBy: "key",
  concurrency,
  reconcile: () =>
    Effect.gen(function* () {
      yield* Deferred.await(go)
      yield* Effect.sleep("10 millis")
      reconciled++
      last = Date.now()
    })
})

const services = Recorder.layer.pipe(
  Layer.provideMerge(Cache.layer()),
  Layer.provideMerge(KubeClient.layer),
  Layer.provideMerge(HttpTransport.layer),
  Layer.provideMerge(Supervisor.layer),
  Layer.provide(Layer.succeed(Endpoint, Endpoint.fixed({ server, tls: { ca }, token: Redacted.make(token) })))
)
const divided = HeldShards.layerLeases({
  namespace: "default",
  name: cluster,
  address,
  shards,
  expiration: Duration.seconds(15)
})

const report = Effect.sync(() => {
  const { system, user } = begun === undefined ? { system: 0, user: 0 } : process.cpuUsage(begun)
  const cpu = (system + user) / 1000
  const state: State = { held, reconciled, last, cpu }
  process.stdout.write(`${JSON.stringify(state)}\n`)
})

await Effect.gen(function* () {
  const context = yield* Layer.build(Layer.provideMerge(divided, services))
  yield* Layer.build(worker.layer).pipe(Effect.provideContext(context))
  yield* (
    Context.get(context, Shards)?.each(() =>
      Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => held++),
          () => Effect.sync(() => held--)
        )
      )
    ) ?? Effect.void
  )
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(report, Effect.sleep("100 millis"))))
  yield* Effect.promise(() => once(process.stdin, "data"))
  begun = process.cpuUsage()
  yield* Deferred.succeed(go, undefined)
  return yield* Effect.never
}).pipe(Effect.scoped, Effect.runPromise)
