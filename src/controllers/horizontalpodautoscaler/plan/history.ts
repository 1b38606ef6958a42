/**
 * Past recommendations, before normalisation, and past scale events, as far back as a window or a policy reaches. An
 * immutable value. Times are milliseconds. Source: pkg/controller/podautoscaler: timestampedRecommendation,
 * timestampedScaleEvent.
 */
import type { Behavior, Scaling } from "./spec.ts"

export interface Recommendation {
  readonly replicas: number
  readonly time: number
}

/** Replicas added, or removed if negative. Never zero. */
export interface Change {
  readonly replicas: number
  readonly time: number
}

export interface History {
  /** Not empty once a size was observed. */
  readonly recommendations: ReadonlyArray<Recommendation>
  /** Only for autoscalers with a `behavior`. */
  readonly changes: ReadonlyArray<Change>
}

export const empty: History = { recommendations: [], changes: [] }

/**
 * The first observed size counts as a recommendation, so that a new term does not scale down at once. Source:
 * pkg/controller/podautoscaler: recordInitialRecommendation.
 */
export const found = (history: History, replicas: number, now: number): History =>
  history.recommendations.length > 0 ? history : { ...history, recommendations: [{ replicas, time: now }] }

/** Adds a recommendation and drops those from before `since`. */
export const recommended = (history: History, replicas: number, now: number, since: number): History => ({
  ...history,
  recommendations: [...history.recommendations.filter(({ time }) => time >= since), { replicas, time: now }]
})

/** Adds a scale event and drops those that no policy of the behavior reaches. */
export const changed = (history: History, replicas: number, now: number, behavior: Behavior | undefined): History => {
  if (behavior === undefined || replicas === 0) return history
  const since = now - Math.max(longest(behavior.up), longest(behavior.down))
  return { ...history, changes: [...history.changes.filter(({ time }) => time >= since), { replicas, time: now }] }
}

const longest = ({ policies }: Scaling): number =>
  Math.max(0, ...policies.map(({ periodSeconds }) => periodSeconds * 1000))

/** The sum of the size changes within the last seconds. */
export const changeWithin = ({ changes }: History, seconds: number, now: number): number =>
  changes.reduce((sum, { replicas, time }) => (time > now - seconds * 1000 ? sum + replicas : sum), 0)
