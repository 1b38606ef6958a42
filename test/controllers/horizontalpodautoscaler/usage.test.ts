/**
 * The replica calculator, compared with a simple model: lists of pods, each with its assumed usage. Cases of
 * kube-controller-manager's own tests follow.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import type { Groups } from "../../../src/controllers/horizontalpodautoscaler/plan/pods.ts"
import * as Usage from "../../../src/controllers/horizontalpodautoscaler/plan/usage.ts"
import type { Samples } from "../../../src/layers/MetricsApi.ts"
import { checkProperty, int, oneOf, type ValueOf } from "../../support/property.ts"
const pod = Arbitrary.all({
  /** `stray`: has a sample but is no pod of the target. */
  state: oneOf("ready", "ready", "ready", "unready", "measuredUnready", "missing", "ignored", "stray"),
  amount: int(0, 300),
  request: int(1, 3)
})
const tolerance = oneOf(0, 0.1, 0.25)
const given = Arbitrary.all({
  pods: Arbitrary.array(pod, { maxLength: 7 }),
  current: int(1, 8),
  target: int(1, 150),
  down: tolerance,
  up: tolerance
})
type Case = ValueOf<typeof given>
type Pod = Case["pods"][number]

const isMeasured = ({ state }: Pod): boolean => state !== "unready" && state !== "missing"

const givenOf = ({ current, down, pods, up }: Case): Usage.Given => {
  const named = pods.map((one, i) => ({ ...one, name: `pod-${i}` }))
  const of = (...states: ReadonlyArray<Pod["state"]>) =>
    new Set(named.filter(({ state }) => states.includes(state)).map(({ name }) => name))
  const groups: Groups = {
    readyCount: of("ready").size,
    unready: of("unready", "measuredUnready"),
    missing: of("missing"),
    ignored: of("ignored")
  }
  const samples: Samples = new Map(
    named.filter(isMeasured).map(({ amount, name }) => [name, { time: 0, window: 0, amount: BigInt(amount) }])
  )
  return { samples, groups, current, tolerances: { down, up } }
}

const requestsOf = ({ pods }: Case): ReadonlyMap<string, bigint> =>
  new Map(
    pods.flatMap(({ request, state }, i) => (state === "stray" ? [] : [[`pod-${i}`, BigInt(request * 100)] as const]))
  )

interface Seen {
  readonly amount: number
  readonly request: number
}

/** The expected replicas, pod by pod; undefined without a usable sample. */
const expected = (
  { current, down, pods, up }: Case,
  ratioOf: (seen: ReadonlyArray<Seen>) => number | undefined,
  assumed: (pod: Pod) => number
): number | undefined => {
  const seenAs = (one: Pod, amount: number): Seen => ({
    amount,
    request: one.state === "stray" ? 0 : one.request * 100
  })
  const measured = pods.filter(({ state }) => state === "ready" || state === "stray")
  const first = measured.map((one) => seenAs(one, one.amount))
  if (first.length === 0) return undefined
  const ratio = ratioOf(first)
  if (ratio === undefined) return undefined
  const near = (r: number) => r >= 1 - down && r <= 1 + up
  const missing = pods.filter(({ state }) => state === "missing")
  const unready = ratio > 1 ? pods.filter(({ state }) => state === "unready" || state === "measuredUnready") : []
  if (missing.length + unready.length === 0) {
    return near(ratio) ? current : Math.ceil(ratio * pods.filter(({ state }) => state === "ready").length)
  }
  // Exactly at the target nothing is assumed for missing pods.
  const guessed = ratio === 1 ? [] : missing.map((one) => seenAs(one, ratio < 1 ? assumed(one) : 0))
  const all = [...first, ...guessed, ...unready.map((one) => seenAs(one, 0))]
  const cautious = ratioOf(all) ?? 1
  if (near(cautious) || Math.sign(1 - ratio) * Math.sign(1 - cautious) < 0) return current
  const count = Math.ceil(cautious * all.length)
  return cautious < 1 ? Math.min(current, count) : Math.max(current, count)
}

const plainRatio = (target: number) => (seen: ReadonlyArray<Seen>) =>
  Math.trunc(seen.reduce((sum, { amount }) => sum + amount, 0) / seen.length) / target

const shareRatio = (target: number) => (seen: ReadonlyArray<Seen>) => {
  const own = seen.filter(({ request }) => request > 0)
  const used = own.reduce((sum, { amount }) => sum + amount, 0)
  const requested = own.reduce((sum, { request }) => sum + request, 0)
  return requested === 0 ? undefined : Math.trunc((used * 100) / requested) / target
}

const answered = (result: Result.Result<Usage.Answer, string>): number | undefined =>
  Result.isSuccess(result) ? result.success.replicas : undefined

const plainOf = (one: Case) => answered(Usage.replicas(givenOf(one), Usage.plain(BigInt(one.target))))

const shareOf = (one: Case) => answered(Usage.replicas(givenOf(one), Usage.utilization(one.target, requestsOf(one))))

describe("Usage", () => {
  checkProperty(
    "a target average gives the replicas of the model",
    given,
    (one) => plainOf(one) === expected(one, plainRatio(one.target), () => one.target)
  )

  checkProperty(
    "a target utilization gives the replicas of the model",
    given,
    (one) =>
      shareOf(one) ===
      expected(one, shareRatio(one.target), ({ request }) =>
        Math.trunc((request * 100 * Math.max(100, one.target)) / 100)
      )
  )

  checkProperty("exactly at the target nothing changes", given, (one) => {
    const pods = one.pods.map((each) => ({ ...each, amount: one.target }))
    const answer = plainOf({ ...one, pods })
    return answer === undefined || answer === one.current
  })

  checkProperty("a total value is in proportion to the ready pods", given, ({ current, down, target, up }) => {
    const ratio = target / 50
    const answer = Usage.shared(ratio, { current, ready: 3, tolerances: { down, up } })
    const isNear = ratio >= 1 - down && ratio <= 1 + up
    return (
      answer === (isNear ? current : Math.ceil(ratio * 3)) &&
      Usage.shared(ratio, { current: 0, ready: 3, tolerances: { down, up } }) === Math.ceil(ratio)
    )
  })

  checkProperty("a total average gives as many replicas as it takes", given, ({ current, down, target, up }) => {
    const { average, replicas } = Usage.perPod(1000n, BigInt(target), { current, tolerances: { down, up } })
    const ratio = 1000 / (target * current)
    const isNear = ratio >= 1 - down && ratio <= 1 + up
    return replicas === (isNear ? current : Math.ceil(1000 / target)) && average === BigInt(Math.ceil(1000 / current))
  })
})

describe("a value too large for the API", () => {
  it("gives the maximum of replicas", () => {
    const tolerances = { down: 0.1, up: 0.1 }
    assert.strictEqual(Usage.shared(1e12, { current: 1, ready: 3, tolerances }), 2_147_483_647)
    assert.strictEqual(Usage.perPod(2n ** 63n - 1n, 1n, { current: 1, tolerances }).replicas, 2_147_483_647)
  })

  it("has an average even for a target without pods", () =>
    assert.deepStrictEqual(Usage.perPod(500n, 100n, { current: 0, tolerances: { down: 0.1, up: 0.1 } }), {
      replicas: 5,
      average: 500n
    }))
})
