/**
 * One run of the embedded server with a seed: about two thousand random calls through a fault script in virtual time, with watches of
 * all resources that they write. Prints the log of requests, responses and watch events. `determinism.test.ts` starts it in separate
 * processes, where the output may depend on the seed only.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as Layer from "effect/Layer"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { Transport } from "../../src/layers/Transport.ts"
import type { Request } from "../../src/layers/Transport.ts"

const root = "/api/v1/namespaces/default"
const services = `${root}/serviceaccounts`
const configMaps = `${root}/configmaps`
const pods = `${root}/pods`

const verbs = { POST: "create", PATCH: "patch", DELETE: "delete", GET: "list", PUT: "update" } as const

const request = (method: Request["method"], path: string, body?: unknown, extra: Partial<Request> = {}): Request => ({
  method,
  path,
  body,
  ...extra,
  context: { verb: extra.query?.["watch"] === true ? "watch" : verbs[method], path }
})

const configMap = (name: string, data: object, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  data
})

const pod = (name: string, spec: object) => ({
  metadata: { name },
  spec: { containers: [{ name: "main", image: "web:1" }], ...spec }
})

/** Yields often enough for all due events to be delivered; virtual time does not advance. */
const settle = Effect.repeat(Effect.yieldNow, { times: 20 })

const pick = <A>(values: ReadonlyArray<A>): Effect.Effect<A> =>
  Effect.map(Random.nextIntBetween(0, values.length, { halfOpen: true }), (index) => values[index]!)

const names = ["a", "b", "c", "d", "e", "f"]

/** A random call, which may be invalid. */
const anyCall: Effect.Effect<Request> = Effect.gen(function* () {
  const name = yield* pick(names)
  const value = String(yield* Random.nextIntBetween(0, 5))
  const merge = { contentType: "application/merge-patch+json" }
  const apply = {
    contentType: "application/apply-patch+yaml",
    query: { fieldManager: yield* pick(["x", "y"]), force: true }
  }
  const config = configMap(name, { [`k${value}`]: value })
  return yield* pick([
    request("POST", configMaps, configMap(name, { k: value }, { finalizers: value === "0" ? ["a.b/c"] : [] })),
    request("POST", pods, pod(name, value === "1" ? {} : { nodeName: "n" })),
    request("POST", configMaps, { metadata: { generateName: "made-" } }),
    request("PATCH", `${configMaps}/${name}`, { data: { k: value } }, merge),
    request("PATCH", `${configMaps}/${name}`, { metadata: { finalizers: null } }, merge),
    request("PATCH", `${configMaps}/${name}`, config, apply),
    request("PATCH", `${pods}/${name}/status`, { status: { phase: yield* pick(["Running", "Failed"]) } }, merge),
    request("POST", `${pods}/${name}/eviction`, { metadata: { name } }),
    request("POST", `${services}/robot/token`, { spec: {} }),
    request("DELETE", `${configMaps}/${name}`),
    request("DELETE", `${pods}/${name}`),
    request("DELETE", `${pods}/${name}`, { gracePeriodSeconds: 0 }),
    request("GET", configMaps, undefined, { query: { limit: 2 } })
  ])
})

const collect = Effect.fnUntraced(function* (log: Array<string>, path: string) {
  const transport = yield* Transport
  const stream = transport.watch(request("GET", path, undefined, { query: { watch: true, allowWatchBookmarks: true } }))
  return yield* Effect.forkScoped(
    Effect.ignore(
      Stream.runForEachArray(stream, (events) =>
        Effect.sync(() => {
          for (const event of events) log.push(`${path} ${JSON.stringify(event)}`)
        })
      )
    ),
    { startImmediately: true }
  )
})

const script = Effect.gen(function* () {
  const log: Array<string> = []
  const server = yield* ApiServer
  const transport = yield* Transport
  yield* transport.send(request("POST", services, { metadata: { name: "robot" } }))
  yield* server.setFaults([
    { match: { verb: "patch" }, times: 30, fault: { _tag: "DropAnswer" } },
    { match: { verb: "create" }, times: 20, fault: { _tag: "Throttle", retryAfterSeconds: 1 } },
    { match: { verb: "delete" }, times: 20, fault: { _tag: "Delay", millis: 2500 } },
    { match: { verb: "watch", path: configMaps }, times: 1, fault: { _tag: "DuplicateEvents" } },
    { match: { verb: "watch", path: pods }, times: 1, fault: { _tag: "CutWatch", after: 400, how: "reset" } }
  ])
  const watches = yield* Effect.forEach([configMaps, pods], (path) => collect(log, path))
  for (let i = 0; i < 2000; i++) {
    const call = yield* anyCall
    const fiber = yield* Effect.forkChild(Effect.exit(transport.send(call)), { startImmediately: true })
    yield* TestClock.adjust(2500 + (yield* Random.nextIntBetween(0, 1500)))
    yield* settle
    const exit = yield* Fiber.join(fiber)
    log.push(
      `${i} ${call.method} ${call.path} ${exit._tag === "Success" ? JSON.stringify(exit.value.body) : String(exit.cause)}`
    )
  }
  yield* Effect.forEach(watches, Fiber.interrupt)
  return log.join("\n")
})

const log = await script.pipe(
  Effect.scoped,
  Effect.provide(
    ApiServer.layerTransport.pipe(
      Layer.provideMerge(ApiServer.layer({ history: 500 })),
      Layer.provideMerge(TestClock.layer())
    )
  ),
  Random.withSeed(process.argv[2] ?? ""),
  Effect.runPromise
)

process.stdout.write(log)
