/**
 * The cases of the regression list that need real sockets, on loopback: the watch machine over `KubeClient` over `HttpTransport`. Its own waits are
 * in virtual time; for the network the test waits for events.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Pod } from "../../src/kube/resources.ts"
import { CredentialsError, Endpoint } from "../../src/layers/Endpoint.ts"
import * as HttpTransport from "../../src/platform/HttpTransport.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Transport } from "../../src/layers/Transport.ts"
import type { Change } from "../../src/streams/watch/protocol.ts"
import * as Watch from "../../src/streams/watch/watch.ts"
import { start, type TestServer } from "../support/httpsServer.ts"

interface Arrival {
  readonly url: string
  readonly response: ServerResponse
}

/** Values handed over one by one; taking waits. */
const mailbox = <A>() => {
  const ready: Array<A> = []
  const takers: Array<(a: A) => void> = []
  return {
    put: (a: A) => {
      const taker = takers.shift()
      if (taker === undefined) ready.push(a)
      else taker(a)
    },
    take: Effect.promise(() => {
      const first = ready.shift()
      return first === undefined ? new Promise<A>((resolve) => takers.push(resolve)) : Promise.resolve(first)
    }),
    waiting: () => ready.length
  }
}

const line = (type: string, name: string, resourceVersion: string) =>
  `${JSON.stringify({ type, object: { kind: "Pod", metadata: { name, resourceVersion } } })}\n`

const list = (response: ServerResponse, resourceVersion: string, next?: string) => {
  const metadata = { resourceVersion, ...(next !== undefined && { continue: next }) }
  response.writeHead(200, { "content-type": "application/json" })
  response.end(JSON.stringify({ kind: "PodList", metadata, items: [] }))
}

const openWatch = (response: ServerResponse) => {
  response.writeHead(200, { "content-type": "application/json" })
  response.flushHeaders()
}

const query = (url: string) => new URL(url, "http://x").searchParams

/** A watch on a server whose responses the test writes. */
const watching = Effect.fnUntraced(function* (
  override: (endpoint: Endpoint["Service"]) => Endpoint["Service"] = (e) => e
) {
  const arrivals = mailbox<Arrival>()
  const server = yield* start((request: IncomingMessage, response) =>
    arrivals.put({ url: request.url ?? "", response })
  )
  const scope = yield* Scope.fork(yield* Effect.scope)
  const transport = yield* Scope.provide(HttpTransport.make(override(Endpoint.fixed({ server: server.url }))), scope)
  const client = Context.get(
    yield* Layer.buildWithScope(KubeClient.layer.pipe(Layer.provide(Layer.succeed(Transport, transport))), scope),
    KubeClient
  )
  const changes = mailbox<Change<Pod>>()
  const sent = { count: 0 }
  const source: Watch.ListWatch<Pod> = {
    list: (request) => {
      sent.count++
      return client.listPage(Pod, request)
    },
    watch: (request) => {
      sent.count++
      return client.watch(Pod, request)
    }
  }
  const fiber = yield* Effect.forkIn(
    Stream.runForEach(Watch.watch(source, { streamingList: "never" }), (change) =>
      Effect.sync(() => changes.put(change))
    ),
    scope
  )
  /** Advances the clock until another request than those `before` is in flight, and no further. */
  const untilRequest = Effect.fnUntraced(function* (before: number = sent.count) {
    for (let i = 0; i < 600 && sent.count === before; i++) yield* TestClock.adjust("100 millis")
    assert.isAbove(sent.count, before, "a request within a minute")
  })
  return { server, arrivals, changes, fiber, untilRequest, scope, sent }
})

type Watching = Effect.Success<ReturnType<typeof watching>>

/** Listed at version 10, watching from there, one pod added at version 11. */
const established = Effect.fnUntraced(function* ({ arrivals, changes }: Watching) {
  list((yield* arrivals.take).response, "10")
  const watch = yield* arrivals.take
  assert.strictEqual(query(watch.url).get("resourceVersion"), "10")
  openWatch(watch.response)
  watch.response.write(line("ADDED", "a", "11"))
  const seen: Array<string> = []
  while (seen.at(-1) !== "Changed") seen.push((yield* changes.take)._tag)
  assert.deepStrictEqual(seen, ["Restarted", "Listed", "Synced", "Changed"])
  return watch
})

const lists = ({ requests }: TestServer) => requests.filter((one) => !one.includes("watch=true")).length

/** The next watch resumes at version 11, and works. */
const resumes = Effect.fnUntraced(function* ({ arrivals, changes, server }: Watching) {
  const watch = yield* arrivals.take
  assert.strictEqual(query(watch.url).get("resourceVersion"), "11")
  openWatch(watch.response)
  watch.response.write(line("MODIFIED", "a", "12"))
  let change = yield* changes.take
  while (change._tag === "Failed") change = yield* changes.take
  assert.deepStrictEqual(change._tag === "Changed" && [change.resourceVersion, change.events.length], ["12", 1])
  assert.strictEqual(lists(server), 1, "no relist")
  assert.strictEqual(changes.waiting(), 0, "nothing is told twice")
})

