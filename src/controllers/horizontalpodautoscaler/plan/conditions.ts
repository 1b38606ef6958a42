/**
 * The conditions of an autoscaler, in the order in which they were first said. The time of one is that of its last change of status, not of
 * its reason. Source: setConditionInList of kube-controller-manager.
 */
import * as Conditions from "../../../kube/conditions.ts"
import type { HorizontalPodAutoscaler } from "../../../kube/resources.ts"
import type { Condition } from "./spec.ts"

export type Type = "AbleToScale" | "ScalingActive" | "ScalingLimited" | "ScaledToZero"

/** What is said of an autoscaler. */
export interface Claim {
  readonly type: Type
  readonly status: boolean
  readonly reason: string
  readonly message: string
}

type All = ReadonlyArray<Condition>

/** All claims after one another; of two about one type the later one stands. The very same list if it says that already. */
export const set = (conditions: All | undefined, claims: ReadonlyArray<Claim>, now: number): All =>
  claims.reduce<All>((all, claim) => Conditions.set(all as Conditions.Conditions, claim, now), conditions ?? nothing)

/** Whether the loop itself has taken the last replica away. */
export const isScaledToZero = ({ status }: HorizontalPodAutoscaler): boolean =>
  Conditions.isTrue(status?.conditions as Conditions.Conditions | undefined, "ScaledToZero")

/** The list without that type; the very same list if it is not there. */
export const remove = (conditions: All, type: Type): All => Conditions.remove(conditions as Conditions.Conditions, type)

const nothing: All = []
