/**
 * How a recommendation is held back, against a slow model that keeps every recommendation and every change for ever, and the promises that
 * users rely on: between the bounds, no faster than the policies allow, not below what was recommended lately.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as History from "../../../src/controllers/horizontalpodautoscaler/plan/history.ts"
import * as Normalise from "../../../src/controllers/horizontalpodautoscaler/plan/normalise.ts"
import type { Behavior, Policy, Scaling } from "../../../src/controllers/horizontalpodautoscaler/plan/spec.ts"
import { int, law, oneOf, prove, type ValueOf } from "../../support/laws.ts"
import { load } from "../../support/mutant.ts"

type Module = typeof Normalise

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
const looks = Arbitrary.array(
  Arbitrary.all({ wait: oneOf(15, 15, 15, 30, 70), wanted: oneOf(0, 1, 4, 12, 30, 30), factor: oneOf(1, 0.2) }),
  {
    minLength: 1,
    maxLength: 8
  }
)
const world = Arbitrary.all({
  up: scaling,
  down: scaling,
  behaves: oneOf(true, true, false),
  min: int(1, 5),
  more: oneOf(0, 6, 40),
  first: int(0, 40),
  window: oneOf(0, 30_000, 60_000),
  looks
})
type World = ValueOf<typeof world>

interface Step {
  readonly wanted: number
  readonly factor: number
  readonly before: number
  readonly after: number
  readonly now: number
  readonly normalised: Normalise.Normalised
}

const boundsOf = ({ first, min, more }: World) => ({ min, max: min + more, current: min + (first % (more + 1)) })

/** What is allowed may be changed between two looks. */
const times = (scaling: Scaling, factor: number): Scaling => ({
  ...scaling,
  policies: scaling.policies.map((one) => ({ ...one, value: Math.ceil(one.value * factor) }))
})

const behaviorOf = ({ behaves, down, up }: World, factor: number): Behavior | undefined =>
  behaves ? { up: times(up, factor), down: times(down, factor) } : undefined

