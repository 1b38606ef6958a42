/**
 * Normalises a recommendation: stabilisation by recent recommendations, then the scaling rate, always within the
 * bounds. Without a `behavior` other rules apply. Pure. Source: pkg/controller/podautoscaler: normalizeDesiredReplicas,
 * normalizeDesiredReplicasWithBehaviors.
 */
import * as History from "./history.ts"
import type { Behavior, Scaling } from "./spec.ts"

/** Reason and message of a condition. */
export interface Finding {
  readonly reason: string
  readonly message: string
}

export interface Normalised {
  readonly replicas: number
  /** For the condition AbleToScale, which is True. */
  readonly stability: Finding
  /** For the condition ScalingLimited, which is True when `isLimited`. */
  readonly limit: Finding
  readonly isLimited: boolean
  readonly history: History.History
}

export interface Given {
  /** What the metrics require. */
  readonly wanted: number
  readonly current: number
  /** At most `max`. */
  readonly min: number
  readonly max: number
  readonly behavior: Behavior | undefined
  /** Milliseconds for which the highest recommendation holds without a `behavior`. */
  readonly downscaleStabilization: number
  readonly history: History.History
  readonly now: number
}

const ready: Finding = { reason: "ReadyForNewScale", message: "recommended size matches current size" }
const downStabilized: Finding = {
  reason: "ScaleDownStabilized",
  message: "recent recommendations were higher than current one, applying the highest recent recommendation"
}
const upStabilized: Finding = {
  reason: "ScaleUpStabilized",
  message: "recent recommendations were lower than current one, applying the lowest recent recommendation"
}
const inRange: Finding = {
  reason: "DesiredWithinRange",
  message: "the desired count is within the acceptable range"
}
const tooMany: Finding = {
  reason: "TooManyReplicas",
  message: "the desired replica count is more than the maximum replica count"
}
const tooFew: Finding = {
  reason: "TooFewReplicas",
  message: "the desired replica count is less than the minimum replica count"
}
const tooFastUp: Finding = {
  reason: "ScaleUpLimit",
  message: "the desired replica count is increasing faster than the maximum scale rate"
}
const tooFastDown: Finding = {
  reason: "ScaleDownLimit",
  message: "the desired replica count is decreasing faster than the maximum scale rate"
}

export const normalise = (given: Given): Normalised => {
  const { behavior, wanted } = given
  const { history, replicas: stable } = behavior === undefined ? highest(given) : stabilised(given, behavior)
  const limited = behavior === undefined ? bounded(given, stable) : paced(given, stable, behavior)
  const isUp = behavior !== undefined && wanted >= given.current
  return {
    replicas: limited.replicas,
    stability: stable === wanted ? ready : isUp ? upStabilized : downStabilized,
    limit: limited.finding,
    isLimited: limited.replicas !== stable,
    history
  }
}

interface Stable {
  readonly replicas: number
  readonly history: History.History
}

interface Limited {
  readonly replicas: number
  readonly finding: Finding
}

/** The highest recommendation in the window. */
const highest = ({ downscaleStabilization, history, now, wanted }: Given): Stable => {
  const since = now - downscaleStabilization
  const recent = history.recommendations.filter(({ time }) => time >= since)
  return {
    replicas: Math.max(wanted, ...recent.map(({ replicas }) => replicas)),
    history: History.recommended(history, wanted, now, since)
  }
}

/** Up to the lowest recommendation in one window, down to the highest in the other. */
const stabilised = ({ current, history, now, wanted }: Given, { down, up }: Behavior): Stable => {
  const within = (window: number) =>
    history.recommendations.flatMap(({ replicas, time }) => (time > now - window ? [replicas] : []))
  const floor = Math.min(wanted, ...within(up.window))
  const ceiling = Math.max(wanted, ...within(down.window))
  return {
    replicas: Math.min(Math.max(current, floor), ceiling),
    history: History.recommended(history, wanted, now, now - Math.max(up.window, down.window))
  }
}

/**
 * Twice the current replicas, or four. Source: pkg/controller/podautoscaler: scaleUpLimitFactor, scaleUpLimitMinimum.
 */
const doubled = (current: number): number => Math.max(2 * current, 4)

const bounded = ({ current, max, min }: Given, stable: number): Limited => {
  const limit = doubled(current)
  if (stable < min) return { replicas: min, finding: tooFew }
  if (stable > Math.min(max, limit)) {
    return { replicas: Math.min(max, limit), finding: max > limit ? tooFastUp : tooMany }
  }
  return { replicas: stable, finding: inRange }
}

const paced = (given: Given, stable: number, { down, up }: Behavior): Limited => {
  const { current, max, min } = given
  if (stable > current) {
    const limit = Math.max(current, limitOf(given, up, "up"))
    const allowed = Math.min(max, limit)
    if (stable > allowed) return { replicas: allowed, finding: max > limit ? tooFastUp : tooMany }
  } else if (stable < current) {
    const limit = Math.min(current, limitOf(given, down, "down"))
    const allowed = Math.max(min, limit)
    if (stable < allowed) return { replicas: allowed, finding: min < limit ? tooFastDown : tooFew }
  }
  return { replicas: stable, finding: inRange }
}

/** The limit that the policies set in a direction, each relative to the size at the start of its period. */
const limitOf = ({ current, history, now }: Given, { choice, policies }: Scaling, direction: "up" | "down"): number => {
  if (choice === "Disabled" || policies.length === 0) return current
  const limits = policies.map(({ periodSeconds, type, value }) => {
    const before = current - History.changeWithin(history, periodSeconds, now)
    if (type === "Pods") return direction === "up" ? before + value : before - value
    // Rounded up, so that a small percentage allows at least one replica.
    return direction === "up" ? Math.ceil(before * (1 + value / 100)) : Math.trunc(before * (1 - value / 100))
  })
  // `Max` selects the larger change: the higher limit upwards, the lower one downwards.
  return (choice === "Max") === (direction === "up") ? Math.max(...limits) : Math.min(...limits)
}
