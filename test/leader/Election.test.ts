import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { Health, makeUnsafe } from "../../src/layers/Health.ts"
import { Leadership, type Outcome, type Term } from "../../src/layers/Leadership.ts"
import { Recorder } from "../../src/layers/Recorder.ts"
import * as Election from "../../src/leader/Election.ts"
import type * as Renewal from "../../src/leader/renewal.ts"
import * as Harness from "./harness.ts"

const leasePath = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/demo"
const options = (identity: string): Election.Options => ({ namespace: "kube-system", name: "demo", identity })

/** One process's election, over its own connection to the server. */
const elector = (
  server: Harness.Server,
  identity: string,
  next: () => Harness.Fault = () => Harness.fine,
  keeper?: Renewal.Keeper
) =>
  Effect.map(
    Layer.build(
      Election.layer({ ...options(identity), keeper }).pipe(
        Layer.provide(Layer.merge(Harness.client(Harness.faulty(server.transport, next)), Recorder.layerNoop)),
        Layer.fresh
      )
    ),
    (context) => Context.get(context, Leadership)
  )

const run = <A, E, R>(leadership: Leadership["Service"], work: (term: Term) => Effect.Effect<A, E, R>) =>
  Effect.provideService(Leadership.run(work), Leadership, leadership)

const spec = (server: Harness.Server) => server.objects.get(leasePath)?.["spec"]