/** One look after the other, each of which is carried out. */
const play = (module: Module, one: World): ReadonlyArray<Step> => {
  const { current: first, max, min } = boundsOf(one)
  let [current, now, history] = [first, 0, History.found(History.empty, first, 0)]
  return one.looks.map(({ factor, wait, wanted }) => {
    now += wait * 1000
    const behavior = behaviorOf(one, factor)
    const normalised = module.normalise({
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

/** How far the policies let it go: a value of the wider of them, or of the narrower. */
const furthest = ({ choice, policies }: Scaling, sign: 1 | -1, sizeBefore: (seconds: number) => number): number => {
  const all = policies
    .map((one) => limited(sizeBefore(one.periodSeconds), one, sign))
    .toSorted((a, b) => sign * (a - b))
  return (choice === "Max" ? all.at(-1) : all[0]) ?? 0
}

/** The size after a look, from everything that ever happened. */
const expected = (one: World, earlier: ReadonlyArray<Step>, { before, factor, now, wanted }: Step): number => {
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
  // A change that is exactly as old as the period is not in it any more.
  const sizeBefore = (seconds: number) => sizeAt(earlier, first, now - seconds * 1000)
  if (stable > before) {
    const limit = one.up.choice === "Disabled" ? before : furthest(times(one.up, factor), 1, sizeBefore)
    return Math.min(stable, max, Math.max(before, limit))
  }
  if (stable === before) return before
  const limit = one.down.choice === "Disabled" ? before : furthest(times(one.down, factor), -1, sizeBefore)
  return Math.max(stable, min, Math.min(before, limit))
}

const always = (title: string, holds: (step: Step, one: World, earlier: ReadonlyArray<Step>) => boolean) =>
  law(title, world, (module: Module, one) => {
    const steps = play(module, one)
    return steps.every((step, i) => holds(step, one, steps.slice(0, i)))
  })

const laws = [
  always("the size is what the model says", (step, one, earlier) => step.after === expected(one, earlier, step)),
  always("the size is between the bounds", ({ after }, one) => {
    const { max, min } = boundsOf(one)
    return after >= min && after <= max
  }),
  always("without a behaviour it is at most doubled, or four", ({ after, before }, { behaves }) =>
    behaves ? true : after <= Math.max(2 * before, 4)
  ),
  always("nothing is taken away that was recommended within the window", ({ after, before, now }, one, earlier) => {
    if (after >= before) return true
    const window = one.behaves ? one.down.window : one.window
    return earlier.every((step) => now - step.now >= window || step.wanted <= after)
  }),
  always("what is limited says so, and what is held back does too", ({ after, normalised, wanted }, one) => {
    const { isLimited, limit, stability } = normalised
    if (isLimited === (limit.reason === "DesiredWithinRange")) return false
    return stability.reason === "ReadyForNewScale"
      ? after === wanted || isLimited
      : one.behaves || stability.reason === "ScaleDownStabilized"
  })
]

prove({
  path: "controllers/horizontalpodautoscaler/plan/normalise.ts",
  module: Normalise,
  laws,
  mutants: [
    {
      title: "the highest of all times stands",
      find: "filter(({ time }) => time >= since)",
      replace: "filter(() => true)"
    },
    {
      title: "the window has lost its edge",
      find: "filter(({ time }) => time >= since)",
      replace: "filter(({ time }) => time > since)"
    },
    { title: "a window of a behaviour has gained one", find: "time > now - window", replace: "time >= now - window" },
    {
      title: "upwards the window of the other direction counts",
      find: "...within(up.window)",
      replace: "...within(down.window)"
    },
    {
      title: "downwards the lowest counts",
      find: "Math.max(wanted, ...within(down.window))",
      replace: "Math.min(wanted, ...within(down.window))"
    },
    {
      title: "only the shorter window is remembered",
      find: "now - Math.max(up.window, down.window)",
      replace: "now - Math.min(up.window, down.window)"
    },
    { title: "the size is tripled", find: "Math.max(2 * current, 4)", replace: "Math.max(3 * current, 4)" },
    { title: "a small size is doubled", find: "Math.max(2 * current, 4)", replace: "2 * current" },
    {
      title: "the lower bound does not hold",
      find: "if (stable < min) return { replicas: min, finding: tooFew }",
      replace: ""
    },
    { title: "the lower bound of a behaviour does not hold", find: "Math.max(min, limit)", replace: "limit" },
    {
      title: "the upper bound of a behaviour does not hold",
      find: "const allowed = Math.min(max, limit)",
      replace: "const allowed = limit"
    },
    {
      title: "a limit that is passed already goes the other way, up",
      find: 'Math.max(current, limitOf(given, up, "up"))',
      replace: 'limitOf(given, up, "up")'
    },
    {
      title: "a limit that is passed already goes the other way, down",
      find: 'Math.min(current, limitOf(given, down, "down"))',
      replace: 'limitOf(given, down, "down")'
    },
    { title: "a direction that is off is on", find: 'choice === "Disabled" || ', replace: "" },
    {
      title: "a share is rounded down upwards",
      find: "Math.ceil(before * (1 + value / 100))",
      replace: "Math.floor(before * (1 + value / 100))"
    },
    {
      title: "a share is rounded up downwards",
      find: "Math.trunc(before * (1 - value / 100))",
      replace: "Math.ceil(before * (1 - value / 100))"
    },
    {
      title: "each period begins anew",
      find: "current - History.changeWithin(history, periodSeconds, now)",
      replace: "current"
    },
    {
      title: "the narrower policy is taken for the wider",
      find: '(choice === "Max") ===',
      replace: '(choice === "Min") ==='
    },
    { title: "a limit is told of as none", find: "isLimited: limited.replicas !== stable", replace: "isLimited: false" }
  ]
})

describe("mutants of the history", () => {
  const mutants = [
    {
      title: "changes older than the other direction's periods are lost",
      find: "Math.max(longest(behavior.up), longest(behavior.down))",
      replace: "Math.min(longest(behavior.up), longest(behavior.down))"
    },
    {
      title: "only additions are remembered",
      find: "behavior === undefined || replicas === 0",
      replace: "behavior === undefined || replicas <= 0"
    },
    {
      title: "a change counts for a moment longer",
      find: "time > now - seconds * 1000",
      replace: "time >= now - seconds * 1000"
    }
  ]
  for (const mutation of mutants) {
    it(`are found: ${mutation.title}`, async () => {
      const mutant = await load<typeof History>("controllers/horizontalpodautoscaler/plan/history.ts", mutation)
      const behavior: Behavior = {
        up: { window: 0, choice: "Max", policies: [{ type: "Pods", value: 4, periodSeconds: 15 }] },
        down: { window: 0, choice: "Max", policies: [{ type: "Pods", value: 4, periodSeconds: 60 }] }
      }
      assert.notDeepEqual(remembered(mutant, behavior), remembered(History, behavior))
    })
  }
})

/** What is known of changes after three of them. */
const remembered = (module: typeof History, behavior: Behavior) => {
  let history = module.found(module.empty, 3, 0)
  for (const [replicas, now] of [
    [2, 0],
    [-1, 20_000],
    [3, 30_000]
  ] as const)
    history = module.changed(history, replicas, now, behavior)
  return [15, 30, 60].map((seconds) => module.changeWithin(history, seconds, 30_000))
}

describe("rows of kube-controller-manager's table", () => {
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
    ["faster than it may", given(1000, 8), 16, "ScaleUpLimit"],
    ["faster than it may, from one", given(1000, 1), 4, "ScaleUpLimit"],
    ["within the range", given(7, 5, { max: 10 }), 7, "DesiredWithinRange"]
  ]
  for (const [title, one, replicas, reason] of rows) {
    it(`hold: ${title}`, () => {
      const { limit, replicas: size } = Normalise.normalise(one)
      assert.deepStrictEqual([size, limit.reason], [replicas, reason])
    })
  }
})
