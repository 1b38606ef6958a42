import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import * as ApiError from "../../../src/kube/ApiError.ts"
import type * as Watch from "../../../src/streams/watch/watch.ts"
import {
  bookmark,
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
  tooLarge,
  words
} from "./watchServer.ts"

/** The response to a streaming list; other requests succeed. */
const streamOf = (request: Watch.WatchRequest, answer: Stream.Stream<Watch.WatchEvent>) =>
  request.sendInitialEvents === true ? answer : undefined

describe("initial state", () => {
  it.effect("lists any version in pages of 500 and watches from the version of the list", () =>
    Effect.gen(function* () {
      const server = serverWith(1001)
      const { changes, deltas, store } = yield* start(server, never)
      assert.deepStrictEqual(tags(changes), ["Restarted", "Listed", "Listed", "Listed", "Synced"])
      assert.deepStrictEqual(
        server.requests.map(({ kind, options }) => [kind, options.limit, options.continue, options.resourceVersion]),
        [
          ["list", 500, undefined, "0"],
          ["list", 500, "1011:500", undefined],
          ["list", 500, "1011:1000", undefined],
          ["watch", undefined, undefined, "1011"]
        ]
      )
      assert.isTrue(deltas.every((delta) => delta._tag === "Created" && delta.initial))
      assert.deepStrictEqual([deltas.length, store.size, store.resourceVersion], [1001, 1001, "1011"])
      server.put("late")
      server.remove("o1")
    })
  )

  it.effect("requests a random server-side timeout from five to ten minutes, and bookmarks", () =>
    Effect.gen(function* () {
      const server = serverWith(1)
      const { settle } = yield* start(server, never)
      for (let i = 0; i < 30; i++) {
        yield* TestClock.adjust("20 seconds")
        server.close()
        yield* settle
      }
      const timeouts = server.requests.flatMap(({ options }) => options.timeoutSeconds ?? [])
      assert.strictEqual(timeouts.length, 31)
      assert.isTrue(timeouts.every((seconds) => Number.isInteger(seconds) && seconds >= 300 && seconds < 600))
      assert.isAbove(new Set(timeouts).size, 5)
      assert.isTrue(
        server.requests.every(({ kind, options }) => kind === "list" || options.allowWatchBookmarks === true)
      )
    })
  )

  it.effect("uses a streaming list with one request if the server supports it", () =>
    Effect.gen(function* () {
      const server = serverWith(3)
      server.streaming = true
      const { changes, settle, store } = yield* start(server)
      assert.deepStrictEqual([store.synced, store.size, store.resourceVersion], [true, 3, "13"])
      server.put("late")
      yield* settle
      assert.deepStrictEqual(
        server.requests.map(({ kind, options }) => [
          kind,
          options.resourceVersion,
          options.sendInitialEvents,
          options.resourceVersionMatch
        ]),
        [["watch", "", true, "NotOlderThan"]]
      )
      assert.deepStrictEqual([tags(changes)[0], tags(changes).at(-1)], ["Restarted", "Changed"])
      assert.deepStrictEqual(state(store.list()), state(server.objects.values()))
    })
  )

  it.effect("a deletion among the initial events of a streaming list removes the object", () =>
    Effect.gen(function* () {
      const server = serverWith(2)
      const [a, b] = Array.from(server.objects.values())
      server.onWatch = () =>
        Stream.concat(
          Stream.fromArray([
            { type: "ADDED", object: a },
            { type: "ADDED", object: b },
            { type: "DELETED", object: { ...a, metadata: { ...a?.metadata, resourceVersion: "13" } } },
            bookmark(14, true),
            { type: "MODIFIED", object: { ...b, metadata: { ...b?.metadata, resourceVersion: "15" } } }
          ]),
          Stream.never
        )
      const { deltas, store } = yield* start(server)
      assert.deepStrictEqual(words(deltas), ["Created ns/o1", "Updated ns/o1"])
      assert.strictEqual(store.resourceVersion, "15")
    })
  )

  const refusals: ReadonlyArray<readonly [string, (server: Server) => void]> = [
    [
      "400",
      (server) =>
        (server.onWatch = (request) => (request.sendInitialEvents ? Stream.fail(status(400, "BadRequest")) : undefined))
    ],
    ["422", () => {}],
    [
      "bookmarks without the annotation",
      (server) => (server.onWatch = (request) => (request.sendInitialEvents ? Stream.make(bookmark(1)) : undefined))
    ]
  ]
  const kindsOf = (server: Server) => server.requests.map(({ kind }) => kind)
  /** Expires the watched version, so that a full state is read again. */
  const expire = (server: Server) => {
    server.put("x")
    server.compact()
    server.close(gone())
  }
  const ofStreaming = (answer: () => ApiError.ApiError) => (server: Server) => {
    server.streaming = true
    server.onWatch = (request) => (request.sendInitialEvents ? Stream.fail(answer()) : undefined)
  }

  /** The requests of a fallback: a streaming list, pages instead of it, and the watch that follows. */
  const once = ["watch", "list", "watch"]
  const startFallingBack = Effect.fnUntraced(function* (prepare: (server: Server) => void) {
    const server = serverWith(3)
    prepare(server)
    const started = yield* start(server)
    assert.deepStrictEqual(kindsOf(server), once)
    return { ...started, server }
  })

  for (const [title, prepare] of refusals) {
    it.effect(`lists in pages at once, and for an hour, after a streaming list fails with ${title}`, () =>
      Effect.gen(function* () {
        const { server, settle, store } = yield* startFallingBack(prepare)
        assert.deepStrictEqual([store.synced, store.size], [true, 3])
        expire(server)
        yield* settle
        assert.deepStrictEqual(kindsOf(server), [...once, "list", "watch"])
        server.silence()
        yield* TestClock.adjust("1 hour")
        const before = server.requests.length
        expire(server)
        yield* settle
        assert.deepStrictEqual(kindsOf(server).slice(before), once)
      })
    )
  }

  const failing: ReadonlyArray<readonly [string, (server: Server) => void]> = [
    ["an ERROR event of 500", ofStreaming(() => ApiError.fromWatchError(context, { kind: "Status", code: 500 }))],
    ["503", ofStreaming(() => status(503, "ServiceUnavailable"))],
    ["504 of another cause", ofStreaming(() => status(504, "Timeout"))],
    ["403", ofStreaming(() => status(403, "Forbidden"))],
    ["404", ofStreaming(() => status(404, "NotFound"))],
    ["a reset", ofStreaming(reset)],
    ["what is not JSON", ofStreaming(() => ApiError.decode(context, "not JSON"))],
    ["an end without its mark", (server) => (server.onWatch = (request) => streamOf(request, Stream.empty))],
    [
      "an object without a name",
      (server) =>
        (server.onWatch = (request) =>
          streamOf(request, Stream.make({ type: "ADDED", object: { metadata: { resourceVersion: "1" } } } as const)))
    ]
  ]
  for (const [title, prepare] of failing) {
    it.effect(`lists in pages at once, and streams the next time, after a list fails with ${title}`, () =>
      Effect.gen(function* () {
        const { server, settle, store } = yield* startFallingBack(prepare)
        assert.deepStrictEqual(state(store.list()), state(server.objects.values()))
        yield* TestClock.adjust("20 seconds")
        expire(server)
        yield* settle
        assert.deepStrictEqual(kindsOf(server), [...once, ...once])
        assert.deepStrictEqual(state(store.list()), state(server.objects.values()))
      })
    )
  }

  const passing: ReadonlyArray<readonly [string, () => ApiError.ApiError]> = [
    ["429", () => status(429, "TooManyRequests")],
    ["a connection that is refused", refused],
    ["a version that is too large", tooLarge]
  ]
  for (const [title, error] of passing) {
    it.effect(`requests a streaming list again after a wait when it fails with ${title}`, () =>
      Effect.gen(function* () {
        const server = serverWith(3)
        server.streaming = true
        server.onWatch = (_, n) => (n <= 2 ? Stream.fail(error()) : undefined)
        const { store } = yield* start(server)
        assert.deepStrictEqual(kindsOf(server), ["watch"])
        yield* TestClock.adjust("10 seconds")
        assert.deepStrictEqual(kindsOf(server), ["watch", "watch", "watch"])
        assert.deepStrictEqual([store.synced, store.size], [true, 3])
      })
    )
  }

  it.effect("lists in pages at once, and for an hour, after nothing arrives for a streaming list", () =>
    Effect.gen(function* () {
      const server = serverWith(2)
      server.onWatch = (request) => streamOf(request, Stream.never)
      const { settle, store } = yield* start(server)
      assert.isFalse(store.synced)
      yield* TestClock.adjust("70 seconds")
      assert.deepStrictEqual([store.synced, store.size], [true, 2])
      expire(server)
      yield* settle
      assert.deepStrictEqual(kindsOf(server), ["watch", "list", "watch", "list", "watch"])
    })
  )

  it.effect("a list of null items is empty; a list without a version is retried", () =>
    Effect.gen(function* () {
      const server = serverWith(0)
      server.onList = (_, n) =>
        Effect.succeed({ metadata: n === 1 ? {} : { resourceVersion: "7" }, items: null as never })
      const { changes, store } = yield* start(server, never)
      assert.deepStrictEqual(
        failures(changes).map(({ reason }) => reason),
        ["Decode"]
      )
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual([store.synced, store.size, store.resourceVersion], [true, 0, "7"])
    })
  )
})

