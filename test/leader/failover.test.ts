/**
 * The time without a leader: a leader that stops renewing is replaced within one lease and one jittered retry after its last renewal, because
 * standbys watch the lease; a lease that is released is taken at once; a standby without the permission to watch takes over later.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { Lease } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { isWatch, on } from "../../src/apiserver/faults.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Leadership } from "../../src/layers/Leadership.ts"
import { Recorder } from "../../src/layers/Recorder.ts"
import { Transport } from "../../src/layers/Transport.ts"
import * as Election from "../../src/leader/Election.ts"
import { runs } from "../support/runs.ts"
import * as Harness from "./harness.ts"

const cluster = Layer.provideMerge(KubeClient.layer, Layer.provideMerge(ApiServer.layerTransport, ApiServer.layer()))

const elector = Effect.fnUntraced(function* (identity: string, next?: () => Harness.Fault) {
  const layer = Election
    // A leader that stops renewing does not release the lease.
    .layer({ namespace: "kube-system", name: "demo", identity, releaseOnStop: next === undefined })
    .pipe(
      Layer.provide(
        Layer.merge(Harness.client(Harness.faulty(yield* Transport, next ?? (() => Harness.fine))), Recorder.layerNoop)
      )
    )
  return Context.get(yield* Layer.build(Layer.fresh(layer)), Leadership)
})

const now = Clock.currentTimeMillis

/** Two standbys; each releases the lease when it leads. */
const followed = Effect.gen(function* () {
  const waiting = []
  for (const name of ["b", "c"]) {
    const standby = yield* elector(name)
    waiting.push(yield* Effect.forkScoped(Effect.andThen(standby.acquire, now)))
  }
  return waiting
})

const renewedAt = Effect.map(
  Effect.flatMap(KubeClient, (client) => client.get(Lease, { namespace: "kube-system", name: "demo" })),
  (lease) => Date.parse(lease.spec?.renewTime ?? "")
)

/** Milliseconds between the last renewal of a leader that stops renewing at `silentAt` and the beginning of the next term. */
const gap = Effect.fnUntraced(function* (silentAt: number) {
  let silent = false
  const a = yield* elector("a", () => (silent ? { _tag: "Hang" } : Harness.fine))
  yield* a.acquire
  const waiting = yield* followed
  yield* TestClock.adjust(silentAt)
  silent = true
  const last = yield* renewedAt
  yield* TestClock.adjust("1 minute")
  const led = waiting.flatMap((fiber) => {
    const exit = fiber.pollUnsafe()
    return exit !== undefined && Exit.isSuccess(exit) ? [exit.value] : []
  })
  assert.strictEqual(led.length, 1)
  return Math.min(...led) - last
})

const Situation = Schema.Struct({
  silentAt: Schema.Int.check(Schema.isBetween({ minimum: 10_000, maximum: 40_000 })),
  seed: Schema.String
})

describe("failover", () => {
  it.effect("a leader that does not renew is replaced within the lease and one jittered retry", () =>
    Effect.gen(function* () {
      const result = yield* Arbitrary.checkEffect(
        Arbitrary.schema(Situation),
        ({ seed, silentAt }) =>
          gap(silentAt).pipe(
            // Never before the lease has expired, always within one jittered retry after it.
            Effect.map((millis) => millis >= 15_000 && millis <= 15_000 + 2.2 * 2_000),
            Random.withSeed(seed),
            Effect.scoped,
            Effect.provide(Layer.provideMerge(Layer.fresh(cluster), TestClock.layer()))
          ),
        { runs: runs(30), seed: 5, maxShrinks: 10 }
      )
      assert.strictEqual(result._tag, "Passed", Arbitrary.formatCheckFailure(result))
    })
  )

  it.effect("a released lease is taken over at once", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      yield* Scope.provide((yield* elector("a")).acquire, scope)
      const waiting = yield* followed
      yield* TestClock.adjust("7 seconds")
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(waiting.filter((fiber) => fiber.pollUnsafe() !== undefined).length, 1)
    }).pipe(Effect.provide(cluster))
  )

  it.effect("a candidate without the permission to watch polls, and takes over a little later", () =>
    Effect.gen(function* () {
      const leases = on({ resource: "leases.coordination.k8s.io" })
      let watches = 0
      yield* (yield* ApiServer).setFaults([
        {
          match: (request) => {
            const refused = isWatch(request) && leases(request)
            if (refused) watches++
            return refused
          },
          fault: { _tag: "Status", code: 403 }
        }
      ])
      const millis = yield* gap(20_000)
      assert.isAtLeast(millis, 15_000)
      assert.isAtMost(millis, 15_000 + 4.4 * 2_000 + 1_000)
      // Two standbys for less than a minute: a rejected watch is not retried all the time.
      assert.isAtLeast(watches, 2)
      assert.isAtMost(watches, 10)
    }).pipe(Effect.provide(cluster))
  )
})