describe("Election", () => {
  /** A keeper that renews nothing and reports what the test says; `proven` is the time in the shared memory. */
  const keeper = () => {
    const seen = { kept: 0, stopped: 0, prepared: 0, proven: 0, holding: undefined as Renewal.Holding | undefined }
    const gone = Effect.runSync(Deferred.make<void>())
    const keeper: Renewal.Keeper = {
      prepare: Effect.sync(() => void seen.prepared++),
      keep: (holding) => {
        seen.kept++
        seen.holding = holding
        seen.proven = holding.sentAt
        return {
          provenUnsafe: () => seen.proven,
          run: () =>
            Effect.ensuring(
              Deferred.await(gone),
              Effect.sync(() => void seen.stopped++)
            )
        }
      }
    }
    return { seen, keeper, leave: Deferred.succeed(gone, undefined) }
  }
  const renewals = (server: Harness.Server) => server.requests.filter(({ method }) => method === "PUT").length

  it.effect(
    "renewals of a keeper extend the term; after the keeper has ended the lease is renewed in the main thread",
    () =>
      Effect.gen(function* () {
        const server = Harness.server()
        const { keeper: given, leave, seen } = keeper()
        const a = yield* elector(server, "a", undefined, given)
        const term = yield* a.acquire
        assert.deepInclude(seen, { kept: 1, prepared: 1 })
        assert.deepInclude(seen.holding, { name: "demo", namespace: "kube-system" })
        yield* TestClock.adjust("9 seconds")
        assert.strictEqual(renewals(server), 0)
        seen.proven += 9000
        yield* TestClock.adjust("9 seconds")
        assert.isTrue(term.isValidUnsafe())
        yield* leave
        yield* TestClock.adjust("1 minute")
        assert.isTrue(term.isValidUnsafe())
        assert.isAtLeast(renewals(server), 29)
      }).pipe(Effect.scoped)
  )

  it.effect("a term that has ended is not renewed, although its controllers still run", () =>
    Effect.gen(function* () {
      const server = Harness.server()
      const { keeper: given, seen } = keeper()
      const a = yield* elector(server, "a", undefined, given)
      const stuck = yield* Deferred.make<void>()
      const fiber = yield* Effect.forkChild(run(a, () => Effect.uninterruptible(Deferred.await(stuck))))
      yield* TestClock.adjust("9999 millis")
      assert.strictEqual(seen.stopped, 0)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(seen.stopped, 1)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(renewals(server), 0)
      yield* Deferred.succeed(stuck, undefined)
      const outcome = yield* Fiber.join(fiber)
      assert.strictEqual(outcome._tag === "Lost" ? outcome.reason.reason : "", "NotRenewed")
    })
  )

  it.effect("liveness fails if controllers still run long after the lease has expired, and not before", () => {
    let cut = false
    const health = makeUnsafe()
    return Effect.gen(function* () {
      const server = Harness.server()
      const a = yield* elector(server, "a", () => (cut ? { _tag: "Hang" } : Harness.fine))
      const said = Effect.flatMap(health.checks("liveness"), (checks) =>
        Effect.forEach(checks, ({ name, run }) => Effect.map(run, (text) => [name, text] as const))
      )
      const well: Array<readonly [string, string | undefined]> = [["leader-election-demo", undefined]]
      assert.deepStrictEqual(yield* said, well)
      const stuck = yield* Deferred.make<void>()
      const fiber = yield* Effect.forkChild(run(a, () => Effect.uninterruptible(Deferred.await(stuck))))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* said, well)
      cut = true
      // The last renewal was sent just now; the lease and 20 s more pass.
      yield* TestClock.adjust("35 seconds")
      assert.deepStrictEqual(yield* said, well)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* said, [
        ["leader-election-demo", "lease kube-system/demo was not renewed for 36s, and the work under it has not ended"]
      ])
      cut = false
      yield* Deferred.succeed(stuck, undefined)
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(yield* said, well)
    }).pipe(Effect.provideService(Health, health))
  })

  it.effect("creates the lease, renews it every retry period and releases it when its scope closes", () =>
    Effect.gen(function* () {
      const server = Harness.server()
      const a = yield* elector(server, "a")
      const scope = yield* Scope.make()
      yield* TestClock.setTime(Date.UTC(2026, 0, 1))
      const term = yield* Scope.provide(a.acquire, scope)
      assert.deepStrictEqual(spec(server), {
        holderIdentity: "a",
        leaseDurationSeconds: 15,
        acquireTime: "2026-01-01T00:00:00.000000Z",
        renewTime: "2026-01-01T00:00:00.000000Z",
        leaseTransitions: 0
      })
      const before = server.requests.length
      yield* TestClock.adjust("20 seconds")
      // One PUT for each renewal, without a read.
      assert.deepStrictEqual(
        server.requests.slice(before).map((request) => request.method),
        Array.from({ length: 10 }, () => "PUT")
      )
      assert.strictEqual(spec(server).renewTime, "2026-01-01T00:00:20.000000Z")
      assert.strictEqual(spec(server).acquireTime, "2026-01-01T00:00:00.000000Z")
      assert.isTrue(term.isValidUnsafe())
      yield* Scope.close(scope, Exit.void)
      assert.isFalse(term.isValidUnsafe())
      assert.strictEqual((yield* term.lost).reason, "Released")
      assert.deepInclude(spec(server), { holderIdentity: "", leaseDurationSeconds: 1 })
      const after = server.requests.length
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(server.requests.length, after, "nothing is sent after the release")
    })
  )

  it.effect("a released lease is taken within one jittered retry, with one transition more", () =>
    Effect.gen(function* () {
      const server = Harness.server()
      const a = yield* elector(server, "a")
      const b = yield* elector(server, "b")
      const scope = yield* Scope.make()
      yield* Scope.provide(a.acquire, scope)
      const second = yield* Effect.forkScoped(b.acquire)
      yield* TestClock.adjust("30 seconds")
      assert.isUndefined(second.pollUnsafe())
      assert.strictEqual(yield* b.leader, "a")
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust(4400)
      assert.isTrue((yield* Fiber.join(second)).isValidUnsafe())
      assert.deepInclude(spec(server), { holderIdentity: "b", leaseTransitions: 1, leaseDurationSeconds: 15 })
      assert.strictEqual(yield* b.leader, "b")
    })
  )

  it.effect(
    "if every renewal hangs, the term ends 10 s after the last success was sent, and its work is interrupted",
    () =>
      Effect.gen(function* () {
        const server = Harness.server()
        let hang = false
        const a = yield* elector(server, "a", () => (hang ? { _tag: "Hang" } : Harness.fine))
        const stopped: Array<string> = []
        const note = (what: string) =>
          Effect.onInterrupt(Effect.never, () =>
            Effect.map(Clock.currentTimeMillis, (at) => void stopped.push(`${what}@${at}`))
          )
        const fiber = yield* Effect.forkChild(
          run(a, () =>
            Effect.gen(function* () {
              yield* Effect.forkScoped(note("informer"))
              yield* Effect.forkChild(note("worker"))
              return yield* note("work")
            })
          )
        )
        yield* TestClock.adjust("6 seconds")
        hang = true
        yield* TestClock.adjust("9999 millis")
        assert.deepStrictEqual(stopped, [])
        yield* TestClock.adjust("1 millis")
        // The release hangs too. It is abandoned when the lease has expired, and only then `run` returns.
        assert.deepStrictEqual(stopped.sort(), ["informer@16000", "work@16000", "worker@16000"])
        yield* TestClock.adjust("5 seconds")
        const outcome: Outcome<never> = yield* Fiber.join(fiber)
        assert.strictEqual(outcome._tag === "Lost" ? outcome.reason.reason : undefined, "NotRenewed")
      })
  )

  it.effect("a stolen lease ends the term at the next renewal, and is not released", () =>
    Effect.gen(function* () {
      const server = Harness.server()
      const a = yield* elector(server, "a")
      let closed: Exit.Exit<unknown, unknown> | undefined
      const note = Effect.addFinalizer((exit) => Effect.sync(() => (closed = exit)))
      const fiber = yield* Effect.forkChild(run(a, () => Effect.andThen(note, Effect.never)))
      yield* TestClock.adjust("1 seconds")
      server.edit(leasePath, (lease) => (lease.spec.holderIdentity = "thief"))
      yield* TestClock.adjust("1 seconds")
      const outcome = yield* Fiber.join(fiber)
      // The scope of the work closes with the reason.
      assert.deepStrictEqual(closed, outcome._tag === "Lost" ? Exit.fail(outcome.reason) : undefined)
      assert.deepInclude(outcome._tag === "Lost" ? outcome.reason : {}, { reason: "Stolen" })
      assert.strictEqual(spec(server).holderIdentity, "thief")
      assert.strictEqual(yield* a.leader, "thief")
    })
  )

  it.effect("a leader that lost its lease to another does not log a release", () =>
    Effect.gen(function* () {
      const server = Harness.server()
      let hang = false
      const a = yield* elector(server, "a", () => (hang ? { _tag: "Hang" } : Harness.fine))
      const said: Array<unknown> = []
      const logger = Logger.make(({ message }) => void said.push(message))
      const fiber = yield* Effect.forkChild(
        Effect.provide(
          run(a, () => Effect.never),
          Logger.layer([logger])
        )
      )
      yield* TestClock.adjust("1 seconds")
      hang = true
      server.edit(leasePath, (lease) => (lease.spec.holderIdentity = "thief"))
      // The renewals of these seconds hang for longer than the term; the read before the release does not.
      yield* TestClock.adjust("7 seconds")
      hang = false
      yield* TestClock.adjust("5 seconds")
      const outcome = yield* Fiber.join(fiber)
      assert.strictEqual(outcome._tag === "Lost" ? outcome.reason.reason : undefined, "NotRenewed")
      assert.strictEqual(spec(server).holderIdentity, "thief")
      assert.notInclude(said.join("\n"), "released")
    })
  )

  it.effect("a candidate can lead again after a loss", () =>
    Effect.gen(function* () {
      const server = Harness.server()
      const a = yield* elector(server, "a")
      const outcomes: Array<string> = []
      yield* Effect.forkScoped(
        Effect.forever(
          Effect.map(
            run(a, () => Effect.never),
            (outcome) => void outcomes.push(outcome._tag)
          )
        )
      )
      for (const round of [1, 2]) {
        yield* TestClock.adjust("1 seconds")
        server.edit(leasePath, (lease) => {
          lease.spec.holderIdentity = "thief"
          lease.spec.renewTime = String(round)
        })
        yield* TestClock.adjust("2 seconds")
        assert.deepStrictEqual(
          outcomes,
          Array.from({ length: round }, () => "Lost")
        )
        yield* TestClock.adjust("20 seconds")
        assert.strictEqual(spec(server).holderIdentity, "a")
      }
    })
  )

  it.effect("failed renewals do not end the term as long as one in ten seconds succeeds", () =>
    Effect.gen(function* () {
      const server = Harness.server()
      let calls = 0
      // One of four calls succeeds. The client does not retry a 403, so every call is an attempt of the election.
      const a = yield* elector(server, "a", () =>
        calls++ % 4 === 0 || calls < 3 ? Harness.fine : { _tag: "Error", status: 403, back: 0 }
      )
      const term = yield* a.acquire
      for (let i = 0; i < 60; i++) {
        yield* TestClock.adjust("1 seconds")
        assert.isTrue(term.isValidUnsafe())
      }
    })
  )

  it.effect("a standby keeps trying with jitter while the server is unreachable", () =>
    Effect.gen(function* () {
      const server = Harness.server()
      let up = false
      const a = yield* elector(server, "a", () => (up ? Harness.fine : { _tag: "Error", status: 403, back: 0 }))
      const fiber = yield* Effect.forkScoped(a.acquire)
      yield* TestClock.adjust("5 minutes")
      up = true
      yield* TestClock.adjust(4400)
      assert.isTrue((yield* Fiber.join(fiber)).isValidUnsafe())
    })
  )

  it.effect("waiting can be interrupted at once; an attempt that has reached the server is released", () =>
    Effect.gen(function* () {
      const server = Harness.server()
      let slow = true
      const a = yield* elector(server, "a", () => (slow ? { _tag: "LostAnswer", there: 10 } : Harness.fine))
      slow = false
      const b = yield* elector(server, "b")
      const holder = yield* Scope.make()
      yield* Scope.provide(b.acquire, holder)
      const waiting = yield* Effect.forkChild(Effect.scoped(a.acquire))
      yield* TestClock.adjust("3 seconds")
      yield* Fiber.interrupt(waiting)
      assert.strictEqual(spec(server).holderIdentity, "b")
      yield* Scope.close(holder, Exit.void)
      let writes = 0
      const c = yield* elector(server, "c", () => (writes++ === 1 ? { _tag: "LostAnswer", there: 10 } : Harness.fine))
      const taking = yield* Effect.forkChild(Effect.scoped(c.acquire))
      yield* TestClock.adjust("1 seconds")
      assert.strictEqual(spec(server).holderIdentity, "c")
      yield* Fiber.interrupt(taking)
      assert.strictEqual(spec(server).holderIdentity, "")
    })
  )

  it.effect("one service holds one term at a time", () =>
    Effect.gen(function* () {
      const server = Harness.server()
      const a = yield* elector(server, "a")
      const scope = yield* Scope.make()
      yield* Scope.provide(a.acquire, scope)
      const second = yield* Effect.forkScoped(a.acquire)
      yield* TestClock.adjust("1 minute")
      assert.isUndefined(second.pollUnsafe())
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust("5 seconds")
      assert.isTrue((yield* Fiber.join(second)).isValidUnsafe())
    })
  )

  it.effect("a leader writes a deleted lease again; a standby does not take it over before it would have expired", () =>
    Effect.gen(function* () {
      const server = Harness.server()
      let cut = false
      const a = yield* elector(server, "a", () => (cut ? { _tag: "Hang" } : Harness.fine))
      const b = yield* elector(server, "b")
      const term = yield* a.acquire
      const second = yield* Effect.forkScoped(b.acquire)
      yield* TestClock.adjust("6 seconds")
      server.objects.delete(leasePath)
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(spec(server).holderIdentity, "a")
      yield* TestClock.adjust("6 seconds")
      cut = true
      server.objects.delete(leasePath)
      yield* TestClock.adjust("9 seconds")
      assert.isFalse(term.isValidUnsafe() && second.pollUnsafe() !== undefined)
      yield* TestClock.adjust("20 seconds")
      assert.isFalse(term.isValidUnsafe())
      assert.isTrue((yield* Fiber.join(second)).isValidUnsafe())
      cut = false
    })
  )

  it.effect("standbys see every change of leader", () =>
    Effect.gen(function* () {
      const server = Harness.server()
      const a = yield* elector(server, "a")
      const b = yield* elector(server, "b")
      const seen: Array<string | undefined> = []
      yield* Effect.forkScoped(Stream.runForEach(b.leaderChanges, (leader) => Effect.sync(() => seen.push(leader))))
      const scope = yield* Scope.make()
      yield* Scope.provide(a.acquire, scope)
      yield* Effect.forkScoped(b.acquire)
      yield* TestClock.adjust("10 seconds")
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(seen, [undefined, "a", "b"])
    })
  )

  it("durations that contradict each other are rejected in one sentence", () => {
    const message = (change: Partial<Election.Options>) => {
      const result = Election.settingsOf({ ...options("a"), ...change })
      return Result.isFailure(result) ? result.failure.message : undefined
    }
    assert.isUndefined(message({}))
    assert.strictEqual(
      message({ renewDeadline: "15 seconds" }),
      "leader election: the lease duration (15s) must be longer than the renew deadline (15s)"
    )
    assert.strictEqual(
      message({ retryPeriod: "9 seconds" }),
      "leader election: the renew deadline (10s) must be longer than 1.2 times the retry period (9s)"
    )
    assert.include(message({ retryPeriod: 0 }), "must be a positive duration")
    assert.include(
      message({ leaseDuration: "900 millis", renewDeadline: 500, retryPeriod: 100 }),
      "at least one second"
    )
    assert.include(message({ leaseDuration: "soon" as any }), "lease duration (NaN)")
    assert.include(message({ identity: "" }), "identity")
  })
})

