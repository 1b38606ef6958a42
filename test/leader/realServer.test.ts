/**
 * The requests of election and recorder, validated by a real API server. Runs when KUBEBUILDER_ASSETS names a folder with etcd and kube-apiserver.
 * In real time, but without sleeps: the test waits for leadership and for the recorder.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import { ConfigMap, Event, EventsEvent, Lease } from "../../src/kube/resources.ts"
import * as HttpTransport from "../../src/platform/HttpTransport.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Leadership } from "../../src/layers/Leadership.ts"
import { Recorder } from "../../src/layers/Recorder.ts"
import { Transport } from "../../src/layers/Transport.ts"
import * as Election from "../../src/leader/Election.ts"
import * as envtest from "../support/envtest.ts"

const client = Layer.unwrap(
  Effect.gen(function* () {
    const server = yield* envtest.start()
    const transport = yield* HttpTransport.make(server.endpoint)
    return Layer.provide(KubeClient.layer, Layer.succeed(Transport, transport))
  })
)

const elector = (identity: string) =>
  Effect.map(
    Layer.build(
      Layer.fresh(
        Election.layer({
          namespace: "default",
          name: "demo",
          identity,
          leaseDuration: "3 seconds",
          renewDeadline: "2 seconds",
          retryPeriod: "200 millis"
        }).pipe(Layer.provide(Recorder.layer))
      )
    ),
    (context) => Context.get(context, Leadership)
  )

describe.skipIf(envtest.isMissing("leases and events on a real API server"))("on a real API server", () => {
  it.live("leases and events are accepted as written", () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      const lease = client.get(Lease, { namespace: "default", name: "demo" })
      const [a, b] = [yield* elector("a"), yield* elector("b")]
      const scope = yield* Scope.make()
      yield* Scope.provide(a.acquire, scope)
      assert.deepInclude((yield* lease).spec, { holderIdentity: "a", leaseDurationSeconds: 3, leaseTransitions: 0 })
      yield* Scope.close(scope, Exit.void)
      const released = yield* lease
      assert.deepInclude(released.spec, { leaseDurationSeconds: 1 })
      assert.strictEqual(released.spec?.holderIdentity ?? "", "")
      assert.isTrue((yield* b.acquire).isValidUnsafe())
      assert.deepInclude((yield* lease).spec, { holderIdentity: "b", leaseTransitions: 1 })

      const object = yield* client.create(ConfigMap, { metadata: { name: "it", namespace: "default" } })
      const recording = yield* Scope.make()
      const recorder = Context.get(yield* Scope.provide(Layer.build(Layer.fresh(Recorder.layer)), recording), Recorder)
      for (let i = 0; i < 3; i++) {
        yield* recorder.named("pod_controller").normal(object, "Counted", "pod count is 1")
        yield* recorder.named("widgets", { api: "events.k8s.io" }).warning(object, "Slow", "too long")
      }
      yield* Scope.close(recording, Exit.void)
      const fieldSelector = `involvedObject.uid=${object.metadata.uid}`
      const { items } = yield* client.list(Event, { namespace: "default", fieldSelector })
      const counts = items.map((event) => [event.reason, event.count ?? event.series?.count])
      assert.sameDeepMembers(counts, [
        ["Counted", 3],
        ["Slow", 3]
      ])
      const modern = yield* client.list(EventsEvent, { namespace: "default" })
      assert.isTrue(modern.items.some((event) => event.reason === "Slow" && event.series?.count === 3))
      // Sent by a recorder of its own.
      const terms = client.list(Event, { fieldSelector: "involvedObject.kind=Lease" })
      yield* Effect.retry(
        Effect.filterOrFail(terms, (found) => found.items.some((event) => event.message === "a stopped leading")),
        Schedule.spaced("50 millis")
      )
    }).pipe(Effect.scoped, Effect.provide(client))
  )
})
