/** What an election shows of its terms: how many, since when, and its last attempts to renew the lease. */
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { Leadership } from "../../src/layers/Leadership.ts"
import { Recorder } from "../../src/layers/Recorder.ts"
import * as Election from "../../src/leader/Election.ts"
import type * as Renewal from "../../src/leader/renewal.ts"
import { most } from "../../src/leader/termCounters.ts"
import * as Harness from "./harness.ts"

const leasePath = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/demo"

const elector = (server: Harness.Server, next: () => Harness.Fault = () => Harness.fine, keeper?: Renewal.Keeper) =>
  Effect.map(
    Effect.flatMap(Clock.Clock, (clock) =>
      Layer.build(
        Election.layer({ namespace: "kube-system", name: "demo", identity: "a", keeper }).pipe(
          Layer.provide(Layer.merge(Harness.client(Harness.faulty(server.transport, next)), Recorder.layerNoop)),
          Layer.fresh
        )
      ).pipe(
        Effect.provideService(
          Clock.Clock,
          Harness.skewed(clock, () => ahead)
        )
      )
    ),
    (context) => Context.get(context, Leadership)
  )

/** The wall clock is ahead of the monotonic one by so many milliseconds. */
const ahead = 1_000_000

describe("the terms of an election", () => {
  it.effect("have no renewals before the first term; then the time and the duration of each, the last ones only", () =>
    Effect.gen(function* () {
      let fault: Harness.Fault = { _tag: "Ok", there: 20, back: 30 }
      const a = yield* elector(Harness.server(), () => fault)
      assert.deepInclude(yield* a.terms, { count: 0, since: undefined, transitions: undefined, renewals: [] })
      const acquiring = yield* Effect.forkChild(a.acquire, { startImmediately: true })
      yield* Effect.addFinalizer(() => Effect.sync(() => (fault = Harness.fine)))
      yield* TestClock.adjust("5 seconds")
      const first = yield* a.terms
      assert.deepInclude(first, { count: 1, transitions: 0, lastError: undefined })
      // It reads the lease, and creates it: two calls.
      assert.strictEqual(first.since, ahead + 100)
      assert.deepStrictEqual(first.renewals, [
        { at: ahead + 2050, took: 50, isRenewed: true },
        { at: ahead + 4050, took: 50, isRenewed: true }
      ])
      yield* TestClock.adjust("10 minutes")
      const { renewals } = yield* a.terms
      assert.lengthOf(renewals, most)
      assert.isAtMost(ahead + (yield* Clock.currentTimeMillis) - (renewals.at(-1)?.at ?? 0), 2000)
      assert.strictEqual((renewals.at(-1)?.at ?? 0) - (renewals[0]?.at ?? 0), (most - 1) * 2000)
      yield* Fiber.join(acquiring)
    }).pipe(Effect.scoped)
  )

  it.effect("show renewals that failed, with the last error, also after the term has ended", () =>
    Effect.gen(function* () {
      let isDown = false
      const server = Harness.server()
      const a = yield* elector(server, () => (isDown ? { _tag: "Error", status: 403, back: 10 } : Harness.fine))
      const term = yield* a.acquire
      yield* Effect.addFinalizer(() => Effect.sync(() => (isDown = false)))
      yield* TestClock.adjust("3 seconds")
      isDown = true
      yield* TestClock.adjust("8 seconds")
      const { lastError, renewals } = yield* a.terms
      assert.deepStrictEqual(
        renewals.map(({ at, isRenewed }) => [at - ahead, isRenewed]),
        [
          [2000, true],
          [4000, false],
          [6000, false],
          [8000, false],
          [10_000, false]
        ]
      )
      assert.include(lastError?.message, "Injected")
      assert.strictEqual(lastError?.at, ahead + 10_010)
      yield* TestClock.adjust("10 seconds")
      assert.isFalse(term.isValidUnsafe())
      const after = yield* a.terms
      assert.deepInclude(after, { count: 1, since: undefined })
      assert.deepStrictEqual(after.renewals.slice(0, renewals.length), renewals)
      assert.include(after.lastError?.message, "Injected")
    }).pipe(Effect.scoped)
  )

  it.effect("count each term of this process, and the holders as the Lease does", () =>
    Effect.gen(function* () {
      const server = Harness.server()
      const a = yield* elector(server)
      const scope = yield* Scope.make()
      yield* Scope.provide(a.acquire, scope)
      server.edit(leasePath, (lease) => {
        lease.spec.holderIdentity = "b"
        lease.spec.leaseTransitions = 7
      })
      yield* TestClock.adjust("2 seconds")
      const lost = yield* a.terms
      assert.deepInclude(lost, { count: 1, since: undefined, transitions: 7 })
      assert.include(lost.lastError?.message, "b")
      assert.isFalse(lost.renewals.at(-1)?.isRenewed)
      yield* Scope.close(scope, yield* Effect.exit(Effect.void))
      const acquiring = yield* Effect.forkChild(a.acquire, { startImmediately: true })
      yield* TestClock.adjust("30 seconds")
      const again = yield* a.terms
      assert.deepInclude(again, { count: 2, transitions: 8 })
      assert.isDefined(again.since)
      yield* Fiber.join(acquiring)
    }).pipe(Effect.scoped)
  )

  it.effect("show a keeper's renewal at the time when it began, however late its result arrives", () =>
    Effect.gen(function* () {
      const news = yield* Deferred.make<Renewal.Heard>()
      const keeper: Renewal.Keeper = {
        prepare: Effect.void,
        keep: (holding) => ({
          provenUnsafe: () => holding.sentAt,
          run: (heard) => Effect.andThen(Effect.flatMap(Deferred.await(news), heard), Effect.never)
        })
      }
      const a = yield* elector(Harness.server(), undefined, keeper)
      yield* a.acquire
      const startedAt = Number(yield* Clock.monotonicTimeNanos) / 1e6 + 1000
      yield* TestClock.adjust("9 seconds")
      yield* Deferred.succeed(news, { _tag: "Failed", message: "down", startedAt, took: 40 })
      yield* TestClock.adjust("1 millis")
      const { lastError, renewals } = yield* a.terms
      assert.deepStrictEqual(renewals, [{ at: ahead + 1000, took: 40, isRenewed: false }])
      assert.deepStrictEqual(lastError, { message: "down", at: ahead + 1040 })
    }).pipe(Effect.scoped)
  )
})
