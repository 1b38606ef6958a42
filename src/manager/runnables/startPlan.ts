/**
 * Which controller of a group to start or stop next, as a pure function of the running controllers and the kinds that the server lacks. Called
 * after each step, it leads from any state to the one in which exactly the controllers run whose kinds are served.
 */

/** The fields of a controller that determine when it starts. */
export interface Member {
  readonly name: string
  /** True: no other controller of its group starts before it is ready. */
  readonly startFirst?: boolean | undefined
}

export interface Situation<M extends Member> {
  /** In the order in which they start; names are unique. */
  readonly members: ReadonlyArray<M>
  /** Started and not stopping, in the order of their starts. Never one of `closing`. */
  readonly running: ReadonlyArray<string>
  /** Stopping controllers; they can start again after they have stopped. */
  readonly closing: ReadonlySet<string>
  /** Whether the server lacks a kind that it needs. */
  readonly isMissing: (member: M) => boolean
  /** Whether kinds may still be served later; a skipped controller does not delay the others. */
  readonly waits: boolean
}

export type Step<M> =
  | { readonly _tag: "Start"; readonly member: M }
  | { readonly _tag: "Stop"; readonly member: M }
  /** Wait until something changes. */
  | { readonly _tag: "Rest" }

/** Stops come before starts. The controller that started last stops first; starts are in the order of `members`. */
export const next = <M extends Member>(situation: Situation<M>): Step<M> => {
  const { closing, isMissing, members, running, waits } = situation
  const idle = members.filter((one) => !running.includes(one.name) && !closing.has(one.name))
  const last = running.findLast((name) => members.some((one) => one.name === name && isMissing(one)))
  const leaving = members.find((one) => one.name === last)
  if (leaving !== undefined) return { _tag: "Stop", member: leaving }
  const firsts = members.filter((one) => one.startFirst === true && !running.includes(one.name))
  const isHeld = firsts.some((one) => waits || !isMissing(one))
  const coming = idle.find((one) => !isMissing(one) && (!isHeld || one.startFirst === true))
  return coming === undefined ? { _tag: "Rest" } : { _tag: "Start", member: coming }
}
