/**
 * The replicas for a usage: in proportion to the ratio of usage to target, unchanged within the tolerance, with pods
 * that have no sample counted against the change. Pure; amounts are thousandths. Source: pkg/controller/podautoscaler:
 * ReplicaCalculator.
 */
import * as Result from "effect/Result"
import type { Samples } from "../../../layers/MetricsApi.ts"
import type { Groups } from "./pods.ts"
import type { Tolerances } from "./spec.ts"

/** The largest int32. */
export const most = 2_147_483_647

export const isNear = ({ down, up }: Tolerances, ratio: number): boolean => 1 - down <= ratio && ratio <= 1 + up

/** Rounded up, at most `most`. */
export const whole = (replicas: number): number => (replicas >= most ? most : Math.ceil(replicas))

/** The result for a set of pods. */
export interface Measure {
  /** Usage divided by target. */
  readonly ratio: number
  /** Percent of the requests; undefined for other targets. */
  readonly utilization: number | undefined
  /** Average per pod. */
  readonly average: bigint
}

type Amounts = Map<string, bigint>

/** How samples become a ratio, and the assumed usage of a pod without a sample when the ratio is below 1. */
export interface Yardstick {
  readonly measure: (amounts: ReadonlyMap<string, bigint>) => Result.Result<Measure, string>
  readonly assumed: (pod: string) => bigint
}

/** By the average of the samples. */
export const plain = (target: bigint): Yardstick => ({
  measure: (amounts) => {
    const average = sumOf(amounts.values()) / BigInt(amounts.size)
    return Result.succeed({ ratio: Number(average) / Number(target), utilization: undefined, average })
  },
  assumed: () => target
})

/** By the share of the requests. Samples of pods without a request are skipped. */
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

/** The failure without any usable sample; upstream's text. */
export const unmeasured = "did not receive metrics for targeted pods (pods might be unready)"

/** The samples of pods that are neither ignored nor unready. */
export const counted = ({ groups, samples }: Pick<Given, "groups" | "samples">): Amounts => {
  const amounts: Amounts = new Map()
  for (const [pod, { amount }] of samples) {
    if (!groups.ignored.has(pod) && !groups.unready.has(pod)) amounts.set(pod, amount)
  }
  return amounts
}

/** The replicas for a usage per pod. */
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
  // The number of counted pods may differ from the replicas; that must not reverse the direction.
  const isBackwards = (cautious < 1 && count > current) || (cautious > 1 && count < current)
  return answer(isBackwards ? current : count)
}

/** The replicas for a total usage, in proportion to the ready pods, or to one if the target has none. */
export const shared = (
  ratio: number,
  { current, ready, tolerances }: Pick<Given, "current" | "tolerances"> & { readonly ready: number }
): number => {
  if (current === 0) return whole(ratio)
  return isNear(tolerances, ratio) ? current : whole(ratio * ready)
}

/** The replicas for a target average per pod, and the current average. */
export const perPod = (
  usage: bigint,
  target: bigint,
  { current, tolerances }: Pick<Given, "current" | "tolerances">
): { readonly replicas: number; readonly average: bigint } => {
  const ratio = Number(usage) / (Number(target) * current)
  const average = current === 0 ? usage : BigInt(Math.ceil(Number(usage) / current))
  return { replicas: isNear(tolerances, ratio) ? current : whole(Number(usage) / Number(target)), average }
}
