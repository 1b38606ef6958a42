/**
 * Two and three processes on one server with random faults: requests are delayed, rejected, cut, executed without a response, executed after the
 * client has disconnected, or lost; wall clocks are skewed and jump. At no moment of virtual time do two processes lead (safety), and soon after
 * the faults end exactly one leads (liveness).
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { Leadership, type Term } from "../../src/layers/Leadership.ts"
import { Recorder } from "../../src/layers/Recorder.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { Transport } from "../../src/layers/Transport.ts"
import * as Election from "../../src/leader/Election.ts"
import { runs } from "../support/runs.ts"
import * as Harness from "./harness.ts"

const int = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const Fault: Schema.Codec<Harness.Fault> = Schema.Union([
  Schema.TaggedStruct("Ok", { there: int(0, 8_000), back: int(0, 8_000) }),
  Schema.TaggedStruct("LostAnswer", { there: int(0, 40_000) }),
  Schema.TaggedStruct("Hang", {}),
  Schema.TaggedStruct("Error", { status: Schema.Literals([0, 403, 404, 409, 429, 500, 503]), back: int(0, 3_000) }),
  Schema.TaggedStruct("Cut", { there: int(0, 8_000), back: int(0, 8_000) })
])

const Plan = Schema.Struct({
  /** The faults of each candidate's requests, in order; after these, half of the requests succeed until the faults end. */
  faults: Schema.Array(Fault).check(Schema.isMaxLength(40)),
  /** Milliseconds by which the wall clock is off, changed at every request. */
  skews: Schema.Array(int(-3_600_000, 3_600_000)).check(Schema.isMaxLength(10)),
  /** How long the work of each term takes before the candidate releases the lease; then it takes part again. */
  works: Schema.Array(int(1, 60_000)).check(Schema.isMaxLength(3)),
  /** When its process is stopped (interrupted) during the faults; null: never. */
  stopAt: Schema.NullOr(int(0, 300_000))
})

const Scenario = Schema.Struct({ plans: Schema.Array(Plan).check(Schema.isMinLength(2), Schema.isMaxLength(3)) })

interface Leading {
  readonly who: string
  readonly term: Term
}

interface Watch {
  /** The running work, and every term so far. */
  readonly running: Set<Leading>
  readonly terms: Array<Leading>
  readonly violations: Array<string>
  count: number
}

const enter = (watch: Watch, me: Leading) => {
  watch.count++
  for (const other of watch.running) watch.violations.push(`${me.who} leads while the work of ${other.who} runs`)
  for (const other of watch.terms) {
    if (other.term.isValidUnsafe()) watch.violations.push(`${me.who} leads while ${other.who} can prove that it does`)
  }
  watch.running.add(me)
  watch.terms.push(me)
}

/** Two leaders would first meet at the beginning of a term, and work ends at its interruption: checking there checks every moment. */
const process = (watch: Watch, who: string, plan: typeof Plan.Type) => {
  let round = 0
  return Effect.forever(
    Leadership.run((term) =>
      Effect.suspend(() => {
        const me = { who, term }
        enter(watch, me)
        const length = plan.works[round++]
        return Effect.ensuring(
          length === undefined ? Effect.never : Effect.sleep(length),
          Effect.sync(() => watch.running.delete(me))
        )
      })
    )
  )
}

const candidate = Effect.fnUntraced(function* (
  base: Transport["Service"],
  watch: Watch,
  index: number,
  plan: typeof Plan.Type,
  calm: () => boolean
) {
  const who = `candidate-${index}`
  const clock = yield* Clock.Clock
  let call = 0
  const next = (): Harness.Fault => {
    const n = call++
    return calm() ? Harness.fine : (plan.faults[n] ?? (n % 2 === 0 ? Harness.fine : { _tag: "Hang" }))
  }
  const offset = () => (plan.skews.length === 0 ? 0 : plan.skews[call % plan.skews.length]!)
  const layer = Election.layer({ namespace: "kube-system", name: "demo", identity: who }).pipe(
    Layer.provide(Layer.merge(Harness.client(Harness.faulty(base, next)), Recorder.layerNoop))
  )
  const life = process(watch, who, plan).pipe(
    Effect.provide(layer, { local: true }),
    Effect.provideService(Clock.Clock, Harness.skewed(clock, offset))
  )
  if (plan.stopAt === null) return yield* life
  yield* Effect.timeoutOption(life, plan.stopAt)
  // Started again after the faults, so that there is a candidate.
  return yield* life
})

const trouble = 300_000

const scenario = (base: Transport["Service"], plans: ReadonlyArray<typeof Plan.Type>) =>
  Effect.gen(function* () {
    const watch: Watch = { running: new Set(), terms: [], violations: [], count: 0 }
    const clock = yield* Clock.Clock
    const began = clock.currentTimeMillisUnsafe()
    const calm = () => clock.currentTimeMillisUnsafe() >= began + trouble
    for (const [index, plan] of plans.entries()) {
      yield* Effect.forkScoped(Random.withSeed(candidate(base, watch, index, plan, calm), `seed ${index}`))
    }
    yield* TestClock.adjust(trouble)
    // Enough for the remaining work, the expiry of a lease, and one jittered retry.
    yield* TestClock.adjust("12 minutes")
    const valid = watch.terms.filter(({ term }) => term.isValidUnsafe())
    return { violations: watch.violations, leaders: watch.running.size, valid: valid.length, terms: watch.count }
  })

type Base = Effect.Effect<Transport["Service"], never, Scope.Scope>

/** The small server of the harness, and the embedded API server. */
const harness: Base = Effect.sync(() => Harness.server().transport)
const embedded: Base = Effect.map(Layer.build(Layer.provide(ApiServer.layerTransport, ApiServer.layer())), (context) =>
  Context.get(context, Transport)
)

const check = (server: Base, count: number) =>
  Arbitrary.checkEffect(
    Arbitrary.schema(Scenario),
    ({ plans }) =>
      Effect.scoped(
        Effect.map(
          Effect.flatMap(server, (base) => scenario(base, plans)),
          (seen) => seen.violations.length === 0 && seen.leaders === 1 && seen.valid === 1
        )
      ).pipe(Effect.provide(TestClock.layer())),
    { runs: count, seed: 11, size: 40, maxShrinks: 200 }
  )

describe("contention", () => {
  it.effect(
    "of two or three candidates with random faults at most one leads at any time, and one leads in the end",
    () =>
      Effect.gen(function* () {
        const result = yield* check(harness, runs(40))
        assert.strictEqual(result._tag, "Passed", JSON.stringify(result))
      }),
    runs(20_000)
  )

  it.effect(
    "the same on the embedded API server",
    () =>
      Effect.gen(function* () {
        const result = yield* check(embedded, runs(10))
        assert.strictEqual(result._tag, "Passed", JSON.stringify(result))
      }),
    runs(20_000)
  )
})
