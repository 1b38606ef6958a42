import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import * as Schedule from "effect/Schedule"
import { TestClock } from "effect/testing"
import * as Access from "../../src/kube/Access.ts"
import * as Patch from "../../src/kube/Patch.ts"
import { ConfigMap, Secret } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { isWatch, on } from "../../src/apiserver/faults.ts"
import * as Controller from "../../src/layers/Controller.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { LeaderLost } from "../../src/layers/Leadership.ts"
import { Supervisor } from "../../src/layers/Supervisor.ts"
import * as Reconcile from "../../src/streams/reconcile/Reconcile.ts"
import * as Trigger from "../../src/streams/store/trigger.ts"
import * as Cluster from "../support/cluster.ts"

const create = (name: string, data: Record<string, string> = {}) =>
  Effect.flatMap(KubeClient, (client) => client.create(ConfigMap, { metadata: { name, namespace: "default" }, data }))

/** A controller that records the keys that it reconciles. */
const recording = (
  seen: Array<string>,
  reconcile: (key: string) => Effect.Effect<Reconcile.Outcome | void, unknown> = () => Effect.void
) =>
  Controller.make({
    name: "noting",
    for: ConfigMap,
    reconcile: ({ key }) => Effect.suspend(() => (seen.push(key), reconcile(key)))
  })

/** Records when it runs. Each of its first runs writes the same value and requests the next run at once. */
const patching = (name: string, patches: number, at: Array<number>) =>
  Controller.make({
    name,
    for: ConfigMap,
    access: [Access.patch(ConfigMap)],
    reconcile: ({ name, namespace }, { client }) =>
      Effect.gen(function* () {
        at.push(yield* Effect.clockWith((clock) => clock.currentTimeMillis))
        if (at.length > patches) return
        yield* client.patch(ConfigMap, { name, namespace }, Patch.merge({ data: { n: "1" } }))
        return Reconcile.after(0)
      })
  })

