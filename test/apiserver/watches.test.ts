/** watch: which events are delivered, in which order, and how a watch ends. In virtual time. */
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { Transport } from "../../src/layers/Transport.ts"
import {
  born,
  configMap,
  configMaps,
  get,
  layer,
  nth,
  patch,
  pod,
  pods,
  post,
  put,
  remove,
  same,
  settle,
  watch
} from "./client.ts"

const initialEnd = (event: any) => event.object.metadata.annotations?.["k8s.io/initial-events-end"]

describe("watch", () => {
  it.effect("delivers the changes after its start revision, in order and once", () =>
    Effect.gen(function* () {
      yield* post(configMaps, configMap("old"))
      const from = (yield* get(configMaps)).metadata.resourceVersion
      yield* post(configMaps, configMap("a"))
      const seen = yield* watch(configMaps, { resourceVersion: from })
      yield* settle
      yield* put(`${configMaps}/a`, configMap("a", { k: "1" }))
      yield* post("/api/v1/namespaces/kube-system/configmaps", configMap("elsewhere"))
      yield* post(pods, pod("other-kind"))
      yield* remove(`${configMaps}/a`)
      yield* settle
      same(seen.seen(), ["ADDED a", "MODIFIED a", "DELETED a"])
      const versions = seen.events.map((event: any) => Number(event.object.metadata.resourceVersion))
      same(versions, [born + 2, born + 3, born + 6])
      same((seen.events[2]?.object as any).data, { k: "1" })
      same((seen.events[0]?.object as any).kind, "ConfigMap")
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )

  it.effect("omits managedFields, and nothing else, on request", () =>
    Effect.gen(function* () {
      yield* post(configMaps, configMap("a", { k: "0" }))
      const transport = yield* Transport
      const context = { verb: "watch", path: configMaps }
      const first = (omitManagedFields: boolean) =>
        transport
          .watch({ method: "GET", path: configMaps, context, omitManagedFields })
          .pipe(Stream.take(2), Stream.runCollect, Effect.forkScoped({ startImmediately: true }))
      const [all, some] = [yield* first(false), yield* first(true)]
      yield* settle
      yield* put(`${configMaps}/a`, configMap("a", { k: "1" }))
      const whole: ReadonlyArray<any> = yield* Fiber.join(all)
      same(
        whole.map(({ object }) => object.metadata.managedFields.length),
        [1, 1]
      )
      for (const { object } of whole) delete object.metadata.managedFields
      same(yield* Fiber.join(some), whole)
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )

  it.effect("without a resourceVersion, or from 0, starts with the present objects", () =>
    Effect.gen(function* () {
      yield* post(configMaps, configMap("a"))
      yield* post(configMaps, configMap("b"))
      const unset = yield* watch(configMaps)
      const zero = yield* watch(configMaps, { resourceVersion: "0" })
      yield* post(configMaps, configMap("c"))
      yield* settle
      same(unset.seen(), ["ADDED a", "ADDED b", "ADDED c"])
      same(zero.seen(), ["ADDED a", "ADDED b", "ADDED c"])
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )

  it.effect("delivers ADDED or DELETED, with the last matching state, when an object starts or stops matching", () =>
    Effect.gen(function* () {
      const seen = yield* watch(pods, { labelSelector: "app=web" })
      const running = yield* watch(pods, { fieldSelector: "status.phase=Running" })
      yield* post(pods, pod("a"))
      yield* patch(`${pods}/a`, "merge", { metadata: { labels: { app: "web" } } })
      yield* patch(`${pods}/a`, "merge", { metadata: { annotations: { n: "1" } } })
      const left = yield* patch(`${pods}/a`, "merge", { metadata: { labels: { app: "db" } } })
      yield* patch(`${pods}/a/status`, "merge", { status: { phase: "Running" } })
      yield* remove(`${pods}/a`)
      yield* settle
      same(seen.seen(), ["ADDED a", "MODIFIED a", "DELETED a"])
      same((seen.events[2]?.object as any).metadata.labels, { app: "web" })
      same((seen.events[2]?.object as any).metadata.resourceVersion, left.metadata.resourceVersion)
      same(running.seen(), ["ADDED a", "DELETED a"])
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )

  it.effect("sendInitialEvents: delivers the initial objects and a bookmark", () =>
    Effect.gen(function* () {
      yield* post(configMaps, configMap("a"))
      yield* post(configMaps, configMap("b"))
      const query = { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: true }
      const seen = yield* watch(configMaps, query)
      yield* settle
      yield* post(configMaps, configMap("c"))
      yield* settle
      same(
        seen.events.map((event) => event.type),
        ["ADDED", "ADDED", "BOOKMARK", "ADDED"]
      )
      same([initialEnd(seen.events[2]), (seen.events[2]?.object as any).metadata.resourceVersion], ["true", nth(2)])
      const wrong = yield* watch(configMaps, { sendInitialEvents: true })
      yield* settle
      same(Exit.isFailure(yield* wrong.done), true)
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )

  it.effect("sends a bookmark with the revision of the log every minute, on request", () =>
    Effect.gen(function* () {
      const seen = yield* watch(configMaps, { resourceVersion: nth(0), allowWatchBookmarks: true })
      const plain = yield* watch(configMaps, { resourceVersion: nth(0) })
      yield* settle
      yield* post(pods, pod("unrelated"))
      yield* TestClock.adjust("59 seconds")
      same(seen.events.length, 0)
      yield* TestClock.adjust("1 second")
      yield* settle
      same(
        seen.events.map((event: any) => [event.type, event.object.kind, event.object.metadata.resourceVersion]),
        [["BOOKMARK", "ConfigMap", nth(1)]]
      )
      yield* TestClock.adjust("10 minutes")
      same([seen.events.length, plain.events.length], [11, 0])
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )

  it.effect("ends cleanly after timeoutSeconds, with a last bookmark two seconds before", () =>
    Effect.gen(function* () {
      const seen = yield* watch(configMaps, { resourceVersion: nth(0), allowWatchBookmarks: true, timeoutSeconds: 30 })
      yield* settle
      yield* TestClock.adjust("28 seconds")
      same(seen.events.length, 1)
      yield* TestClock.adjust("1999 millis")
      same(seen.fiber.pollUnsafe(), undefined)
      yield* TestClock.adjust("1 millis")
      same(Exit.isSuccess(yield* seen.done), true)
      same(yield* (yield* ApiServer).watchers, 0)
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )

  it.effect(
    "from before a compaction the stream ends with 410; the change at the compaction can still be watched",
    () =>
      Effect.gen(function* () {
        yield* post(configMaps, configMap("a"))
        yield* put(`${configMaps}/a`, configMap("a", { k: "1" }))
        yield* (yield* ApiServer).compact()
        const late = yield* watch(configMaps, { resourceVersion: nth(0) })
        yield* settle
        const error = yield* Effect.flip(Fiber.join(late.fiber))
        same([error.reason._tag, error.detail], ["Gone", `too old resource version: ${nth(0)} (${nth(1)})`])
        const just = yield* watch(configMaps, { resourceVersion: nth(1) })
        const present = yield* watch(configMaps, { resourceVersion: nth(2) })
        yield* post(configMaps, configMap("b"))
        yield* settle
        same([just.seen(), present.seen()], [["MODIFIED a", "ADDED b"], ["ADDED b"]])
      }).pipe(Effect.scoped, Effect.provide(layer()))
  )

  it.effect("a synced watcher survives a compaction", () =>
    Effect.gen(function* () {
      const seen = yield* watch(configMaps, { resourceVersion: nth(0) })
      yield* settle
      yield* post(pods, pod("a"))
      yield* post(pods, pod("b"))
      yield* (yield* ApiServer).compact()
      yield* post(configMaps, configMap("a"))
      yield* settle
      same(seen.seen(), ["ADDED a"])
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )

  it.effect("requests compact the log as time passes", () =>
    Effect.gen(function* () {
      yield* post(configMaps, configMap("a"))
      yield* put(`${configMaps}/a`, configMap("a", { k: "1" }))
      const early = yield* watch(configMaps, { resourceVersion: nth(1) })
      yield* settle
      same(early.seen(), ["MODIFIED a"])
      for (let i = 0; i < 3; i++) {
        yield* TestClock.adjust("5 minutes")
        yield* get(configMaps)
      }
      const late = yield* watch(configMaps, { resourceVersion: nth(0) })
      yield* settle
      same((yield* Effect.flip(Fiber.join(late.fiber))).reason._tag, "Gone")
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )

  it.effect("one that lags behind the retained history ends with 410; writers never wait", () =>
    Effect.gen(function* () {
      const slow = yield* watch(configMaps, { resourceVersion: nth(0) })
      yield* settle
      // Without a yield: the watcher is woken at the first change and cannot run before the last.
      yield* post(configMaps, configMap("a"))
      yield* Effect.forEach(Array.from({ length: 40 }), (_, i) =>
        put(`${configMaps}/a`, configMap("a", { n: String(i) }))
      )
      yield* settle
      const error = yield* Effect.flip(Fiber.join(slow.fiber))
      same(error.reason._tag, "Gone")
      same((yield* get(`${configMaps}/a`)).data, { n: "39" })
    }).pipe(Effect.scoped, Effect.provide(layer({ history: 10 })))
  )

  it.effect("PartialObjectMetadata; watchers share no objects", () =>
    Effect.gen(function* () {
      const accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
      const partial = yield* watch(pods, {}, accept)
      const one = yield* watch(pods)
      const other = yield* watch(pods)
      yield* post(pods, pod("a"))
      yield* settle
      same(
        [(partial.events[0]?.object as any).kind, (partial.events[0]?.object as any).spec],
        ["PartialObjectMetadata", undefined]
      )
      same(one.events, other.events)
      same(one.events[0]?.object === other.events[0]?.object, false)
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )

  it.effect("ends when the server becomes unavailable", () =>
    Effect.gen(function* () {
      const server = yield* ApiServer
      const seen = yield* watch(pods)
      yield* settle
      same(yield* server.watchers, 1)
      yield* server.setUnavailable(true)
      same(Exit.isSuccess(yield* seen.done), true)
      same((yield* Effect.flip(get(pods))).status, 503)
      yield* server.setUnavailable(false)
      same((yield* get(pods)).items, [])
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )
})