describe("release", () => {
  it.effect("is retried if a renewal in flight was stored first", () =>
    Effect.gen(function* () {
      const server = Harness.server()
      let swallow = false
      const a = yield* elector(server, "a", () => {
        if (!swallow) return Harness.fine
        swallow = false
        return { _tag: "LostAnswer", there: 100 }
      })
      const scope = yield* Scope.make()
      yield* Scope.provide(a.acquire, scope)
      yield* TestClock.adjust("3 seconds")
      // The server executes this renewal before the release, and its response is lost.
      swallow = true
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(spec(server).holderIdentity, "a")
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(spec(server).holderIdentity, "")
    })
  )

  it.effect("gives a renewal in flight its response", () =>
    Effect.gen(function* () {
      const server = Harness.server()
      const { transport } = server
      const abandoned: Array<string> = []
      const slow: typeof transport.send = (request) =>
        Effect.delay(transport.send(request), "300 millis").pipe(
          Effect.onInterrupt(() => Effect.sync(() => void abandoned.push(request.method)))
        )
      const context = yield* Layer.build(
        Election.layer(options("a")).pipe(
          Layer.provide(Layer.merge(Harness.client({ ...transport, send: slow }), Recorder.layerNoop))
        )
      )
      const scope = yield* Scope.make()
      const acquiring = yield* Effect.forkChild(Scope.provide(Context.get(context, Leadership).acquire, scope))
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(acquiring)
      const before = server.requests.length
      const isRenewed = () => server.requests.length > before
      // The first renewal was sent and has not arrived yet.
      yield* TestClock.adjust("1500 millis")
      assert.isFalse(isRenewed())
      const stopping = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("3 seconds")
      yield* Fiber.join(stopping)
      assert.isTrue(isRenewed())
      assert.deepStrictEqual(abandoned, [])
      assert.strictEqual(spec(server).holderIdentity, "")
    })
  )

  it.effect("waits until the work of the term has ended, and renews meanwhile", () =>
    Effect.gen(function* () {
      const server = Harness.server()
      const a = yield* elector(server, "a")
      const b = yield* elector(server, "b")
      const fiber = yield* Effect.forkChild(
        run(a, () =>
          Effect.andThen(
            Effect.addFinalizer(() => Effect.sleep("25 seconds")),
            Effect.never
          )
        )
      )
      yield* TestClock.adjust("1 seconds")
      const second = yield* Effect.forkScoped(b.acquire)
      const stopping = yield* Effect.forkChild(Fiber.interrupt(fiber))
      yield* TestClock.adjust("24 seconds")
      assert.isUndefined(second.pollUnsafe())
      assert.strictEqual(spec(server).holderIdentity, "a")
      yield* TestClock.adjust("6 seconds")
      yield* Fiber.join(stopping)
      assert.isTrue((yield* Fiber.join(second)).isValidUnsafe())
    })
  )

  it.effect("ends within one renew deadline even against calls that cannot be interrupted", () =>
    Effect.gen(function* () {
      const server = Harness.server()
      const stuck = yield* Deferred.make<void>()
      let block = false
      const base = server.transport
      const transport = {
        ...base,
        send: (request: Parameters<typeof base.send>[0]) =>
          block ? Effect.uninterruptible(Effect.andThen(Deferred.await(stuck), base.send(request))) : base.send(request)
      }
      const context = yield* Layer.build(
        Election.layer(options("a")).pipe(Layer.provide(Layer.merge(Harness.client(transport), Recorder.layerNoop)))
      )
      const a = Context.get(context, Leadership)
      const scope = yield* Scope.make()
      yield* Scope.provide(a.acquire, scope)
      block = true
      yield* TestClock.adjust("3 seconds")
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(closing)
      yield* Deferred.succeed(stuck, undefined)
    })
  )
})