describe("transform", () => {
  it.effect("is applied to listed and watched objects, and an exception is a failure of the watch, not a defect", () =>
    Effect.gen(function* () {
      const server = serverWith(1)
      let broken = false
      const transform = (object: KubeObject): KubeObject => {
        if (broken) throw new Error("no")
        return { ...object, kind: "Pod" }
      }
      const { changes, settle, store } = yield* start(server, { ...never, transform })
      server.put("a")
      yield* settle
      broken = true
      server.put("b")
      yield* settle
      assert.deepStrictEqual(
        store.list().map((object) => `${object.kind} ${object.metadata.name}`),
        ["Pod o0", "Pod a"]
      )
      assert.deepStrictEqual(
        failures(changes).map(({ reason }) => reason),
        ["Decode"]
      )
      broken = false
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(store.size, 3)
      assert.deepStrictEqual(
        server.requests.map(({ kind }) => kind),
        ["list", "watch", "watch"]
      )
    })
  )
})

describe("too large resource versions", () => {
  it.effect("the watch waits for a replica that is behind, without a relist", () =>
    Effect.gen(function* () {
      const server = serverWith(1)
      server.onWatch = (_, n) => (n <= 4 ? Stream.fail(tooLarge()) : undefined)
      const { changes } = yield* start(server, never)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(
        server.requests.map(({ kind }) => kind),
        ["list", "watch", "watch", "watch", "watch", "watch"]
      )
      assert.deepStrictEqual(
        failures(changes).map(({ attempt }) => attempt),
        [1, 2, 3, 4]
      )
    })
  )

  it.effect("a server whose versions went backwards is listed again after some failures", () =>
    Effect.gen(function* () {
      const server = serverWith(3)
      const { settle, store } = yield* start(server, never)
      server.remove("o1")
      yield* settle
      const silent = server.silence()
      server.version = 2
      server.objects.clear()
      server.log.length = 0
      server.put("restored")
      server.onWatch = (request) =>
        Number(request.resourceVersion) > server.version ? Stream.fail(tooLarge()) : undefined
      server.close(reset(), silent)
      yield* TestClock.adjust("10 minutes")
      yield* settle
      assert.deepStrictEqual(state(store.list()), state(server.objects.values()))
      assert.strictEqual(store.resourceVersion, "3")
    })
  )
})
