/**
 * One replica of a sharded controller, for `replicas.ts`. Its reconcile waits 10 ms on something else. It prints its state ten times a second as a line of JSON,
 * and reads orders on standard input, a line of JSON each.
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { createInterface } from "node:readline"
import type { Key } from "../src/kube/Key.ts"
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

/**
 * Begins a measurement. The first lets the runs begin that have waited since the start, one of each object. A later one with `keys` reconciles so many objects
 * again; one without only counts what changes of objects cause.
 */
export interface Order {
  readonly measurement: number
  readonly keys?: number
}

/** A line of its output. */
export interface State {
  readonly held: number
  /** The measurement to which the rest belongs; 0 before the first. */
  readonly measurement: number
  readonly reconciled: number
  /** Since the order. */
  readonly now: Usage
  /** Since the order, at the last reconcile. */
  readonly last: Usage
  readonly residentMiB: number
}

interface Usage {
  readonly millis: number
  /** Milliseconds of the processor. */
  readonly cpu: number
}

const { address, ca, cluster, concurrency, server, shards, token } = JSON.parse(process.argv[2] ?? "{}") as Options

let [measurement, reconciled, held] = [0, 0, 0]
let [began, begun] = [performance.now(), process.cpuUsage()]
const usage = (): Usage => {
  const { system, user } = process.cpuUsage(begun)
  return { millis: performance.now() - began, cpu: (system + user) / 1000 }
}
let last = usage()
const mine = new Set<Key>()
const go = Deferred.makeUnsafe<void>()
const again = Effect.runSync(Queue.unbounded<Key>())

const worker = Controller.make({
  name: "worker",
  for: ConfigMap,
  shardBy: "key",
  concurrency,
  sources: [Stream.fromQueue(again)],
  reconcile: ({ key }) =>
    Effect.gen(function* () {
      yield* Deferred.await(go)
      yield* Effect.sleep("10 millis")
      mine.add(key)
      reconciled++
      last = usage()
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
  const residentMiB = process.memoryUsage.rss() / 1024 / 1024
  const state: State = { held, measurement, reconciled, now: usage(), last, residentMiB }
  process.stdout.write(`${JSON.stringify(state)}\n`)
})

const obey = (line: string): void => {
  const { keys = 0, measurement: number } = JSON.parse(line) as Order
  measurement = number
  reconciled = 0
  began = performance.now()
  begun = process.cpuUsage()
  last = usage()
  if (number === 1) Deferred.doneUnsafe(go, Effect.void)
  else Queue.offerAllUnsafe(again, [...mine].slice(0, keys))
}

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
  createInterface({ input: process.stdin }).on("line", obey)
  return yield* Effect.forever(Effect.andThen(report, Effect.sleep("100 millis")))
}).pipe(Effect.scoped, Effect.runPromise)
