/**
 * Leaves out operations of a scenario for as long as a failure with the same cause is found. The points of a perturbation have other numbers in a
 * shorter scenario, so the perturbation is found again by its kind and by what it happens to.
 */
import * as Effect from "effect/Effect"
import type { Declared } from "../Exploration.ts"
import { enumerate } from "../enumerate.ts"
import { type Kind, kinds, parseCase, type Perturbation } from "../perturbation.ts"
import type * as Record from "../record.ts"
import { run } from "../run.ts"
import type { Failure } from "../failures.ts"
import { search } from "../search.ts"
import type { Operation } from "./Operation.ts"

/** A shorter list of operations, and the same failure in it. */
export interface Shrunk<A> {
  /** The positions of the operations that are left. */
  readonly kept: ReadonlyArray<number>
  readonly found: A
}

/** How a list of operations is shrunk. */
interface Options<A> {
  /** The failure in other operations, if it is the same. */
  readonly again: (operations: ReadonlyArray<Operation>) => Effect.Effect<A | undefined>
  readonly isOver: () => boolean
  /** How many of the operations the failure needs; a later one may cover it up. Default: all. */
  readonly until?: number | undefined
}

/** Leaves out one operation at a time, the last ones first, until none can be left out or `isOver`. */
export const shrink = Effect.fnUntraced(function* <A>(
  operations: ReadonlyArray<Operation>,
  found: A,
  { again, isOver, until = operations.length }: Options<A>
) {
  let smallest: Shrunk<A> = { kept: operations.map((_, i) => i), found }
  const attempt = Effect.fnUntraced(function* (kept: ReadonlyArray<number>) {
    if (kept.length === 0 || isOver()) return false
    const same = yield* again(kept.flatMap((one) => operations[one] ?? []))
    if (same !== undefined) smallest = { kept, found: same }
    return same !== undefined
  })
  if (until < operations.length && !(yield* attempt(smallest.kept.slice(0, until)))) return smallest
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false
    for (const left of smallest.kept.toReversed()) {
      if (yield* attempt(smallest.kept.filter((one) => one !== left))) isSmaller = true
    }
  }
  return smallest
})

/** Other points that a perturbation may have in a shorter scenario. */
const mostPoints = 3

/** The failure with the same cause in another scenario, if it has one. `onRun` is called with the number of runs that it took. */
export const sameFailure = Effect.fnUntraced(function* (
  exploration: Declared,
  failure: Failure,
  seed: number,
  onRun: (runs: number) => void
) {
  const { perturbations } = parseCase(failure.id)
  for (const place of yield* placesOf(exploration, perturbations, failure.entries, seed, onRun)) {
    // What is wrong with an undisturbed run is found before the perturbations.
    const report =
      place.length === 0
        ? yield* search(withoutPerturbations(exploration), { seed })
        : yield* search(exploration, { seed, replay: { perturbations: place } })
    onRun(report.runs + 1)
    const same = report.failures.find(({ cause }) => cause === failure.cause)
    if (same !== undefined) return same
  }
  return undefined
})

const withoutPerturbations = ({ name, options }: Declared): Declared => ({
  name,
  options: { ...options, without: Object.fromEntries(Object.keys(kinds).map((kind) => [kind, "shrinking"])) }
})

/** Where the perturbations may be in a run of another scenario: first where the same happens as in the entries. */
const placesOf = Effect.fnUntraced(function* (
  exploration: Declared,
  perturbations: ReadonlyArray<Perturbation>,
  entries: ReadonlyArray<Record.Entry>,
  seed: number,
  onRun: (runs: number) => void
) {
  const subjects = perturbations.map((one) => subjectAt(one, entries))
  let places: ReadonlyArray<ReadonlyArray<Perturbation>> = [[]]
  for (const [i, { kind }] of perturbations.entries()) {
    const next: Array<ReadonlyArray<Perturbation>> = []
    for (const place of places) {
      const outcome = yield* run(exploration, { perturbations: place }, { seed })
      onRun(1)
      const others = new Set((Object.keys(kinds) as ReadonlyArray<Kind>).filter((one) => one !== kind))
      const all = enumerate(outcome.entries, others)
      const same = all.filter((one) => subjectAt(one, outcome.entries) === subjects[i])
      next.push(...(same.length > 0 ? same : all).slice(-mostPoints).map((one) => place.concat(one)))
    }
    places = next.slice(0, 2 * mostPoints)
  }
  return places
})

/** What is at the point of a perturbation, without numbers. */
const subjectAt = ({ at, kind }: Perturbation, entries: ReadonlyArray<Record.Entry>): string | undefined => {
  const { at: point } = kinds[kind]
  for (const entry of entries) {
    if (entry.type === "step" && point === "step" && entry.n === at) return entry.text
    if (entry.type === "event" && point === "event" && entry.n === at)
      return `${entry.change} ${entry.resource} ${entry.key}`
    if (entry.type === "call" && (point === "write" ? entry.write === at : point === "call" && entry.n === at))
      return `${entry.verb} ${entry.resource} ${entry.key}`
  }
  return undefined
}
