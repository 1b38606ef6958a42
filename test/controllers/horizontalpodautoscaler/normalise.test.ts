/**
 * The normalisation of a recommendation, compared with a simple model that keeps all recommendations and changes, and
 * its guarantees: within the bounds, no faster than the policies allow, not below recent recommendations.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as History from "../../../src/controllers/horizontalpodautoscaler/plan/history.ts"
import * as Normalise from "../../../src/controllers/horizontalpodautoscaler/plan/normalise.ts"
import type { Behavior, Policy, Scaling } from "../../../src/controllers/horizontalpodautoscaler/plan/spec.ts"
import { checkProperty, int, oneOf, type ValueOf } from "../../support/property.ts"

const policy = Arbitrary.all({
  type: oneOf("Pods", "Percent"),
  value: oneOf(1, 2, 5, 10, 50, 100),
  periodSeconds: oneOf(15, 30, 60)
})
const scaling = Arbitrary.all({
  window: oneOf(0, 0, 30_000, 60_000),
  choice: oneOf("Max", "Max", "Min", "Disabled"),
  policies: Arbitrary.array(policy, { minLength: 1, maxLength: 2 })
})
const reconciliations = Arbitrary.array(
  Arbitrary.all({ wait: oneOf(15, 15, 15, 30, 70), wanted: oneOf(0, 1, 4, 12, 30, 30), factor: oneOf(1, 0.2) }),
  {
    minLength: 1,
    maxLength: 8
  }
)
const cases = Arbitrary.all({
  up: scaling,
  down: scaling,
  behaves: oneOf(true, true, false),
  min: int(1, 5),
  more: oneOf(0, 6, 40),
  first: int(0, 40),
  window: oneOf(0, 30_000, 60_000),
  reconciliations
})
type Case = ValueOf<typeof cases>

interface Step {
  readonly wanted: number
  readonly factor: number
  readonly before: number
  readonly after: number
  readonly now: number
  readonly normalised: Normalise.Normalised
}

const boundsOf = ({ first, min, more }: Case) => ({ min, max: min + more, current: min + (first % (more + 1)) })

/** The behavior may change between two reconciliations. */
const times = (scaling: Scaling, factor: number): Scaling => ({
  ...scaling,
  policies: scaling.policies.map((one) => ({ ...one, value: Math.ceil(one.value * factor) }))
})

const behaviorOf = ({ behaves, down, up }: Case, factor: number): Behavior | undefined =>
  behaves ? { up: times(up, factor), down: times(down, factor) } : undefined

/** Successive reconciliations, each of which is applied. */
const run = (one: Case): ReadonlyArray<Step> => {
  const { current: first, max, min } = boundsOf(one)
  let [current, now, history] = [first, 0, History.found(History.empty, first, 0)]
  return one.reconciliations.map(({ factor, wait, wanted }) => {
    now += wait * 1000
    const behavior = behaviorOf(one, factor)
    const normalised = Normalise.normalise({
      wanted,
      current,
      min,
      max,
      behavior,
      downscaleStabilization: one.window,
      history,
      now
    })
    const step = { wanted, factor, before: current, after: normalised.replicas, now, normalised }
    history = History.changed(normalised.history, step.after - current, now, behavior)
    current = step.after
    return step
  })
}

const sizeAt = (steps: ReadonlyArray<Step>, first: number, time: number): number =>
  steps.findLast(({ now }) => now <= time)?.after ?? first

const limited = (size: number, { type, value }: Policy, sign: 1 | -1): number => {
  if (type === "Pods") return size + sign * value
  return sign > 0 ? Math.ceil(size * (1 + value / 100)) : Math.trunc(size * (1 - value / 100))
}

/** The limit of the policies: the larger change, or the smaller. */
const furthest = ({ choice, policies }: Scaling, sign: 1 | -1, sizeBefore: (seconds: number) => number): number => {
  const all = policies
    .map((one) => limited(sizeBefore(one.periodSeconds), one, sign))
    .toSorted((a, b) => sign * (a - b))
  return (choice === "Max" ? all.at(-1) : all[0]) ?? 0
}

