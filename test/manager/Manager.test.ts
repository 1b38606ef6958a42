import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import { TestClock } from "effect/testing"
import * as Access from "../../src/kube/Access.ts"
import * as Patch from "../../src/kube/Patch.ts"
import { ConfigMap, Pod } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { isWatch, on } from "../../src/apiserver/faults.ts"
import { Cache } from "../../src/layers/Cache.ts"
import * as Controller from "../../src/layers/Controller.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Leadership, type LeaderLost, type Term, noTerms } from "../../src/layers/Leadership.ts"
import * as Manager from "../../src/manager/Manager.ts"
import { Shards } from "../../src/layers/Shards.ts"
import { Supervisor } from "../../src/layers/Supervisor.ts"
import * as Trigger from "../../src/streams/store/trigger.ts"
import * as Cluster from "../support/cluster.ts"
import { logged } from "../support/logged.ts"
import { runs } from "../support/runs.ts"
import { leadershipOf, messageOf, stolen, successiveTerms } from "./runnables/running.ts"

const alone = Layer.merge(Cluster.layer, Leadership.layerAlways)

/** A leadership with one term, which a test grants and takes away. */
const granted = Effect.map(Effect.all([Deferred.make<Term>(), Deferred.make<LeaderLost>()]), ([grant, lost]) => ({
  lead: Deferred.succeed(grant, { lost: Deferred.await(lost), isValidUnsafe: () => true }),
  lose: Deferred.succeed(lost, stolen),
  layer: Layer.succeed(Leadership, leadershipOf(Deferred.await(grant)))
}))

const tracing = (name: string, trace: Array<string>, needsLeader = true): Controller.Descriptor => ({
  name,
  access: [],
  reads: [],
  needsLeader,
  layer: Layer.effectDiscard(
    Effect.acquireRelease(
      Effect.sync(() => trace.push(`+${name}`)),
      (_, exit) =>
        Effect.sync(() =>
          trace.push(`-${name} ${Exit.isFailure(exit) && Cause.hasFails(exit.cause) ? "lost" : "stopped"}`)
        )
    )
  )
})

/** The work is divided, and this process has no shard. */
const divided = Layer.succeed(Shards, { count: 4, each: () => Effect.void })

