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

/** A controller that notes which keys it ran for. */
const noting = (
  seen: Array<string>,
  reconcile: (key: string) => Effect.Effect<Reconcile.Outcome | void, unknown> = () => Effect.void
) =>
  Controller.make({
    name: "noting",
    for: ConfigMap,
    reconcile: ({ key }) => Effect.suspend(() => (seen.push(key), reconcile(key)))
  })

describe("Controller", () => {
  it.effect("runs for what is there, then for every change, once a key", () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      yield* create("a")
      const seen: Array<string> = []
      const { stop } = yield* Cluster.start(noting(seen))
      assert.deepStrictEqual(seen, ["default/a"])
      yield* create("b")
      yield* client.delete(ConfigMap, { namespace: "default", name: "a" })
      yield* Cluster.settle
      assert.deepStrictEqual(seen, ["default/a", "default/b", "default/a"])
      yield* stop()
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("owns: a change of a dependent asks for its controller", () =>
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

  it.effect("watches: a trigger of one's own leads to the keys", () =>
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

  it.effect("stateful: sources and reconcile share state that is new for each run of the layer", () =>
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

  it.effect("a failure is retried with backoff and does not hold up other keys", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      let broken = true
      yield* create("bad")
      const { stop } = yield* Cluster.start(
        noting(seen, (key) => (key === "default/bad" && broken ? Effect.fail("no") : Effect.void))
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

  it.effect("case 14: a reconcile sees its own write: the key waits until the cache has it, without a worker", () =>
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
              // Asks for itself at once: without the wait it would read the state before its write.
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

  it.effect("case 14: the wait for one's own write ends after 5 s when the event never comes", () =>
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
      const { stop } = yield* Cluster.start(
        Controller.make({
          name: "blind",
          for: ConfigMap,
          access: [Access.patch(ConfigMap)],
          reconcile: ({ name, namespace }, { client }) =>
            Effect.gen(function* () {
              at.push(yield* Effect.clockWith((clock) => clock.currentTimeMillis))
              if (at.length > 1) return
              yield* client.patch(ConfigMap, { name, namespace }, Patch.merge({ data: { n: "1" } }))
              return Reconcile.after(0)
            })
        })
      )
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(at, [0, 5000])
      yield* stop()
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("case 14: a write that changes nothing is not waited for", () =>
    Effect.gen(function* () {
      yield* create("a", { n: "1" })
      const at: Array<number> = []
      const { stop } = yield* Cluster.start(
        Controller.make({
          name: "idle",
          for: ConfigMap,
          access: [Access.patch(ConfigMap)],
          reconcile: ({ name, namespace }, { client }) =>
            Effect.gen(function* () {
              at.push(yield* Effect.clockWith((clock) => clock.currentTimeMillis))
              if (at.length > 2) return
              yield* client.patch(ConfigMap, { name, namespace }, Patch.merge({ data: { n: "1" } }))
              return Reconcile.after(0)
            })
        })
      )
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(at, [0, 0, 0])
      yield* stop()
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("closing the scope drains: a running reconcile finishes, a queued one is not lost midway", () =>
    Effect.gen(function* () {
      const gate = Latch.makeUnsafe(false)
      const seen: Array<string> = []
      yield* create("a")
      const { stopping } = yield* Cluster.start(
        noting(seen, () => Effect.tap(gate.await, () => Effect.sync(() => seen.push("finished"))))
      )
      const closing = yield* stopping()
      assert.isFalse(Cluster.isDone(closing))
      yield* gate.open
      yield* Cluster.settle
      assert.isTrue(Cluster.isDone(closing))
      assert.deepStrictEqual(seen, ["default/a", "finished"])
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("scheduled: closing the scope lets a run finish and begins no other; losing leadership interrupts it", () =>
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

  it.effect("losing leadership interrupts a running reconcile at once", () =>
    Effect.gen(function* () {
      const interrupted = yield* Deferred.make<void>()
      yield* create("a")
      const { stop } = yield* Cluster.start(
        noting([], () => Effect.onInterrupt(Effect.never, () => Deferred.succeed(interrupted, undefined)))
      )
      yield* stop(Exit.fail(new LeaderLost({ reason: "Stolen", message: "another one leads" })))
      assert.isTrue(yield* Deferred.isDone(interrupted))
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("an informer that cannot sync delays this controller and no other, and fails none", () =>
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
      const second = yield* Cluster.start(noting(prompt))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual([late, prompt], [[], ["default/a"]])
      yield* server.setFaults([])
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(late, ["default/a"])
      yield* first.stop()
      yield* second.stop()
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("stops at once when its workers never started", () =>
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

  it.effect("a defect in a reconcile is its key's failure, not the process's", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      yield* create("a")
      const { stop } = yield* Cluster.start(
        noting(seen, () => (seen.length === 1 ? Effect.die(new Error("bug")) : Effect.void))
      )
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(seen, ["default/a", "default/a"])
      const failure = yield* Effect.timeoutOption((yield* Supervisor).failure, 0)
      assert.strictEqual(failure._tag, "None")
      yield* stop()
    }).pipe(Effect.provide(Cluster.layer))
  )
})
