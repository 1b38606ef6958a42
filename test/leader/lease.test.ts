import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Lease } from "../../src/kube/resources.ts"
import * as LeasePolicy from "../../src/leader/lease.ts"
import { runs } from "../support/runs.ts"

const settings = (identity: string): LeasePolicy.Settings => ({
  identity,
  leaseDuration: 15_000,
  renewDeadline: 10_000,
  retryPeriod: 2_000
})

const int = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** One step of the model: `who` reads, or reads and writes; then real time passes. */
const Step = Schema.Struct({
  who: int(0, 2),
  /** Milliseconds between the read and the arrival of the write, and until the response. */
  there: int(0, 5_000),
  back: int(0, 5_000),
  answered: Schema.Boolean,
  pause: int(0, 9_000)
})
const Steps = Arbitrary.schema(Schema.Array(Step).check(Schema.isMaxLength(60)))
const Skew = int(-100_000, 100_000)
const Skews = Arbitrary.schema(Schema.Tuple([Skew, Skew, Skew]))

interface Model {
  observed: LeasePolicy.Observed | undefined
  /** The time until which this candidate leads, in milliseconds. */
  until: number
}

/**
 * Three candidates with wall clocks of their own, one server, whole round trips as steps. Between its steps a candidate may pause for any time. At
 * no moment do two of them lead.
 */
const atMostOneLeader = (steps: ReadonlyArray<typeof Step.Type>, skews: ReadonlyArray<number>): boolean => {
  let now = 1_000_000
  let stored: Lease | undefined
  const models: Array<Model> = [0, 1, 2].map(() => ({ observed: undefined, until: 0 }))
  for (const { who, there, back, answered, pause } of steps) {
    const mine = settings(`candidate-${who}`)
    const model = models[who]!
    model.observed = LeasePolicy.observe(model.observed, stored, mine, now)
    const decision = LeasePolicy.decide(model.observed, stored !== undefined, mine, now)
    if (decision._tag !== "Wait") {
      const sentAt = now
      now += there
      const spec = LeasePolicy.held(stored?.spec, mine, (now + skews[who]!) * 1000)
      stored = { metadata: { name: "demo" }, spec }
      if (answered) {
        now += back
        model.observed = LeasePolicy.observe(model.observed, stored, mine, now)
        model.until = Math.max(model.until, LeasePolicy.validUntil(sentAt, mine))
      }
      // A new leader may begin only after all others have stopped leading, at the latest when its write takes effect.
      const others = models.filter((other, index) => index !== who && other.until > now - (answered ? back : 0))
      if (others.length > 0) return false
    }
    now += pause
  }
  return true
}

describe("lease", () => {
  it.effect("at most one candidate leads, whatever the wall clocks show", () =>
    Effect.gen(function* () {
      const result = yield* Arbitrary.checkEffect(
        Arbitrary.all([Steps, Skews]),
        ([steps, skews]) => Effect.sync(() => atMostOneLeader(steps, skews)),
        { runs: runs(1000), seed: 7, size: 60 }
      )
      assert.strictEqual(result._tag, "Passed", Arbitrary.formatCheckFailure(result))
    })
  )

  it("only a change of the record restarts the clock", () => {
    const mine = settings("a")
    const lease = (renewTime: string): Lease => ({
      metadata: { name: "demo", resourceVersion: renewTime },
      spec: { holderIdentity: "b", leaseDurationSeconds: 15, renewTime }
    })
    const first = LeasePolicy.observe(undefined, lease("1"), mine, 100)
    assert.strictEqual(LeasePolicy.observe(first, lease("1"), mine, 200), first)
    assert.deepInclude(LeasePolicy.observe(first, lease("2"), mine, 200), { since: 200 })
    assert.strictEqual(LeasePolicy.observe(first, undefined, mine, 300), first)
    assert.deepStrictEqual(LeasePolicy.decide(first, true, mine, 15_099), { _tag: "Wait", holder: "b", until: 15_100 })
    assert.deepStrictEqual(LeasePolicy.decide(first, true, mine, 15_100), { _tag: "Take" })
    assert.deepStrictEqual(LeasePolicy.decide(first, false, mine, 200)._tag, "Wait")
    assert.deepStrictEqual(LeasePolicy.decide(undefined, false, mine, 0), { _tag: "Create" })
  })

  it("a record with an invalid duration is judged by the candidate's own", () => {
    const mine = settings("a")
    for (const leaseDurationSeconds of [0, -1, Number.NaN]) {
      const lease: Lease = { metadata: { name: "demo" }, spec: { holderIdentity: "b", leaseDurationSeconds } }
      assert.deepInclude(LeasePolicy.observe(undefined, lease, mine, 0), { validFor: 15_000, holder: "b" })
    }
    assert.deepInclude(LeasePolicy.observe(undefined, { metadata: { name: "demo" } }, mine, 0), { holder: "" })
  })

  it("takeover counts a transition, renewal does not, release keeps the count", () => {
    const mine = settings("a")
    const taken = LeasePolicy.held({ holderIdentity: "b", leaseTransitions: 4, strategy: "kept" }, mine, 0)
    assert.deepInclude(taken, { leaseTransitions: 5, strategy: "kept", acquireTime: "1970-01-01T00:00:00.000000Z" })
    const renewed = LeasePolicy.held(taken, mine, 1_500_001)
    assert.deepInclude(renewed, { leaseTransitions: 5, renewTime: "1970-01-01T00:00:01.500001Z" })
    assert.strictEqual(renewed.acquireTime, taken.acquireTime)
    assert.deepInclude(LeasePolicy.released(renewed, 0), { leaseTransitions: 5, holderIdentity: "" })
  })

  it("attempts to acquire are 1 to 2.2 retry periods apart", () => {
    assert.strictEqual(LeasePolicy.acquireDelay(settings("a"), 0), 2000)
    assert.strictEqual(LeasePolicy.acquireDelay(settings("a"), 1), 4400)
  })
})