describe("events", () => {
  it.effect("are recorded on the Lease when a term begins and ends, the last one before the recorder closes", () =>
    Effect.gen(function* () {
      const server = Harness.server()
      yield* Effect.scoped(
        Effect.gen(function* () {
          const layer = Election.layer(options("a")).pipe(
            Layer.provide(Recorder.layer),
            Layer.provide(Harness.client(server.transport))
          )
          const leadership = Context.get(yield* Layer.build(layer), Leadership)
          yield* leadership.acquire
        })
      )
      const events = [...server.objects].filter(([path]) => path.includes("/namespaces/kube-system/events/"))
      assert.deepStrictEqual(
        events.map(([, event]) => [event["reason"], event["message"], event["involvedObject"].kind]),
        [
          ["LeaderElection", "a became leader", "Lease"],
          ["LeaderElection", "a stopped leading", "Lease"]
        ]
      )
    })
  )
})

describe("Leadership.layerAlways", () => {
  it.effect("is one term that never ends", () =>
    Effect.gen(function* () {
      const outcome = yield* Leadership.run((term) => Effect.sync(() => term.isValidUnsafe()))
      assert.deepStrictEqual(outcome, { _tag: "Finished", value: true })
    }).pipe(Effect.provide(Leadership.layerAlways))
  )

  it.effect("run closes its scope with the exit of the work", () =>
    Effect.gen(function* () {
      let seen: Exit.Exit<unknown, unknown> | undefined
      const exit = yield* Effect.exit(
        Leadership.run(() =>
          Effect.andThen(
            Effect.addFinalizer((exit) => Effect.sync(() => (seen = exit))),
            Effect.fail("broken")
          )
        )
      )
      assert.deepStrictEqual(exit, Exit.fail("broken"))
      assert.isTrue(seen !== undefined && Exit.isFailure(seen))
    }).pipe(Effect.provide(Leadership.layerAlways))
  )
})
