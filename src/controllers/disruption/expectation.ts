/**
 * How many pods a budget expects and how many must be healthy: from the number of its pods, or, for percentages and
 * `maxUnavailable`, from the sizes of their controllers. Pure. Source: pkg/controller/disruption: getExpectedPodCount.
 */
import * as Result from "effect/Result"
import * as IntOrPercent from "../../kube/intOrPercent.ts"
import type { PodDisruptionBudget } from "../../kube/resources.ts"

type Spec = PodDisruptionBudget["spec"]

export interface Expectation {
  readonly expected: number
  readonly desired: number
}

/** Whether the sizes of the controllers are needed. */
export const needsScale = (spec: Spec): boolean =>
  spec?.maxUnavailable !== undefined || typeof spec?.minAvailable === "string"

/**
 * `pods`: how many the budget selects. `scale`: sum of the controllers' sizes, where needed. Fails with one sentence.
 */
export const of = (
  spec: Spec,
  { pods, scale }: { readonly pods: number; readonly scale: number }
): Result.Result<Expectation, string> => {
  const { maxUnavailable, minAvailable } = spec ?? {}
  if (maxUnavailable !== undefined) {
    return Result.map(share(maxUnavailable, scale), (some) => ({ expected: scale, desired: Math.max(0, scale - some) }))
  }
  if (typeof minAvailable === "number") return Result.succeed({ expected: pods, desired: minAvailable })
  // Without either field nothing is expected and no disruption is allowed.
  if (minAvailable === undefined) return Result.succeed({ expected: 0, desired: 0 })
  return Result.map(share(minAvailable, scale), (some) => ({ expected: scale, desired: some }))
}

const share = (value: IntOrPercent.IntOrPercent, of: number): Result.Result<number, string> => {
  const some = IntOrPercent.resolve(value, of, "up")
  return some === undefined
    ? Result.fail("invalid value for IntOrString: invalid type: string is not a percentage")
    : Result.succeed(some)
}
