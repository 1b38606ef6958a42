/** The cases of the regression list (failures of comparable projects) that concern a watch, in virtual time. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as ApiError from "../../../src/kube/ApiError.ts"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import * as Trigger from "../../../src/streams/store/trigger.ts"
import {
  context,
  failures,
  gone,
  never,
  refused,
  reset,
  type Server,
  serverWith,
  start,
  state,
  status,
  tags,
  words
} from "./watchServer.ts"

const gaps = (server: Server, kind: "list" | "watch"): ReadonlyArray<number> => {
  const times = server.requests.filter((request) => request.kind === kind).map((request) => request.at)
  return times.slice(1).map((at, i) => at - (times[i] ?? 0))
}

describe("regression list", () => {
  const startFailures: ReadonlyArray<readonly [string, () => ApiError.ApiError, number]> = [
    ["429 with Retry-After", () => status(429, "TooManyRequests", { retryAfterSeconds: 45 }), 45_000],
    ["500", () => status(500, "InternalError"), 0],
    ["503", () => status(503, "ServiceUnavailable"), 0],
    ["401", () => status(401, "Unauthorized"), 0],
    ["403", () => status(403, "Forbidden"), 0],
    ["connection refused", refused, 0]
  ]
  for (const [title, error, least] of startFailures) {
    it.effect(`case 1: a watch that fails with ${title} is retried without end, with bounded delays`, () =>
      Effect.gen(function* () {
        const server = serverWith(2)
        let broken = true
        server.onWatch = () => (broken ? Stream.fail(error()) : undefined)
        const { changes, settle, store } = yield* start(server, never)
        yield* TestClock.adjust("10 minutes")
        const delays = failures(changes).map(({ delay }) => delay)
        assert.isAtLeast(delays.length, 10)
        delays.forEach((delay, i) => {
          const base = Math.min(800 * 2 ** i, 30_000)
          assert.isAtLeast(delay, Math.max(base, least))
          assert.isBelow(delay, Math.max(2 * base, least + 1))
        })
        assert.deepStrictEqual(
          failures(changes).map(({ attempt }) => attempt),
          delays.map((_, i) => i + 1)
        )
        assert.strictEqual(server.requests.filter(({ kind }) => kind === "list").length, 1)
        broken = false
        server.put("x")
        yield* TestClock.adjust("1 minute")
        yield* settle
        assert.deepStrictEqual(state(store.list()), state(server.objects.values()))
      })
    )
  }

  it.effect("case 1: the backoff is reset after two minutes without a failure, not before", () =>
    Effect.gen(function* () {
      const server = serverWith(1)
      const { changes, settle } = yield* start(server, never)
      const attempts = () => failures(changes).map(({ attempt }) => attempt)
      for (const quiet of [1, 60, 110, 125]) {
        for (let i = 0; i < quiet; i++) {
          yield* TestClock.adjust("1 second")
          server.bookmark()
          yield* settle
        }
        server.close(reset())
        yield* settle
        yield* TestClock.adjust("10 seconds")
      }
      assert.deepStrictEqual(attempts(), [1, 2, 3, 1])
    })
  )

  it.effect("case 2: a reset, a clean close and an idle connection resume from the last version without a relist", () =>
    Effect.gen(function* () {
      const server = serverWith(2)
      const { changes, deltas, settle, store } = yield* start(server, never)
      server.put("a")
      yield* settle
      server.close(reset())
      yield* settle
      server.put("b")
      yield* TestClock.adjust("20 seconds")
      server.close()
      yield* settle
      server.put("c")
      yield* settle
      server.silence()
      server.put("d")
      yield* TestClock.adjust("69 seconds")
      assert.isUndefined(store.get("ns/d"))
      yield* TestClock.adjust("1 second")
      yield* settle
      assert.deepStrictEqual(state(store.list()), state(server.objects.values()))
      assert.deepStrictEqual(
        server.requests.map(({ kind, options }) => `${kind} ${options.resourceVersion}`),
        ["list 0", "watch 12", "watch 13", "watch 14", "watch 15"]
      )
      assert.deepStrictEqual(words(deltas.slice(2)), ["Created ns/a", "Created ns/b", "Created ns/c", "Created ns/d"])
      assert.deepStrictEqual(
        failures(changes).map(({ reason }) => reason),
        ["Network", "Timeout"]
      )
      assert.strictEqual(server.open, 1)
    })
  )

  it.effect("case 3: a server that closes every watch after one event gets a bounded rate of requests", () =>
    Effect.gen(function* () {
      const server = serverWith(1)
      server.onWatch = () => {
        const object = server.put("hot")
        return Stream.make({ type: "MODIFIED", object })
      }
      const { store } = yield* start(server, never)
      yield* TestClock.adjust("30 minutes")
      const watches = server.requests.filter(({ kind }) => kind === "watch").length
      assert.isAtLeast(watches, 30)
      assert.isAtMost(watches, 6 + 60)
      assert.strictEqual(server.requests.length, watches + 1)
      assert.strictEqual(store.get("ns/hot")?.metadata.resourceVersion, String(server.version))
    })
  )

  const expiries = [
    ["in the stream", gone, []],
    ["as a status", () => undefined, ["watch 711 any"]]
  ] as const
  for (const [title, error, first] of expiries) {
    it.effect(`case 4: 410 ${title} causes one atomic relist, and queues the owners of deleted objects`, () =>
      Effect.gen(function* () {
        const server = serverWith(700)
        const owned = server.put("owned")
        const reference = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "rs", uid: "u", controller: true }
        server.objects.set("ns/owned", { metadata: { ...owned.metadata, ownerReferences: [reference] } })
        const { changes, deltas, settle, store } = yield* start(server, never)
        yield* TestClock.adjust("20 seconds")
        const before = server.requests.length
        const sizes: Array<number> = []
        server.onList = () => {
          sizes.push(store.size)
          return undefined
        }
        const silent = server.silence()
        server.remove("owned")
        server.remove("o3")
        server.put("new")
        server.compact()
        server.close(error(), silent)
        yield* settle
        assert.deepStrictEqual(
          server.requests
            .slice(before)
            .map(({ kind, options }) => `${kind} ${options.resourceVersion} ${options.resourceVersionMatch ?? "any"}`),
          [...first, "list 711 NotOlderThan", "list undefined any", "watch 714 any"]
        )
        assert.deepStrictEqual(sizes, [701, 701])
        const news = deltas.slice(701)
        assert.deepStrictEqual(words(news), ["Deleted? ns/o3", "Deleted? ns/owned", "Created ns/new"])
        const owners = Trigger.owner({ group: "apps", kind: "ReplicaSet" })
        assert.deepStrictEqual(
          news.flatMap((delta) => owners(delta)),
          ["ns/rs"]
        )
        assert.deepStrictEqual(failures(changes), [{ reason: "Gone", attempt: 0, delay: 0 }])
      })
    )
  }

  it.effect("case 4: 410 on a continue token restarts the list, at its version, then at the most recent", () =>
    Effect.gen(function* () {
      const server = serverWith(1200)
      server.onList = (request, n) => (request.continue !== undefined && n <= 4 ? Effect.fail(gone()) : undefined)
      const { changes, store } = yield* start(server, never)
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual([store.synced, store.size], [true, 1200])
      assert.deepStrictEqual(
        server.requests.map(
          ({ kind, options }) => `${kind} ${options.continue ?? options.resourceVersion ?? "newest"}`
        ),
        [
          "list 0",
          "list 1210:500",
          "list 1210",
          "list 1210:500",
          "list newest",
          "list 1210:500",
          "list 1210:1000",
          "watch 1210"
        ]
      )
      assert.deepStrictEqual(tags(changes).filter((tag) => tag === "Synced").length, 1)
    })
  )

  it.effect("case 4: a server that always responds with 410 gets a bounded rate of requests", () =>
    Effect.gen(function* () {
      const server = serverWith(1)
      server.onWatch = () => Stream.fail(gone())
      yield* start(server, never)
      yield* TestClock.adjust("30 minutes")
      assert.isAtLeast(server.requests.length, 60)
      assert.isAtMost(server.requests.length, 2 * 70)
    })
  )

  it.effect("case 5: an ERROR that is not 410, or a malformed event, resumes at the last good version", () =>
    Effect.gen(function* () {
      const faults: ReadonlyArray<(server: Server) => void> = [
        (server) => server.close(ApiError.fromWatchError(context, { kind: "Status", code: 500, message: "etcd" })),
        (server) => server.close(ApiError.decode(context, "a line of the watch is not valid JSON")),
        (server) => server.send({ type: "MODIFIED", object: { metadata: { resourceVersion: "999" } } }),
        (server) => server.send({ type: "MODIFIED", object: { metadata: { name: "o0", namespace: "ns" } } }),
        (server) => server.send({ type: "MODIFIED", object: null }),
        (server) => server.send({ type: "BOOKMARK", object: "text" })
      ]
      for (const fault of faults) {
        const server = serverWith(1)
        const { changes, deltas, settle, store } = yield* start(server, never)
        server.put("good")
        fault(server)
        server.live.clear()
        server.put("later")
        yield* settle
        assert.strictEqual(store.resourceVersion, "12")
        assert.strictEqual(failures(changes).length, 1)
        yield* TestClock.adjust("2 seconds")
        assert.deepStrictEqual(words(deltas.slice(1)), ["Created ns/good", "Created ns/later"])
        assert.deepStrictEqual(
          server.requests.map(({ kind, options }) => `${kind} ${options.resourceVersion}`),
          ["list 0", "watch 11", "watch 12"]
        )
        assert.strictEqual(server.open, 1)
      }
    })
  )

  it.effect("case 6: ten minutes with only bookmarks advance the version on one connection", () =>
    Effect.gen(function* () {
      const server = serverWith(1)
      const { changes, deltas, settle, store } = yield* start(server, never)
      for (let minute = 0; minute < 10; minute++) {
        yield* TestClock.adjust("1 minute")
        server.bookmark()
        yield* settle
      }
      assert.strictEqual(store.resourceVersion, String(server.version))
      assert.deepStrictEqual([server.requests.length, deltas.length, failures(changes).length], [2, 1, 0])
      server.close()
      yield* settle
      assert.strictEqual(server.requests.at(-1)?.options.resourceVersion, String(server.version))
    })
  )

  it.effect("case 7: a deletion and a recreation while no watch is open are one deletion and one creation", () =>
    Effect.gen(function* () {
      const server = serverWith(1)
      const { deltas, settle } = yield* start(server, never)
      server.silence()
      server.remove("o0")
      server.put("o0", { uid: "second" })
      server.compact()
      yield* TestClock.adjust("70 seconds")
      yield* settle
      assert.deepStrictEqual(words(deltas), ["Created ns/o0", "Deleted? ns/o0", "Created ns/o0"])
      assert.deepStrictEqual(
        deltas.map((delta) => delta.object.metadata.uid),
        ["uid-o0", "uid-o0", "second"]
      )
    })
  )

  it.effect("case 8: interrupted in any phase, a watch sends no request and leaves no connection open", () =>
    Effect.gen(function* () {
      const moments: ReadonlyArray<(server: Server) => void> = [
        (server) => (server.onList = () => Effect.never),
        (server) => (server.onList = (_, n) => (n === 2 ? Effect.never : undefined)),
        (server) => (server.onList = () => Effect.fail(refused())),
        (server) => (server.onWatch = () => Stream.fail(refused())),
        (server) => (server.onWatch = () => Stream.never),
        () => {}
      ]
      for (const prepare of moments) {
        const server = serverWith(600)
        prepare(server)
        const { changes, stop } = yield* start(server, never)
        const requests = server.requests.length
        const emitted = changes.length
        yield* stop
        assert.strictEqual(server.open, 0)
        assert.strictEqual(server.live.size, 0)
        server.put("x")
        yield* TestClock.adjust("1 hour")
        assert.deepStrictEqual([server.requests.length, changes.length], [requests, emitted])
      }
    })
  )

  it.effect("case 11: a source that always fails does not delay another one", () =>
    Effect.gen(function* () {
      const broken = serverWith(1)
      broken.onList = () => Effect.fail(refused())
      const healthy = serverWith(1)
      yield* start(broken, never)
      const { changes, settle, store } = yield* start(healthy, never)
      for (let i = 0; i < 20; i++) {
        yield* TestClock.adjust("15 seconds")
        healthy.close()
        yield* settle
        healthy.put("x")
        yield* settle
        assert.strictEqual(store.resourceVersion, String(healthy.version))
      }
      assert.strictEqual(failures(changes).length, 0)
      assert.isTrue(gaps(healthy, "watch").every((gap) => gap === 15_000))
      assert.isAtLeast(Math.max(...gaps(broken, "list")), 30_000)
    })
  )

  it.effect("case 15: a list and a watch keep unknown fields and timestamps", () =>
    Effect.gen(function* () {
      const server = serverWith(0)
      const object = (resourceVersion: string) => ({
        metadata: {
          name: "a",
          namespace: "ns",
          uid: "u",
          resourceVersion,
          creationTimestamp: "2024-01-01T00:00:00.123456Z"
        },
        spec: { "x-unknown": { deep: [1, null, { "": "empty key" }] } },
        nulls: null
      })
      server.onList = () => Effect.succeed({ metadata: { resourceVersion: "5" }, items: [object("4")] })
      server.onWatch = () =>
        Stream.concat(Stream.make({ type: "MODIFIED", object: object("6") } as const), Stream.never)
      const { deltas, store } = yield* start(server, never)
      const stored: KubeObject | undefined = store.get("ns/a")
      assert.deepStrictEqual(stored, object("6"))
      assert.deepStrictEqual(deltas[0]?.object, object("4"))
    })
  )
})