describe("case 2: a lost watch resumes from the last version, without a list and without repeats", () => {
  it.effect("after a socket reset", () =>
    Effect.gen(function* () {
      const run = yield* watching()
      const watch = yield* established(run)
      watch.response.socket?.resetAndDestroy()
      const failed = yield* run.changes.take
      assert.strictEqual(failed._tag === "Failed" && failed.error.reason._tag, "Network")
      yield* run.untilRequest()
      yield* resumes(run)
    })
  )

  it.effect("after a clean close", () =>
    Effect.gen(function* () {
      const run = yield* watching()
      const watch = yield* established(run)
      const closed = new Promise<void>((resolve) => watch.response.once("finish", resolve))
      watch.response.end()
      yield* Effect.promise(() => closed)
      yield* run.untilRequest()
      yield* resumes(run)
    })
  )

  it.effect("after half-open silence, whose connection is closed", () =>
    Effect.gen(function* () {
      const run = yield* watching()
      const watch = yield* established(run)
      const closed = new Promise<void>((resolve) => watch.response.once("close", resolve))
      const before = run.sent.count
      yield* TestClock.adjust("70 seconds")
      yield* Effect.promise(() => closed)
      const failed = yield* run.changes.take
      assert.strictEqual(failed._tag, "Failed")
      yield* run.untilRequest(before)
      yield* resumes(run)
    })
  )

  it.effect("after the server refused connections for a while", () =>
    Effect.gen(function* () {
      const run = yield* watching()
      const watch = yield* established(run)
      run.server.stopListening()
      watch.response.socket?.destroy()
      assert.strictEqual((yield* run.changes.take)._tag, "Failed")
      for (let i = 0; i < 3; i++) {
        yield* run.untilRequest()
        const failed = yield* run.changes.take
        assert.include(failed._tag === "Failed" ? failed.error.message : "", "refuses the connection (ECONNREFUSED)")
      }
      yield* Effect.promise(run.server.listenAgain)
      yield* run.untilRequest()
      yield* resumes(run)
    })
  )
})

describe("case 8: an interrupted watch sends nothing more, leaves no fiber and no socket", () => {
  const ends = Effect.fnUntraced(function* (run: Watching) {
    const before = run.sent.count
    yield* Fiber.interrupt(run.fiber)
    yield* TestClock.adjust("10 minutes")
    assert.strictEqual(run.sent.count, before)
    yield* Scope.close(run.scope, Exit.void)
    yield* Effect.promise(run.server.quiet)
  })

  it.effect("during the list", () =>
    Effect.gen(function* () {
      const run = yield* watching()
      yield* run.arrivals.take
      yield* ends(run)
      assert.strictEqual(run.server.requests.length, 1)
    })
  )

  it.effect("during a later page", () =>
    Effect.gen(function* () {
      const run = yield* watching()
      list((yield* run.arrivals.take).response, "10", "next")
      assert.strictEqual(query((yield* run.arrivals.take).url).get("continue"), "next")
      yield* ends(run)
      assert.strictEqual(run.server.requests.length, 2)
    })
  )

  it.effect("during the watch", () =>
    Effect.gen(function* () {
      const run = yield* watching()
      yield* established(run)
      yield* ends(run)
      assert.strictEqual(run.server.requests.length, 2)
    })
  )

  it.effect("during a backoff", () =>
    Effect.gen(function* () {
      const run = yield* watching()
      const watch = yield* established(run)
      watch.response.socket?.destroy()
      assert.strictEqual((yield* run.changes.take)._tag, "Failed")
      yield* ends(run)
      assert.strictEqual(run.server.requests.length, 2)
    })
  )
})

describe("case 9: credentials", () => {
  it.effect("a provider that fails once delays the watch and does not end it", () =>
    Effect.gen(function* () {
      let failures = 1
      const run = yield* watching((endpoint) =>
        Endpoint.of({
          ...endpoint,
          identity: Effect.suspend(() =>
            failures-- > 0 ? Effect.fail(new CredentialsError({ message: "the plugin failed" })) : endpoint.identity
          )
        })
      )
      let change = yield* run.changes.take
      while (change._tag === "Restarted") change = yield* run.changes.take
      assert.strictEqual(change._tag === "Failed" && change.error.reason._tag, "Credentials")
      assert.isTrue(change._tag === "Failed" && Duration.isGreaterThan(change.delay, Duration.zero))
      assert.strictEqual(run.server.requests.length, 0)
      yield* run.untilRequest()
      list((yield* run.arrivals.take).response, "10")
      assert.isTrue(query((yield* run.arrivals.take).url).has("watch"))
    })
  )
})