describe("Controller", () => {
  it.effect("reconciles the present objects, then each change, with one run for each key", () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      yield* create("a")
      const seen: Array<string> = []
      const { stop } = yield* Cluster.start(recording(seen))
      assert.deepStrictEqual(seen, ["default/a"])
      yield* create("b")
      yield* client.delete(ConfigMap, { namespace: "default", name: "a" })
      yield* Cluster.settle
      assert.deepStrictEqual(seen, ["default/a", "default/b", "default/a"])
      yield* stop()
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("a change of an owned object queues its controlling owner", () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      const owner = yield* create("owner")
      const seen: Array<string> = []
      const { stop } = yield* Cluster.start(
        Controller.make({
          name: "owner",
          for: ConfigMap,
          owns: [Secret],
          reconcile: ({ key }) => Effect.sync(() => void seen.push(key))
        })
      )
      const reference = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: owner.metadata.uid ?? "" }
      yield* client.create(Secret, {
        metadata: { name: "s", namespace: "default", ownerReferences: [{ ...reference, controller: true }] }
      })
      yield* client.create(Secret, { metadata: { name: "stranger", namespace: "default" } })
      yield* Cluster.settle
      assert.deepStrictEqual(seen, ["default/owner", "default/owner"])
      yield* stop()
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("a custom trigger maps the changes of a watched kind to keys", () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      const seen: Array<string> = []
      const { stop } = yield* Cluster.start(
        Controller.make({
          name: "watcher",
          for: ConfigMap,
          watches: [
            Controller.watch(
              Secret,
              Trigger.map((secret) => [`default/for-${secret.metadata.name}`])
            )
          ],
          reconcile: ({ key }) => Effect.sync(() => void seen.push(key))
        })
      )
      yield* client.create(Secret, { metadata: { name: "s", namespace: "default" } })
      yield* Cluster.settle
      assert.deepStrictEqual(seen, ["default/for-s"])
      yield* stop()
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("a stateful controller has new state, shared by sources and reconcile, for each run of the layer", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const counting = Controller.stateful({
        name: "counting",
        access: [Access.read(ConfigMap), Access.read(Secret)],
        body: ({ queue, store }) =>
          Effect.sync(() => {
            let secrets = 0
            const trigger = Trigger.map((secret: Secret) => {
              secrets++
              queue.addWithUnsafe(`default/later-${secret.metadata.name}`, { after: "1 minute" })
              return store(ConfigMap).keys()
            })
            return {
              sources: [Controller.watch(Secret, trigger), Controller.watch(ConfigMap, () => [])],
              reconcile: ({ key }) => Effect.sync(() => void seen.push(`${key} ${secrets}`))
            }
          })
      })
      yield* create("a")
      const { stop } = yield* Cluster.start(counting)
      const client = yield* KubeClient
      yield* client.create(Secret, { metadata: { name: "s", namespace: "default" } })
      yield* Cluster.settle
      assert.deepStrictEqual(seen, ["default/a 1"])
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(seen, ["default/a 1", "default/later-s 1"])
      yield* stop()
      const again = yield* Cluster.start(counting)
      assert.strictEqual(seen.at(-1), "default/a 1")
      yield* again.stop()
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("a failure is retried with backoff and does not delay other keys", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      let broken = true
      yield* create("bad")
      const { stop } = yield* Cluster.start(
        recording(seen, (key) => (key === "default/bad" && broken ? Effect.fail("no") : Effect.void))
      )
      yield* create("good")
      yield* Cluster.settle
      assert.deepStrictEqual(seen, ["default/bad", "default/good"])
      yield* TestClock.adjust("5 millis")
      yield* TestClock.adjust("10 millis")
      assert.strictEqual(seen.filter((key) => key === "default/bad").length, 3)
      broken = false
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(seen.filter((key) => key === "default/bad").length, 4)
      yield* stop()
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("case 14: a key waits without a worker until the cache contains its last write", () =>
    Effect.gen(function* () {
      const server = yield* ApiServer
      yield* create("a", { n: "0" })
      const read: Array<string | undefined> = []
      const { stop } = yield* Cluster.start(
        Controller.make({
          name: "counter",
          for: ConfigMap,
          access: [Access.patch(ConfigMap)],
          reconcile: ({ key, name, namespace }, { cache, client }) =>
            Effect.gen(function* () {
              const configMap = yield* cache.get(ConfigMap, key)
              const n = configMap?.data?.["n"]
              read.push(n)
              if (n === undefined || Number(n) >= 3) return
              yield* client.patch(ConfigMap, { name, namespace }, Patch.merge({ data: { n: String(Number(n) + 1) } }))
              // The next run is due at once: without the wait it would read the state before the write.
              return Reconcile.after(0)
            })
        })
      )
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(read.slice(0, 4), ["0", "1", "2", "3"])
      yield* server.setFaults([])
      yield* stop()
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("case 14: the wait of a key for its own write ends after 5 s without the event", () =>
    Effect.gen(function* () {
      const server = yield* ApiServer
      yield* server.setFaults([
        {
          match: (request) => isWatch(request) && on({ resource: "configmaps" })(request),
          // The object and the end of the initial state still arrive.
          fault: { _tag: "CutWatch", after: 2, how: "silence" }
        }
      ])
      yield* create("a")
      const at: Array<number> = []
      const { stop } = yield* Cluster.start(patching("blind", 1, at))
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(at, [0, 5000])
      yield* stop()
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("case 14: a key does not wait for a write that changed nothing", () =>
    Effect.gen(function* () {
      yield* create("a", { n: "1" })
      const at: Array<number> = []
      const { stop } = yield* Cluster.start(patching("idle", 2, at))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(at, [0, 0, 0])
      yield* stop()
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("when the scope closes, a run in flight finishes", () =>
    Effect.gen(function* () {
      const gate = Latch.makeUnsafe(false)
      const seen: Array<string> = []
      yield* create("a")
      const { stopping } = yield* Cluster.start(
        recording(seen, () => Effect.tap(gate.await, () => Effect.sync(() => seen.push("finished"))))
      )
      const closing = yield* stopping()
      assert.isFalse(Cluster.isDone(closing))
      yield* gate.open
      yield* Cluster.settle
      assert.isTrue(Cluster.isDone(closing))
      assert.deepStrictEqual(seen, ["default/a", "finished"])
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("a scheduled run finishes when the scope closes, and is interrupted by a loss of leadership", () =>
    Effect.gen(function* () {
      const gate = Latch.makeUnsafe(false)
      const seen: Array<string> = []
      const controller = Controller.scheduled({
        name: "scheduled",
        access: [],
        schedule: Schedule.spaced("1 second"),
        run: () =>
          Effect.sync(() => seen.push("begins")).pipe(
            Effect.andThen(gate.await),
            Effect.andThen(Effect.sync(() => seen.push("finishes"))),
            Effect.onInterrupt(() => Effect.sync(() => seen.push("interrupted")))
          )
      })
      const closing = yield* (yield* Cluster.start(controller)).stopping()
      assert.isFalse(Cluster.isDone(closing))
      yield* gate.open
      yield* Cluster.settle
      assert.isTrue(Cluster.isDone(closing))
      assert.deepStrictEqual(seen.splice(0), ["begins", "finishes"])
      const pausing = yield* Cluster.start(controller)
      assert.deepStrictEqual(seen.splice(0), ["begins", "finishes"])
      yield* pausing.stop()
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(seen, [])
      yield* gate.close
      const losing = yield* Cluster.start(controller)
      yield* losing.stop(Exit.fail(new LeaderLost({ reason: "Stolen", message: "another one leads" })))
      assert.deepStrictEqual(seen, ["begins", "interrupted"])
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("a loss of leadership interrupts a run in flight at once", () =>
    Effect.gen(function* () {
      const interrupted = yield* Deferred.make<void>()
      yield* create("a")
      const { stop } = yield* Cluster.start(
        recording([], () => Effect.onInterrupt(Effect.never, () => Deferred.succeed(interrupted, undefined)))
      )
      yield* stop(Exit.fail(new LeaderLost({ reason: "Stolen", message: "another one leads" })))
      assert.isTrue(yield* Deferred.isDone(interrupted))
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("an informer that cannot sync delays its own controller and fails none", () =>
    Effect.gen(function* () {
      const server = yield* ApiServer
      yield* server.setFaults([{ match: on({ resource: "secrets" }), fault: { _tag: "Status", code: 403 } }])
      yield* create("a")
      const late: Array<string> = []
      const prompt: Array<string> = []
      const first = yield* Cluster.start(
        Controller.make({
          name: "late",
          for: ConfigMap,
          owns: [Secret],
          reconcile: ({ key }) => Effect.sync(() => void late.push(key))
        })
      )
      const second = yield* Cluster.start(recording(prompt))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual([late, prompt], [[], ["default/a"]])
      yield* server.setFaults([])
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(late, ["default/a"])
      yield* first.stop()
      yield* second.stop()
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("a controller whose workers have not started stops at once", () =>
    Effect.gen(function* () {
      const server = yield* ApiServer
      yield* server.setFaults([{ match: on({ resource: "secrets" }), fault: { _tag: "Status", code: 403 } }])
      yield* create("a")
      const seen: Array<string> = []
      const { stopping } = yield* Cluster.start(
        Controller.make({
          name: "waiting",
          for: ConfigMap,
          owns: [Secret],
          reconcile: ({ key }) => Effect.sync(() => void seen.push(key))
        })
      )
      const closing = yield* stopping()
      assert.isTrue(Cluster.isDone(closing))
      assert.deepStrictEqual(seen, [])
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("a defect in a reconcile counts as a failure of its key and does not end the process", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      yield* create("a")
      const { stop } = yield* Cluster.start(
        recording(seen, () => (seen.length === 1 ? Effect.die(new Error("bug")) : Effect.void))
      )
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(seen, ["default/a", "default/a"])
      const failure = yield* Effect.timeoutOption((yield* Supervisor).failure, 0)
      assert.strictEqual(failure._tag, "None")
      yield* stop()
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("the events of a controller name its component", () =>
    Effect.gen(function* () {
      const object = yield* create("a")
      const { stop } = yield* Cluster.start(
        Controller.make({
          name: "speaking",
          component: "speaking-controller",
          for: ConfigMap,
          access: [Access.record],
          reconcile: (_, { events }) => events.normal(object, "Spoke", "once")
        })
      )
      yield* stop()
      const events = yield* Cluster.eventObjects("involvedObject.name=a")
      assert.deepStrictEqual(
        events.map(({ reportingComponent }) => reportingComponent),
        ["speaking-controller"]
      )
    }).pipe(Effect.provide(Cluster.layer))
  )
})
