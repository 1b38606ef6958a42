import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import type { KubeObject } from "../../src/kube/Meta.ts"
import { Recorder, type Options } from "../../src/layers/Recorder.ts"
import * as Occurrence from "../../src/layers/recorder/occurrence.ts"
import type { Transport } from "../../src/layers/Transport.ts"
import * as Harness from "../leader/harness.ts"

const pod: KubeObject = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "shop", uid: "u-1", resourceVersion: "7" }
}
const node: KubeObject = { apiVersion: "v1", kind: "Node", metadata: { name: "n1", uid: "u-2" } }

const events = "/api/v1/namespaces/shop/events"

const build = (transport: Transport["Service"], options: Options = {}) =>
  Effect.map(Layer.build(Recorder.layerWith(options).pipe(Layer.provide(Harness.client(transport)))), (context) =>
    Context.get(context, Recorder)
  )

const list = (server: Harness.Server, path = events) =>
  [...server.objects].filter(([key]) => key.startsWith(`${path}/`)).map(([, object]) => object)

describe("Recorder", () => {
  it.effect("writes a core/v1 event as kubectl describe expects it, and increments its count", () =>
    Effect.gen(function* () {
      const server = Harness.server()
      yield* TestClock.setTime(Date.UTC(2026, 0, 1))
      const recorder = yield* build(server.transport, { instance: "host-1" })
      const sink = recorder.named("pod_controller")
      yield* sink.normal(pod, "SuccessCalculatePod", "pod count is 3")
      assert.strictEqual(yield* recorder.outstanding, 1)
      yield* recorder.drained
      assert.strictEqual(yield* recorder.outstanding, 0)
      const [event] = list(server)
      const { metadata, ...rest } = event!
      assert.match(metadata.name, /^web\.[0-9a-f]{16}$/)
      assert.deepStrictEqual(rest, {
        apiVersion: "v1",
        kind: "Event",
        involvedObject: {
          apiVersion: "v1",
          kind: "Pod",
          namespace: "shop",
          name: "web",
          uid: "u-1",
          resourceVersion: "7"
        },
        reason: "SuccessCalculatePod",
        message: "pod count is 3",
        type: "Normal",
        source: { component: "pod_controller", host: "host-1" },
        firstTimestamp: "2026-01-01T00:00:00Z",
        lastTimestamp: "2026-01-01T00:00:00Z",
        count: 1,
        eventTime: null,
        reportingComponent: "pod_controller",
        reportingInstance: "host-1"
      })
      yield* TestClock.adjust("10 seconds")
      yield* sink.normal(pod, "SuccessCalculatePod", "pod count is 3")
      yield* recorder.drained
      assert.strictEqual(list(server).length, 1)
      assert.deepInclude(list(server)[0], { count: 2, lastTimestamp: "2026-01-01T00:00:10Z" })
      assert.deepInclude(list(server)[0], { firstTimestamp: "2026-01-01T00:00:00Z" })
      // The server has deleted the event after an hour: it is created again with its name and the full count.
      server.objects.clear()
      yield* sink.normal(pod, "SuccessCalculatePod", "pod count is 3")
      yield* recorder.drained
      assert.deepInclude(list(server)[0], { count: 3 })
      assert.strictEqual(list(server)[0]!.metadata.name, metadata.name)
    })
  )

  it.effect("logs every event, sent or not", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const logger = Logger.make(({ logLevel, message }) => void lines.push(`${logLevel} ${String(message)}`))
      const recorder = yield* build(
        Harness.faulty(Harness.server().transport, () => ({ _tag: "Error", status: 403, back: 0 }))
      )
      const sink = recorder.named("test")
      yield* Effect.andThen(sink.normal(pod, "R", "fine"), sink.warning(node, "R", "bad")).pipe(
        Effect.provide(Logger.layer([logger])),
        Effect.provideService(References.MinimumLogLevel, "Debug")
      )
      assert.deepStrictEqual(lines, [
        "Debug event Normal R on Pod shop/web from test: fine",
        "Info event Warning R on Node n1 from test: bad"
      ])
      yield* recorder.drained
    })
  )

  it.effect("an event about a cluster-scoped object is stored in default; simultaneous events differ in name", () =>
    Effect.gen(function* () {
      const server = Harness.server()
      const recorder = yield* build(server.transport)
      const sink = recorder.named("test")
      yield* sink.warning(node, "NotReady", "a")
      yield* sink.warning(node, "NotReady", "b")
      yield* recorder.drained
      const stored = list(server, "/api/v1/namespaces/default/events")
      assert.strictEqual(stored.length, 2)
      assert.deepStrictEqual(
        stored.map((event) => [event["type"], event["involvedObject"].namespace]),
        [
          ["Warning", undefined],
          ["Warning", undefined]
        ]
      )
    })
  )

  it.effect("sends at most 25 equal events in a row", () =>
    Effect.gen(function* () {
      const server = Harness.server()
      const recorder = yield* build(server.transport)
      const sink = recorder.named("test")
      for (let i = 0; i < 40; i++) yield* sink.normal(pod, "Same", "again")
      yield* recorder.drained
      assert.strictEqual(server.requests.length, 25)
      yield* TestClock.adjust("300 seconds")
      yield* sink.normal(pod, "Same", "again")
      yield* recorder.drained
      assert.strictEqual(list(server)[0]!["count"], 41)
    })
  )

  it.effect("never waits for a server that hangs: it queues a thousand events and drops the others", () =>
    Effect.gen(function* () {
      const server = Harness.server()
      let hang = true
      const called = yield* Deferred.make<void>()
      const recorder = yield* build(
        Harness.faulty(server.transport, () => {
          Deferred.doneUnsafe(called, Effect.void)
          return hang ? { _tag: "Hang" } : Harness.fine
        })
      )
      const sink = recorder.named("test")
      const record = (i: number) => sink.normal({ ...pod, metadata: { ...pod.metadata, name: `web-${i}` } }, "R", "m")
      yield* record(0)
      yield* Deferred.await(called)
      for (let i = 1; i <= 1500; i++) yield* record(i)
      assert.strictEqual(yield* recorder.outstanding, 1001, "one on its way, a thousand in the queue")
      hang = false
      // The call that hangs fails at its deadline and is retried.
      yield* TestClock.adjust("2 minutes")
      yield* recorder.drained
      assert.strictEqual(list(server).length, 1001)
      yield* sink.normal(node, "R", "room again")
      assert.strictEqual(yield* recorder.outstanding, 1)
    })
  )

  it.effect("gives up an event after twelve attempts, ten seconds apart, and sends the next one", () =>
    Effect.gen(function* () {
      const server = Harness.server()
      server.refuse.push((request) =>
        (request.body as any).metadata.name.startsWith("web.")
          ? Harness.refusal(request, 500, "InternalError")
          : undefined
      )
      const recorder = yield* build(server.transport)
      const sink = recorder.named("test")
      yield* sink.normal(pod, "R", "m")
      yield* sink.normal({ ...pod, metadata: { ...pod.metadata, name: "other" } }, "R", "m")
      // The first wait is random, up to ten seconds; ten full ones follow.
      yield* TestClock.adjust("110 seconds")
      const times = server.requests.map((request) => request.at)
      assert.strictEqual(times.length, 12 + 1)
      const gaps = times.slice(1, 12).map((at, index) => at - times[index]!)
      assert.isTrue(gaps[0]! >= 0 && gaps[0]! <= 10_000)
      assert.deepStrictEqual(
        gaps.slice(1),
        Array.from({ length: 10 }, () => 10_000)
      )
      yield* recorder.drained
      assert.deepStrictEqual(
        list(server).map((event) => event.metadata.name.split(".")[0]),
        ["other"]
      )
    })
  )

  for (const [code, reason, causes] of [
    [403, "Forbidden", []],
    [403, "Forbidden", [{ reason: "NamespaceTerminating" }]],
    [404, "NotFound", []],
    [409, "AlreadyExists", []],
    [422, "Invalid", []]
  ] as const) {
    it.effect(`does not retry after ${code} ${reason} ${causes.map((cause) => cause.reason).join()}`, () =>
      Effect.gen(function* () {
        const server = Harness.server()
        server.refuse.push((request) => Harness.refusal(request, code, reason, causes))
        const recorder = yield* build(server.transport)
        yield* recorder.named("test").normal(pod, "R", "m")
        yield* recorder.drained
        assert.strictEqual(server.requests.length, 1)
      })
    )
  }

  it.effect("sends queued events when its scope closes", () =>
    Effect.gen(function* () {
      const server = Harness.server()
      const scope = yield* Scope.make()
      const recorder = yield* Scope.provide(build(server.transport), scope)
      const sink = recorder.named("test")
      for (let i = 0; i < 100; i++)
        yield* sink.normal({ ...pod, metadata: { ...pod.metadata, name: `w${i}` } }, "R", "m")
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(list(server).length, 100)
      yield* sink.normal(pod, "R", "after the end: logged, not queued")
      assert.strictEqual(yield* recorder.outstanding, 0)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(list(server).length, 100)
    })
  )

  it.effect("with a failing server the finalizer makes one attempt for each event and does not wait", () =>
    Effect.gen(function* () {
      const server = Harness.server()
      server.refuse.push((request) => Harness.refusal(request, 500, "InternalError"))
      const scope = yield* Scope.make()
      const recorder = yield* Scope.provide(build(server.transport), scope)
      const sink = recorder.named("test")
      for (let i = 0; i < 10; i++)
        yield* sink.normal({ ...pod, metadata: { ...pod.metadata, name: `w${i}` } }, "R", "m")
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(server.requests.length, 10)
    })
  )

  it.effect("the finalizer takes at most five seconds, even if a call that hangs cannot be interrupted", () =>
    Effect.gen(function* () {
      const stuck = yield* Deferred.make<void>()
      const base = Harness.server().transport
      const scope = yield* Scope.make()
      const recorder = yield* Scope.provide(
        build({
          ...base,
          send: (request) => Effect.uninterruptible(Effect.andThen(Deferred.await(stuck), base.send(request)))
        }),
        scope
      )
      yield* recorder.named("test").normal(pod, "R", "m")
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(closing)
      yield* Deferred.succeed(stuck, undefined)
    })
  )

  it.effect("an event about an object without a kind is only logged", () =>
    Effect.gen(function* () {
      const server = Harness.server()
      const recorder = yield* build(server.transport)
      const sink = recorder.named("test")
      for (const object of [{ metadata: { name: "x" } }, {}, { apiVersion: "v1", kind: "Pod", metadata: {} }, null]) {
        yield* sink.normal(object as KubeObject, "R", "m")
      }
      yield* recorder.drained
      assert.strictEqual(server.requests.length, 0)
    })
  )

  it.effect("events.k8s.io: equal events are one event with a series, which is written when the recorder ends", () =>
    Effect.gen(function* () {
      const server = Harness.server()
      const scope = yield* Scope.make()
      const recorder = yield* Scope.provide(build(server.transport), scope)
      const sink = recorder.named("example.com/widgets", { api: "events.k8s.io" })
      const path = "/apis/events.k8s.io/v1/namespaces/shop/events"
      yield* sink.event(pod, "Warning", "Slow", "x".repeat(2000), { action: "Reconciling" })
      yield* recorder.drained
      const { metadata, ...first } = list(server, path)[0]!
      assert.match(metadata.name, /^web\.[0-9a-f]{16}$/)
      assert.deepStrictEqual(first, {
        apiVersion: "events.k8s.io/v1",
        kind: "Event",
        eventTime: "1970-01-01T00:00:00.000000Z",
        regarding: { apiVersion: "v1", kind: "Pod", namespace: "shop", name: "web", uid: "u-1", resourceVersion: "7" },
        type: "Warning",
        reason: "Slow",
        action: "Reconciling",
        note: "x".repeat(1024),
        reportingController: "example.com/widgets",
        reportingInstance: "example.com/widgets"
      })
      for (let i = 0; i < 4; i++) {
        yield* TestClock.adjust("1 minute")
        yield* sink.event(pod, "Warning", "Slow", "still", { action: "Reconciling" })
      }
      yield* recorder.drained
      assert.deepStrictEqual(list(server, path)[0]!["series"], {
        count: 2,
        lastObservedTime: "1970-01-01T00:01:00.000000Z"
      })
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(list(server, path)[0]!["series"], {
        count: 5,
        lastObservedTime: "1970-01-01T00:04:00.000000Z"
      })
    })
  )

  it.effect("events.k8s.io: a series is written when it is over, without a call of flush", () =>
    Effect.gen(function* () {
      const server = Harness.server()
      const recorder = yield* build(server.transport)
      const sink = recorder.named("widgets", { api: "events.k8s.io" })
      for (let i = 0; i < 3; i++) yield* sink.normal(pod, "R", "m")
      yield* recorder.drained
      yield* TestClock.adjust("12 minutes")
      yield* recorder.drained
      assert.deepStrictEqual(
        server.requests.map((request) => [request.method, request.body.series?.count]),
        [
          ["POST", undefined],
          ["PATCH", 2],
          ["PATCH", 3]
        ]
      )
    })
  )
})

describe("event names", () => {
  it("are valid for any name of an object", () => {
    const valid = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
    for (const name of ["a", "system:node", "-", "..", "A.-b", "x".repeat(253), `${"y".repeat(235)}.z`]) {
      const event = Occurrence.eventName(name, 1_700_000_000_000_000_000n)
      assert.isTrue(valid.test(event) && event.length <= 253, event)
      assert.isTrue(event.endsWith(".17979cfe362a0000"), event)
    }
  })
})
