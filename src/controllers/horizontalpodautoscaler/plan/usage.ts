/**
 * How many replicas a usage asks for. One rule for all of it: replicas in proportion to the usage, none more or fewer while it is near the
 * target, and what nobody has measured is taken to be against the change. Pure; amounts are thousandths.
 * Source: pkg/controller/podautoscaler: ReplicaCalculator.
 */
import * as Result from "effect/Result"
import type { Samples } from "../../../layers/MetricsApi.ts"
import type { Groups } from "./pods.ts"
import type { Tolerances } from "./spec.ts"

/** The API knows no more replicas. */
export const most = 2_147_483_647

export const isNear = ({ down, up }: Tolerances, ratio: number): boolean => 1 - down <= ratio && ratio <= 1 + up

/** Whole replicas, rounded up. */
export const whole = (replicas: number): number => (replicas >= most ? most : Math.ceil(replicas))

/** What a set of measured pods comes to. */
export interface Measure {
  /** Of usage to target. */
  readonly ratio: number
  /** Percent of the requests; undefined where the target is no share of them. */
  readonly utilization: number | undefined
  /** Mean of the pods. */
  readonly average: bigint
}

type Amounts = Map<string, bigint>

/** How measured pods become a ratio, and what is assumed of a pod that nobody has measured when the rest use too little. */
export interface Yardstick {
  readonly measure: (amounts: ReadonlyMap<string, bigint>) => Result.Result<Measure, string>
  readonly assumed: (pod: string) => bigint
}

/** By the mean of the pods that were measured. */
export const plain = (target: bigint): Yardstick => ({
  measure: (amounts) => {
    const average = sumOf(amounts.values()) / BigInt(amounts.size)
    return Result.succeed({ ratio: Number(average) / Number(target), utilization: undefined, average })
  },
  assumed: () => target
})

/** By the share of what the pods request. Pods that are measured and request nothing are somebody else's. */
export const utilization = (target: number, requests: ReadonlyMap<string, bigint>): Yardstick => ({
  measure: (amounts) => {
    let [used, requested, count] = [0n, 0n, 0n]
    for (const [pod, amount] of amounts) {
      const request = requests.get(pod)
      if (request === undefined) continue
      used += amount
      requested += request
      count += 1n
    }
    if (requested === 0n) return Result.fail("no metrics returned matched known pods")
    const percent = Number((used * 100n) / requested)
    return Result.succeed({ ratio: percent / target, utilization: percent, average: used / count })
  },
  assumed: (pod) => ((requests.get(pod) ?? 0n) * BigInt(Math.max(100, target))) / 100n
})

const sumOf = (amounts: Iterable<bigint>): bigint => {
  let sum = 0n
  for (const amount of amounts) sum += amount
  return sum
}

export interface Answer {
  readonly replicas: number
  readonly measure: Measure
}

export interface Given {
  readonly samples: Samples
  readonly groups: Groups
  readonly current: number
  readonly tolerances: Tolerances
}

/** Where there is nothing to go by: users search for these words. */
export const unmeasured = "did not receive metrics for targeted pods (pods might be unready)"

/** The amounts of pods that count, without those that come up or go. */
export const counted = ({ groups, samples }: Pick<Given, "groups" | "samples">): Amounts => {
  const amounts: Amounts = new Map()
  for (const [pod, { amount }] of samples) {
    if (!groups.ignored.has(pod) && !groups.unready.has(pod)) amounts.set(pod, amount)
  }
  return amounts
}

/** The replicas for a usage of pods. */
export const replicas = (given: Given, { assumed, measure }: Yardstick): Result.Result<Answer, string> => {
  const { current, groups, tolerances } = given
  const amounts = counted(given)
  if (amounts.size === 0) return Result.fail(unmeasured)
  const first = measure(amounts)
  if (Result.isFailure(first)) return Result.fail(first.failure)
  const { ratio } = first.success
  const answer = (count: number) => Result.succeed({ replicas: count, measure: first.success })
  const waits = groups.unready.size > 0 && ratio > 1
  if (!waits && groups.missing.size === 0) {
    return answer(isNear(tolerances, ratio) ? current : whole(ratio * groups.readyCount))
  }
  if (ratio !== 1) for (const pod of groups.missing) amounts.set(pod, ratio < 1 ? assumed(pod) : 0n)
  if (waits) for (const pod of groups.unready) amounts.set(pod, 0n)
  const second = measure(amounts)
  if (Result.isFailure(second)) return Result.fail(second.failure)
  const cautious = second.success.ratio
  const turns = (ratio < 1 && cautious > 1) || (ratio > 1 && cautious < 1)
  if (isNear(tolerances, cautious) || turns) return answer(current)
  const count = whole(cautious * amounts.size)
  // More pods were counted than there are replicas, or fewer: that is no reason to go the other way.
  const isBackwards = (cautious < 1 && count > current) || (cautious > 1 && count < current)
  return answer(isBackwards ? current : count)
}

/** The replicas for a usage that is shared by all pods: of those that are ready, or of none. */
export const shared = (
  ratio: number,
  { current, ready, tolerances }: Pick<Given, "current" | "tolerances"> & { readonly ready: number }
): number => {
  if (current === 0) return whole(ratio)
  return isNear(tolerances, ratio) ? current : whole(ratio * ready)
}

/** The replicas for a usage of which each is to have so much, and how much each has now. */
export const perPod = (
  usage: bigint,
  target: bigint,
  { current, tolerances }: Pick<Given, "current" | "tolerances">
): { readonly replicas: number; readonly average: bigint } => {
  const ratio = Number(usage) / (Number(target) * current)
  const average = current === 0 ? usage : BigInt(Math.ceil(Number(usage) / current))
  return { replicas: isNear(tolerances, ratio) ? current : whole(Number(usage) / Number(target)), average }
}
