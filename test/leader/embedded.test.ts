/** Election and recorder on the embedded API server: it stores what kubectl would read. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { Event, EventsEvent, Lease, Pod } from "../../src/kube/resources.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Leadership } from "../../src/layers/Leadership.ts"
import { Recorder } from "../../src/layers/Recorder.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { on } from "../../src/apiserver/faults.ts"
import * as Election from "../../src/leader/Election.ts"

const cluster = Layer.provideMerge(KubeClient.layer, Layer.provideMerge(ApiServer.layerTransport, ApiServer.layer()))

const elector = (identity: string) =>
  Effect.map(
    Layer.build(
      Layer.fresh(
        Election.layer({ namespace: "kube-system", name: "demo", identity, labels: { app: "demo" } }).pipe(
          Layer.provide(Recorder.layer)
        )
      )
    ),
    (context) => Context.get(context, Leadership)
  )

const lease = Effect.flatMap(KubeClient, (client) => client.get(Lease, { namespace: "kube-system", name: "demo" }))

describe("on the embedded API server", () => {
  it.effect("a lease passes from one candidate to the next", () =>
    Effect.gen(function* () {
      const a = yield* elector("a")
      const b = yield* elector("b")
      const scope = yield* Scope.make()
      yield* Scope.provide(a.acquire, scope)
      const second = yield* Effect.forkScoped(b.acquire)
      yield* TestClock.adjust("1 minute")
      assert.deepInclude((yield* lease).spec, {
        holderIdentity: "a",
        leaseDurationSeconds: 15,
        renewTime: "1970-01-01T00:01:00.000000Z",
        leaseTransitions: 0
      })
      assert.deepStrictEqual((yield* lease).metadata.labels, { app: "demo" })
      yield* Scope.close(scope, Exit.void)
      assert.deepInclude((yield* lease).spec, { holderIdentity: "", leaseDurationSeconds: 1 })
      yield* TestClock.adjust(4400)
      yield* Fiber.join(second)
      assert.deepInclude((yield* lease).spec, { holderIdentity: "b", leaseTransitions: 1 })
    }).pipe(Effect.provide(cluster))
  )

  it.effect(
    "a renewal without a response that the server has executed conflicts with the next, and the term continues",
    () =>
      Effect.gen(function* () {
        const a = yield* elector("a")
        const term = yield* a.acquire
        const server = yield* ApiServer
        for (let i = 0; i < 10; i++) {
          yield* server.setFaults([
            {
              match: on({ verb: "update", resource: "leases.coordination.k8s.io" }),
              fault: { _tag: "DropAnswer" },
              times: 1
            }
          ])
          yield* TestClock.adjust("5 seconds")
          assert.isTrue(term.isValidUnsafe())
        }
      }).pipe(Effect.provide(cluster))
  )

  it.effect("if the server is unreachable the term ends within ten seconds, and a new one begins when it is back", () =>
    Effect.gen(function* () {
      const a = yield* elector("a")
      const server = yield* ApiServer
      const fiber = yield* Effect.forkChild(
        Effect.provideService(
          Leadership.run(() => Effect.never),
          Leadership,
          a
        )
      )
      yield* TestClock.adjust("1 seconds")
      yield* server.setUnavailable(true)
      yield* TestClock.adjust("15 seconds")
      const outcome = yield* Fiber.join(fiber)
      assert.strictEqual(outcome._tag === "Lost" ? outcome.reason.reason : "", "NotRenewed")
      const again = yield* Effect.forkScoped(a.acquire)
      yield* TestClock.adjust("1 minute")
      assert.isUndefined(again.pollUnsafe())
      yield* server.setUnavailable(false)
      yield* TestClock.adjust("20 seconds")
      assert.isTrue((yield* Fiber.join(again)).isValidUnsafe())
    }).pipe(Effect.provide(cluster))
  )

  it.effect("events are found by the object they are about, in both groups, and counted", () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      const pod = yield* client.create(Pod, {
        metadata: { name: "web", namespace: "default" },
        spec: { containers: [{ name: "web", image: "web" }] }
      })
      const scope = yield* Scope.make()
      const recorder = Context.get(yield* Scope.provide(Layer.build(Recorder.layer), scope), Recorder)
      const legacy = recorder.named("pod_controller")
      const modern = recorder.named("widgets", { api: "events.k8s.io" })
      for (let i = 0; i < 3; i++) {
        yield* legacy.normal(pod, "SuccessCalculatePod", "pod count is 1")
        yield* modern.warning(pod, "Slow", "took too long", { action: "Reconciling" })
        yield* TestClock.adjust("10 seconds")
      }
      yield* Scope.close(scope, Exit.void)
      const about = `involvedObject.name=web,involvedObject.namespace=default,involvedObject.uid=${pod.metadata.uid}`
      const { items } = yield* client.list(Event, { namespace: "default", fieldSelector: about })
      const found = items.map((event) => [event.reason, event.type, event.message, event.count ?? event.series?.count])
      assert.deepStrictEqual(found, [
        ["SuccessCalculatePod", "Normal", "pod count is 1", 3],
        ["Slow", "Warning", "took too long", 3]
      ])
      assert.strictEqual(items.find((event) => event.reason !== "Slow")?.source?.component, "pod_controller")
      const both = yield* client.list(EventsEvent, { namespace: "default" })
      assert.strictEqual(both.items.length, 2)
    }).pipe(Effect.provide(cluster))
  )

  it.effect("an event of a namespace that does not exist is dropped, and does not delay the next", () =>
    Effect.gen(function* () {
      const recorder = Context.get(yield* Layer.build(Recorder.layer), Recorder)
      const client = yield* KubeClient
      const sink = recorder.named("test")
      const about = (namespace: string) => ({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "web", namespace, uid: "u" }
      })
      yield* sink.normal(about("nowhere"), "R", "m")
      yield* sink.normal(about("default"), "R", "m")
      yield* recorder.flush
      assert.strictEqual((yield* client.list(Event)).items.length, 1)
    }).pipe(Effect.provide(cluster))
  )
})