describe("Manager", () => {
  it.effect("runs a sharded controller without leadership where work is divided, and only under it where not", () =>
    Effect.gen(function* () {
      for (const shards of [divided, Layer.empty]) {
        const trace: Array<string> = []
        const { layer, lead } = yield* granted
        const controllers = [tracing("alone", trace), { ...tracing("shared", trace), sharded: true }]
        const fiber = yield* Effect.forkChild(
          Manager.run({ controllers }).pipe(Effect.provide(Layer.merge(layer, shards)))
        )
        yield* Cluster.settle
        assert.deepStrictEqual(trace, shards === divided ? ["+shared"] : [])
        yield* lead
        yield* Cluster.settle
        assert.deepStrictEqual(trace, shards === divided ? ["+shared", "+alone"] : ["+alone", "+shared"])
        yield* Fiber.interrupt(fiber)
      }
    }).pipe(Effect.provide(alone))
  )

  it.effect("builds controllers in order and stops them in reverse when it is interrupted", () =>
    Effect.gen(function* () {
      const trace: Array<string> = []
      const controllers = [tracing("a", trace), tracing("b", trace), tracing("c", trace)]
      const fiber = yield* Effect.forkChild(Manager.run({ controllers }))
      yield* Cluster.settle
      assert.deepStrictEqual(trace, ["+a", "+b", "+c"])
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(trace.slice(3), ["-c stopped", "-b stopped", "-a stopped"])
    }).pipe(Effect.provide(alone))
  )

  it.effect.prop(
    "waits between one and two start intervals between two controllers, and not before the first",
    { millis: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100_000 })), seed: Schema.String },
    ({ millis, seed }) =>
      Effect.gen(function* () {
        const started: Array<number> = []
        const controller = (name: string): Controller.Descriptor => ({
          ...tracing(name, []),
          layer: Layer.effectDiscard(
            Effect.map(Clock.currentTimeMillis, (now) => {
              started.push(now)
            })
          )
        })
        const controllers = ["a", "b", "c", "d"].map(controller)
        const begun = yield* Clock.currentTimeMillis
        const fiber = yield* Effect.forkChild(
          Random.withSeed(Manager.run({ controllers, startInterval: Duration.millis(millis) }), seed)
        )
        yield* Cluster.settle
        assert.deepStrictEqual(started, [begun])
        yield* TestClock.adjust(Duration.millis(millis * 6))
        assert.strictEqual(started.length, 4)
        for (const [index, at] of started.slice(1).entries()) {
          const waited = at - (started[index] ?? 0)
          assert.isAtLeast(waited, millis)
          assert.isAtMost(waited, 2 * millis)
        }
        yield* Fiber.interrupt(fiber)
      }).pipe(Effect.provide(Layer.fresh(alone))),
    { arbitrary: { runs: runs(20) } }
  )

  it.effect(
    "groups lead under leases of their own: one works while the other waits, and losing either ends the manager",
    () =>
      Effect.gen(function* () {
        const [own, core] = [yield* granted, yield* granted]
        const trace: Array<string> = []
        const groups = [
          { leadership: yield* Effect.provide(Leadership, core.layer), controllers: [tracing("core", trace)] }
        ]
        const fiber = yield* Effect.forkChild(
          Manager.run({ controllers: [tracing("own", trace)], groups }).pipe(Effect.provide(own.layer))
        )
        yield* Cluster.settle
        assert.deepStrictEqual(trace, [])
        yield* core.lead
        yield* Cluster.settle
        assert.deepStrictEqual(trace, ["+core"])
        yield* own.lead
        yield* Cluster.settle
        assert.deepStrictEqual(trace, ["+core", "+own"])
        yield* core.lose
        assert.strictEqual(yield* messageOf(fiber), "leader election lost: another one leads")
        assert.sameMembers(trace.slice(2), ["-core lost", "-own stopped"])
      }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("takes part in no election without controllers", () =>
    Effect.gen(function* () {
      const idle = Leadership.of({
        identity: "me",
        lease: undefined,
        acquire: Effect.die("contended"),
        leader: Effect.succeed(undefined),
        provenFor: Effect.succeed(undefined),
        terms: Effect.succeed(noTerms),
        leaderChanges: undefined as never
      })
      const everywhere = [tracing("everywhere", [], false)]
      const fiber = yield* Effect.forkChild(
        Manager.run({ controllers: everywhere, groups: [{ leadership: idle, controllers: [] }] }).pipe(
          Effect.provideService(Leadership, idle)
        )
      )
      yield* Cluster.settle
      assert.isFalse(Cluster.isDone(fiber))
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("a standby syncs its caches before it leads, and sends no list when it begins to lead", () =>
    Effect.gen(function* () {
      const leadership = yield* granted
      const seen: Array<string> = []
      const controller = Controller.make({
        name: "warm",
        for: ConfigMap,
        reconcile: ({ key }) => Effect.sync(() => void seen.push(key))
      })
      const fiber = yield* Effect.forkChild(
        Effect.provide(Manager.run({ controllers: [controller] }), leadership.layer)
      )
      yield* Cluster.settle
      const [status] = yield* (yield* Cache).status
      assert.deepInclude(status, { resource: "configmaps", synced: true })
      let requests = 0
      yield* (yield* ApiServer).setFaults([
        { match: (request) => (on({ resource: "configmaps" })(request) && requests++, false), fault: { _tag: "Drop" } }
      ])
      yield* leadership.lead
      yield* Cluster.settle
      assert.strictEqual(requests, 0)
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("a lost lease ends the manager, and the controllers get the reason", () =>
    Effect.gen(function* () {
      const leadership = yield* granted
      const trace: Array<string> = []
      const controllers = [tracing("leader", trace), tracing("everywhere", trace, false)]
      const fiber = yield* Effect.forkChild(Effect.provide(Manager.run({ controllers }), leadership.layer))
      yield* Cluster.settle
      assert.deepStrictEqual(trace, ["+everywhere"])
      yield* leadership.lead
      yield* Cluster.settle
      yield* leadership.lose
      assert.strictEqual(yield* messageOf(fiber), "leader election lost: another one leads")
      assert.deepStrictEqual(trace.slice(0, 3), ["+everywhere", "+leader", "-leader lost"])
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("with onLost=rejoin it builds the controllers again in the next term, and sends no further list", () =>
    Effect.gen(function* () {
      const { lead, leadership } = yield* successiveTerms
      let bodies = 0
      const written: Array<string> = []
      const worker = Controller.stateful({
        name: "worker",
        access: [Access.read(ConfigMap), Access.patch(ConfigMap)],
        body: ({ client }) =>
          Effect.sync(() => {
            const body = ++bodies
            return {
              sources: [Controller.watch(ConfigMap, Trigger.self)],
              reconcile: ({ name, namespace }) =>
                Effect.map(
                  client.patch(ConfigMap, { namespace, name }, Patch.merge({ data: { body: `${body}` } })),
                  () => {
                    written.push(`${body} ${name}`)
                  }
                )
            }
          })
      })
      const trace: Array<string> = []
      const client = yield* KubeClient
      yield* client.create(ConfigMap, { metadata: { name: "a", namespace: "default" } })
      const controllers = [tracing("first", trace), worker, tracing("last", trace), tracing("free", trace, false)]
      const fiber = yield* Effect.forkChild(
        Effect.provideService(Manager.run({ controllers, onLost: "rejoin" }), Leadership, leadership)
      )
      yield* Cluster.settle
      let lists = 0
      yield* (yield* ApiServer).setFaults([
        {
          match: (request) => (request.method === "GET" && on({ resource: "configmaps" })(request) && lists++, false),
          fault: { _tag: "Drop" }
        }
      ])
      const lose = yield* lead
      yield* lose
      yield* Cluster.settle
      const between = written.length
      yield* client.create(ConfigMap, { metadata: { name: "b", namespace: "default" } })
      yield* Cluster.settle
      assert.isFalse(Cluster.isDone(fiber))
      assert.strictEqual(written.length, between, "nobody works between two terms")
      yield* Effect.asVoid(lead)
      assert.sameMembers([...new Set(written)], ["1 a", "2 a", "2 b"])
      assert.strictEqual(lists, 0)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(trace, [
        "+free",
        "+first",
        "+last",
        "-last lost",
        "-first lost",
        "+first",
        "+last",
        "-last stopped",
        "-first stopped",
        "-free stopped"
      ])
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("controllers that have not ended five seconds after a lost lease are reported once", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const lost = Effect.fnUntraced(function* (closing: Effect.Effect<void>, onLost: "exit" | "rejoin") {
        const leadership = yield* granted
        const slow = {
          ...tracing("slow", []),
          layer: Layer.effectDiscard(Effect.acquireRelease(Effect.void, () => closing))
        }
        const onStuck = (message: string) => Effect.sync(() => void said.push(message))
        const manager = Manager.run({ controllers: [slow], onLost, onStuck })
        yield* Effect.forkDetach(Effect.provide(manager, leadership.layer))
        yield* leadership.lead
        yield* Cluster.settle
        yield* leadership.lose
        yield* TestClock.adjust("4999 millis")
        assert.deepStrictEqual(said, [])
        yield* TestClock.adjust("1 minute")
        return said.splice(0)
      })
      assert.deepStrictEqual(yield* lost(Effect.sleep("4 seconds"), "exit"), [])
      const message = "leader election lost: another one leads; its work does not end"
      assert.deepStrictEqual(yield* lost(Effect.never, "exit"), [message])
      assert.deepStrictEqual(yield* lost(Effect.never, "rejoin"), [message])
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("writes of leading controllers are fenced by their term, those of other controllers are not", () =>
    Effect.gen(function* () {
      let valid = true
      const term: Term = { lost: Effect.never, isValidUnsafe: () => valid }
      const leadership = Leadership.of({
        identity: "me",
        lease: undefined,
        acquire: Effect.succeed(term),
        leader: Effect.succeed(undefined),
        provenFor: Effect.succeed(undefined),
        terms: Effect.succeed(noTerms),
        leaderChanges: undefined as never
      })
      const outcomes: Array<string> = []
      const writer = (name: string, needsLeader: boolean) =>
        Controller.make({
          name,
          for: ConfigMap,
          needsLeader,
          access: [Access.patch(ConfigMap)],
          reconcile: ({ name: target, namespace }, { client }) =>
            client
              .patch(ConfigMap, { namespace, name: target }, Patch.merge({ metadata: { labels: { [name]: "x" } } }))
              .pipe(
                Effect.match({
                  onFailure: ({ reason }) => void outcomes.push(`${name} ${target} ${reason._tag}`),
                  onSuccess: () => void outcomes.push(`${name} ${target} done`)
                })
              )
        })
      const client = yield* KubeClient
      const add = (name: string) => client.create(ConfigMap, { metadata: { name, namespace: "default" } })
      const fiber = yield* Effect.forkChild(
        Manager.run({ controllers: [writer("led", true), writer("free", false)] }).pipe(
          Effect.provideService(Leadership, leadership)
        )
      )
      yield* add("a")
      yield* Cluster.settle
      assert.sameMembers([...new Set(outcomes)], ["led a done", "free a done"])
      outcomes.length = 0
      valid = false
      yield* add("b")
      yield* Cluster.settle
      assert.sameMembers([...new Set(outcomes)], ["led b LeaderFenced", "free b done"])
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("a supervised fiber that fails ends it with a line that names the controller and the cause", () =>
    Effect.gen(function* () {
      const controller: Controller.Descriptor = {
        ...tracing("fragile", []),
        layer: Layer.effectDiscard(
          Effect.flatMap(Supervisor, (supervisor) => supervisor.fork("fragile", Effect.die(new Error("no more"))))
        )
      }
      const fiber = yield* Effect.forkChild(Manager.run({ controllers: [controller] }))
      assert.strictEqual(yield* messageOf(fiber), "fragile failed: no more")
    }).pipe(Effect.provide(alone))
  )

  it.effect("fails after 10 s if the server does not respond, and builds nothing", () =>
    Effect.gen(function* () {
      const trace: Array<string> = []
      yield* (yield* ApiServer).setFaults([{ match: () => true, fault: { _tag: "Drop" } }])
      const fiber = yield* Effect.forkChild(Manager.run({ controllers: [tracing("a", trace)] }))
      yield* TestClock.adjust("9 seconds")
      assert.isFalse(Cluster.isDone(fiber))
      yield* TestClock.adjust("1 second")
      assert.strictEqual(
        yield* messageOf(fiber),
        "the API server did not answer within 10s, check its address: read ECONNRESET"
      )
      assert.deepStrictEqual(trace, [])
    }).pipe(Effect.provide(alone))
  )

  it.effect("waits for a server that responds late", () =>
    Effect.gen(function* () {
      const trace: Array<string> = []
      yield* (yield* ApiServer).setFaults([{ match: () => true, fault: { _tag: "Drop" }, times: 3 }])
      const fiber = yield* Effect.forkChild(Manager.run({ controllers: [tracing("a", trace)] }))
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(trace, ["+a"])
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(alone))
  )

  it.effect("a 401 ends it at once", () =>
    Effect.gen(function* () {
      yield* (yield* ApiServer).setFaults([
        { match: () => true, fault: { _tag: "Status", code: 401, message: "Unauthorized" } }
      ])
      const fiber = yield* Effect.forkChild(Manager.run<never>({ controllers: [] }))
      assert.strictEqual(
        yield* messageOf(fiber),
        "the API server does not accept our credentials (401): Unauthorized; check the user in the kubeconfig"
      )
    }).pipe(Effect.provide(alone))
  )

  it.effect("a kind that does not sync for another reason does not delay the controllers", () =>
    Effect.gen(function* () {
      const trace: Array<string> = []
      yield* (yield* ApiServer).setFaults([
        {
          match: (request) => request.context.resource === "pods" && !isWatch(request),
          fault: { _tag: "Status", code: 500 }
        },
        { match: (request) => request.context.resource === "pods", fault: { _tag: "Status", code: 500 } }
      ])
      const fiber = yield* Effect.forkChild(Manager.run({ controllers: [{ ...tracing("a", trace), reads: [Pod] }] }))
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(trace, ["+a"])
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(alone))
  )

  it.effect("cannot run twice, and rejects two controllers of one name", () =>
    Effect.gen(function* () {
      const trace: Array<string> = []
      const manager = Manager.run({ controllers: [tracing("a", trace)] })
      const first = yield* Effect.forkChild(manager)
      yield* Cluster.settle
      const second = yield* Effect.forkChild(manager)
      assert.strictEqual(yield* messageOf(second), "the manager was started more than once")
      assert.isFalse(Cluster.isDone(first))
      yield* Fiber.interrupt(first)
      const groups = [{ leadership: yield* Leadership, controllers: [tracing("b", trace)] }]
      const twice = yield* Effect.forkChild(
        Manager.run({ controllers: [tracing("a", trace), tracing("b", trace)], groups })
      )
      assert.strictEqual(yield* messageOf(twice), "controller b was started more than once")
      assert.deepStrictEqual(trace, ["+a", "-a stopped"])
    }).pipe(Effect.provide(alone))
  )

  it.effect("fails with all errors, the first one first", () =>
    Effect.gen(function* () {
      const fragile: Controller.Descriptor = {
        ...tracing("fragile", []),
        layer: Layer.effectDiscard(
          Effect.flatMap(Supervisor, (supervisor) =>
            Effect.andThen(
              Effect.addFinalizer(() => Effect.die(new Error("cannot even stop"))),
              supervisor.fork("fragile", Effect.die(new Error("no more")))
            )
          )
        )
      }
      const exit = yield* Effect.exit(Manager.run({ controllers: [fragile] }))
      assert.isTrue(Exit.isFailure(exit))
      if (Exit.isSuccess(exit)) return
      assert.strictEqual((Cause.squash(exit.cause) as Error).message, "fragile failed: no more")
      const all = exit.cause.reasons.map((reason) =>
        reason._tag === "Fail" ? reason.error.message : reason._tag === "Die" ? (reason.defect as Error).message : ""
      )
      assert.deepStrictEqual(all, ["fragile failed: no more", "cannot even stop"])
    }).pipe(Effect.provide(alone))
  )

  it.effect("an error during an orderly stop is logged, and does not fail the stop", () =>
    Effect.gen(function* () {
      const { lines, logger } = logged()
      const stubborn: Controller.Descriptor = {
        ...tracing("stubborn", []),
        layer: Layer.effectDiscard(Effect.addFinalizer(() => Effect.die(new Error("cannot even stop"))))
      }
      const fiber = yield* Effect.forkChild(Effect.provide(Manager.run({ controllers: [stubborn] }), logger))
      yield* Cluster.settle
      yield* Fiber.interrupt(fiber)
      const exit = yield* Fiber.await(fiber)
      assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
      assert.lengthOf(lines(/Further errors/), 1)
    }).pipe(Effect.provide(alone))
  )
})
