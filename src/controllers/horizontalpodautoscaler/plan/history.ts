/**
 * What was recommended and done before, as far as a window or a policy still looks back on it: recommendations before they were held back,
 * and changes that were made. A value; each step answers with the next one. Times are milliseconds. Source: controllers.md G.10.
 */
import type { Behavior, Scaling } from "./spec.ts"

export interface Recommendation {
  readonly replicas: number
  readonly time: number
}

/** Replicas that were added, or taken away where the number is negative. Never zero. */
export interface Change {
  readonly replicas: number
  readonly time: number
}

export interface History {
  /** Never empty once a size has been seen. */
  readonly recommendations: ReadonlyArray<Recommendation>
  /** Of autoscalers that say how they behave; others are not limited by them. */
  readonly changes: ReadonlyArray<Change>
}

export const empty: History = { recommendations: [], changes: [] }

/** The size that was found first stands like a recommendation, so that a new term takes nothing away at once. */
export const found = (history: History, replicas: number, now: number): History =>
  history.recommendations.length > 0 ? history : { ...history, recommendations: [{ replicas, time: now }] }

/** With one recommendation more, and without those from before `since`. */
export const recommended = (history: History, replicas: number, now: number, since: number): History => ({
  ...history,
  recommendations: [...history.recommendations.filter(({ time }) => time >= since), { replicas, time: now }]
})

/** With one change more, and without those that no policy of the behaviour looks back on. */
export const changed = (history: History, replicas: number, now: number, behavior: Behavior | undefined): History => {
  if (behavior === undefined || replicas === 0) return history
  const since = now - Math.max(longest(behavior.up), longest(behavior.down))
  return { ...history, changes: [...history.changes.filter(({ time }) => time >= since), { replicas, time: now }] }
}

const longest = ({ policies }: Scaling): number =>
  Math.max(0, ...policies.map(({ periodSeconds }) => periodSeconds * 1000))

/** By how much the size has changed within the last so many seconds. */
export const changeWithin = ({ changes }: History, seconds: number, now: number): number =>
  changes.reduce((sum, { replicas, time }) => (time > now - seconds * 1000 ? sum + replicas : sum), 0)