/** The size after a reconciliation, from the whole history. */
const expected = (one: Case, earlier: ReadonlyArray<Step>, { before, factor, now, wanted }: Step): number => {
  const { current: first, max, min } = boundsOf(one)
  const all = [{ replicas: first, time: 0 }, ...earlier.map((step) => ({ replicas: step.wanted, time: step.now }))]
  const clamp = (low: number, size: number, high: number) => Math.max(low, Math.min(size, high))
  if (!one.behaves) {
    const recent = all.filter(({ time }) => now - time <= one.window).map(({ replicas }) => replicas)
    return clamp(min, Math.max(wanted, ...recent), Math.min(max, Math.max(2 * before, 4)))
  }
  const within = (window: number) => all.filter(({ time }) => now - time < window).map(({ replicas }) => replicas)
  const lowest = Math.min(wanted, ...within(one.up.window))
  const highest = Math.max(wanted, ...within(one.down.window))
  const stable = before < lowest ? lowest : before > highest ? highest : before
  // A change exactly as old as the period no longer counts.
  const sizeBefore = (seconds: number) => sizeAt(earlier, first, now - seconds * 1000)
  if (stable > before) {
    const limit = one.up.choice === "Disabled" ? before : furthest(times(one.up, factor), 1, sizeBefore)
    return Math.min(stable, max, Math.max(before, limit))
  }
  if (stable === before) return before
  const limit = one.down.choice === "Disabled" ? before : furthest(times(one.down, factor), -1, sizeBefore)
  return Math.max(stable, min, Math.min(before, limit))
}

const always = (title: string, holds: (step: Step, one: Case, earlier: ReadonlyArray<Step>) => boolean) =>
  checkProperty(title, cases, (one) => {
    const steps = run(one)
    return steps.every((step, i) => holds(step, one, steps.slice(0, i)))
  })

describe("normalise, for any sequence of recommendations", () => {
  always("the size is what the model says", (step, one, earlier) => step.after === expected(one, earlier, step))

  always("the size is between the bounds", ({ after }, one) => {
    const { max, min } = boundsOf(one)
    return after >= min && after <= max
  })

  always("without a behaviour it is at most doubled, or four", ({ after, before }, { behaves }) =>
    behaves ? true : after <= Math.max(2 * before, 4)
  )

  always("nothing is taken away that was recommended within the window", ({ after, before, now }, one, earlier) => {
    if (after >= before) return true
    const window = one.behaves ? one.down.window : one.window
    return earlier.every((step) => now - step.now >= window || step.wanted <= after)
  })

  always("what is limited says so, and what is held back does too", ({ after, normalised, wanted }, one) => {
    const { isLimited, limit, stability } = normalised
    if (isLimited === (limit.reason === "DesiredWithinRange")) return false
    return stability.reason === "ReadyForNewScale"
      ? after === wanted || isLimited
      : one.behaves || stability.reason === "ScaleDownStabilized"
  })
})

describe("the history of changes", () => {
  const remembered = (behavior: Behavior): ReadonlyArray<number> => {
    let history = History.found(History.empty, 3, 0)
    for (const [replicas, now] of [
      [2, 0],
      [-1, 20_000],
      [3, 30_000]
    ] as const)
      history = History.changed(history, replicas, now, behavior)
    return [15, 30, 60].map((seconds) => History.changeWithin(history, seconds, 30_000))
  }

  it("keeps additions and removals for the longest period of both directions, without its edge", () => {
    const behavior: Behavior = {
      up: { window: 0, choice: "Max", policies: [{ type: "Pods", value: 4, periodSeconds: 15 }] },
      down: { window: 0, choice: "Max", policies: [{ type: "Pods", value: 4, periodSeconds: 60 }] }
    }
    assert.deepStrictEqual(remembered(behavior), [2, 2, 4])
  })
})

describe("cases of kube-controller-manager's table", () => {
  const given = (wanted: number, current: number, rest: Partial<Normalise.Given> = {}): Normalise.Given => ({
    wanted,
    current,
    min: 1,
    max: 1000,
    behavior: undefined,
    downscaleStabilization: 300_000,
    history: History.empty,
    now: 1_000_000,
    ...rest
  })
  const rows: ReadonlyArray<readonly [string, Normalise.Given, number, string]> = [
    ["below the minimum", given(0, 3, { min: 2 }), 2, "TooFewReplicas"],
    ["above the maximum", given(12, 8, { max: 10 }), 10, "TooManyReplicas"],
    ["faster than the rate limit", given(1000, 8), 16, "ScaleUpLimit"],
    ["faster than the rate limit, from one replica", given(1000, 1), 4, "ScaleUpLimit"],
    ["within the range", given(7, 5, { max: 10 }), 7, "DesiredWithinRange"]
  ]
  for (const [title, one, replicas, reason] of rows) {
    it(`hold: ${title}`, () => {
      const { limit, replicas: size } = Normalise.normalise(one)
      assert.deepStrictEqual([size, limit.reason], [replicas, reason])
    })
  }
})
