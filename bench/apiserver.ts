/**
 * The embedded API server: writes in process beside one watcher, writes over HTTPS to a server in a process of its own, the cost of two hundred
 * watchers, and the memory of an object. Objects are ConfigMaps of about 350 bytes. Every write is parsed, decoded by its type, defaulted,
 * validated, recorded in managedFields, stored, answered, and delivered to the watcher.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { ApiServer } from "../src/apiserver/ApiServer.ts"
import { Transport } from "../src/layers/Transport.ts"
import type { Request } from "../src/layers/Transport.ts"
import type { Figure } from "./figure.ts"
import { create, serve } from "./server.ts"

const path = "/api/v1/namespaces/default/configmaps"

const configMap = (index: number, value: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: {
    name: `settings-${index}`,
    namespace: "default",
    labels: { app: "web", tier: "front", shard: String(index % 16) },
    annotations: { "example.com/owner": "team-a" }
  },
  data: { "log.level": "info", endpoint: `https://service-${index % 100}.example:8443`, value }
})

const call = (method: Request["method"], at: string, body?: unknown): Request => ({
  method,
  path: at,
  body,
  context: { verb: method, path: at }
})

type Server = Transport["Service"]

/** Calls one after the other: the server handles a request in one synchronous section, so concurrent calls would gain nothing. */
const each = (server: Server, count: number, make: (index: number) => Request) =>
  Effect.gen(function* () {
    for (let i = 0; i < count; i++) yield* server.send(make(i))
  })

/** Counts what a watch delivers; `times` are when each watcher had seen everything. */
const watching = (server: Server, watchers: number, expected: number) =>
  Effect.gen(function* () {
    const state = { seen: 0, times: [] as Array<number> }
    const watch = { ...call("GET", path), query: { watch: true, resourceVersion: "4" } }
    for (let i = 0; i < watchers; i++) {
      let own = 0
      yield* Effect.forkScoped(
        Stream.runForEachArray(server.watch(watch), (events) =>
          Effect.sync(() => {
            own += events.length
            state.seen += events.length
            if (own === expected) state.times.push(performance.now())
          })
        ),
        { startImmediately: true }
      )
    }
    return state
  })

const until = (done: () => boolean) => Effect.repeat(Effect.yieldNow, { until: done })

/** A fresh server for each measurement. */
const onServer = <A>(run: (server: Server) => Effect.Effect<A, unknown, Scope.Scope>): Promise<A> =>
  Effect.gen(function* () {
    return yield* run(yield* Transport)
  }).pipe(
    Effect.scoped,
    Effect.provide(Layer.provideMerge(ApiServer.layerTransport, ApiServer.layer())),
    Effect.runPromise
  )

const count = 30_000

/** Creates a second and updates a second, the best of the rounds, because the machine may do other work. */
const writes = () =>
  onServer((server) =>
    Effect.gen(function* () {
      const watcher = yield* watching(server, 1, Number.POSITIVE_INFINITY)
      const best = { creates: 0, updates: 0 }
      for (let round = 0; round < 4; round++) {
        const name = (i: number) => round * count + i
        const first = performance.now()
        yield* each(server, count, (i) => call("POST", path, configMap(name(i), "0")))
        yield* until(() => watcher.seen === count * (2 * round + 1))
        best.creates = Math.max(best.creates, (count / (performance.now() - first)) * 1000)
        const second = performance.now()
        yield* each(server, count, (i) => call("PUT", `${path}/settings-${name(i)}`, configMap(name(i), "1")))
        yield* until(() => watcher.seen === count * (2 * round + 2))
        best.updates = Math.max(best.updates, (count / (performance.now() - second)) * 1000)
      }
      return best
    })
  )

const inProcess = async (): Promise<Array<Figure>> => {
  const { creates, updates } = await writes()
  return [
    { name: "creates in process, one watcher", value: creates, unit: "/s", bar: "≥ 30,000", ok: creates >= 30_000 },
    { name: "updates in process, one watcher", value: updates, unit: "/s", bar: "≥ 20,000", ok: updates >= 20_000 }
  ]
}

/** Milliseconds until this many watchers have caught up with `events` writes. */
const catchUp = (watchers: number, events: number) =>
  onServer((server) =>
    Effect.gen(function* () {
      yield* each(server, events, (i) => call("POST", path, configMap(i, "0")))
      const written = performance.now()
      const state = yield* watching(server, watchers, events)
      yield* until(() => state.times.length === watchers)
      return performance.now() - written
    })
  )

/** When each of the watchers has seen all writes, in milliseconds since the first, in order. */
const catchUpTimes = (watchers: number, events: number) =>
  onServer((server) =>
    Effect.gen(function* () {
      const state = yield* watching(server, watchers, events)
      const start = performance.now()
      for (let i = 0; i < events; i++) {
        yield* server.send(call("POST", path, configMap(i, "0")))
        if (i % 10 === 9) yield* Effect.yieldNow
      }
      yield* until(() => state.times.length === watchers)
      return state.times.map((time) => time - start).sort((a, b) => a - b)
    })
  )

const fanOut = async (): Promise<Array<Figure>> => {
  const events = 1_000
  await catchUp(20, events)
  const cost = async (watchers: number) => ((await catchUp(watchers, events)) / (watchers * events)) * 1000
  const floor = await cost(50)
  const value = await cost(200)
  const times = await catchUpTimes(200, events)
  const spread = times.at(-1)! / times[times.length >> 1]!
  return [
    {
      name: "delivery to each of 200 watchers",
      value,
      unit: "µs an event",
      floor,
      ratio: value / floor,
      bar: "≤ 1.5 × that of 50",
      ok: value / floor <= 1.5
    },
    { name: "slowest of 200 watchers", value: spread, unit: "× median", bar: "≤ 2", ok: spread <= 2 }
  ]
}

const memory = (): Promise<Array<Figure>> =>
  onServer((server) =>
    Effect.gen(function* () {
      const objects = 100_000
      const collect = globalThis.gc
      if (collect === undefined) return yield* Effect.die(new Error("run with --expose-gc"))
      collect()
      const before = process.memoryUsage().heapUsed
      yield* each(server, objects, (i) => call("POST", path, configMap(i, "0")))
      collect()
      const used = process.memoryUsage().heapUsed - before
      const { body } = yield* server.send({ ...call("GET", path), query: { limit: 1000 } })
      const { items } = body as { items: ReadonlyArray<unknown> }
      const json = items.reduce((sum: number, item) => sum + JSON.stringify(item).length, 0) / items.length
      const value = (used / objects - json) / 1024
      return [
        { name: "an object of 100,000 beyond its JSON", value, unit: "KiB", bar: "≤ 3 KB", ok: value * 1024 <= 3000 }
      ]
    })
  )

const overHttps = async (): Promise<Array<Figure>> => {
  const server = await serve()
  try {
    const round = async (from: number, objects: number): Promise<number> => {
      const start = performance.now()
      await create(server, path, { from, objects, connections: 12 }, (index) => configMap(index, "0"))
      return (objects / (performance.now() - start)) * 1000
    }
    await round(0, 2_000)
    const rates = [await round(10_000, 6_000), await round(20_000, 6_000), await round(30_000, 6_000)]
    const value = Math.max(...rates)
    return [{ name: "creates over HTTPS, 12 connections", value, unit: "/s", bar: "≥ 1,500", ok: value >= 1_500 }]
  } finally {
    await server.stop()
  }
}

export const run = async (): Promise<Array<Figure>> => [
  ...(await memory()),
  ...(await inProcess()),
  ...(await fanOut()),
  ...(await overHttps())
]
