/**
 * Explores the runs of an exploration: the undisturbed one, then all that have one perturbation, then pairs and triples of them until the budget is used up.
 * Failures with the same cause are one failure. Everything but the number of runs within a time follows from the seed, however the work is shared.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fnv64 from "../../kube/fnv64.ts"
import { enumerate } from "./enumerate.ts"
import type { Declared } from "./Exploration.ts"
import * as Judge from "./judge.ts"
import { type Failure, Failures } from "./failures.ts"
import { type Case, type Kind, kinds, nameOf, type Perturbation } from "./perturbation.ts"
import * as Record from "./record.ts"
import { type Outcome, run } from "./run.ts"

/** Settings of a search. */
export interface Settings {
  /** Of names, uids and the choice of combinations. Default: 1. */
  readonly seed?: number | undefined
  /** How many pairs and, every fourth time, triples of perturbations are tried at most. Default: 0. */
  readonly combinations?: number | undefined
  /** No run begins later than this after the first. Default: no limit. */
  readonly budget?: Duration.Input | undefined
  /** Only this run. */
  readonly replay?: Case | undefined
  /** One of several searches that share the work: this one runs each `of`-th perturbation, beginning with the `index`-th. */
  readonly share?: { readonly index: number; readonly of: number } | undefined
  /** Called after each run. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

/** How far a search is. */
export interface Progress {
  /** Of the exploration. */
  readonly name: string
  /** Runs so far. */
  readonly runs: number
  /** How many single perturbations there are. */
  readonly singles: number
  /** How many of those it has begun. */
  readonly tried: number
  /** Causes found so far. */
  readonly failures: number
}

/** How many points a kind of perturbation has in the undisturbed run, and at how many of them it was tried. */
export interface Coverage {
  /** The kind of perturbation. */
  readonly kind: Kind
  /** Where it can make a difference. */
  readonly points: number
  /** At how many of those it was tried. */
  readonly tried: number
}

/** The result of a search. */
export interface Report {
  /** Of the exploration. */
  readonly name: string
  /** With it, the search can be repeated. */
  readonly seed: number
  /** Why nothing could be explored: the scenario fails or does not converge by itself, or two runs of it differ. */
  readonly problem: string | undefined
  /** What there was of each in the run without perturbations; `runs` are reconciles. */
  readonly undisturbed: {
    readonly steps: number
    readonly calls: number
    readonly writes: number
    readonly events: number
    readonly runs: number
  }
  /** How often the scenario was run, except for what runs are compared with. */
  readonly runs: number
  /** Runs with two or three perturbations. */
  readonly combinations: number
  /** Runs in which the controllers met something that they met in no other. */
  readonly distinct: number
  /** For each kind that has a point. */
  readonly coverage: ReadonlyArray<Coverage>
  /** The kinds that the exploration leaves out, with the reasons. */
  readonly without: Partial<Readonly<Record<Kind, string>>>
  /** One for each cause. */
  readonly failures: ReadonlyArray<Failure>
  /** How long it took, in real time. */
  readonly millis: number
}

/** In milliseconds. A search takes real time, whatever clock a test has. */
export const now = (): number => Number(Clock.Clock.defaultValue().monotonicTimeNanosUnsafe()) / 1e6

export const search = Effect.fnUntraced(function* (exploration: Declared, settings: Settings = {}) {
  const { options } = exploration
  const { budget, onProgress, combinations = 0, replay, seed = 1, share = { index: 0, of: 1 } } = settings
  const began = now()
  const deadline = budget === undefined ? Infinity : began + Duration.toMillis(Duration.fromInputUnsafe(budget))
  const without = new Set(Object.keys(options.without ?? {}) as ReadonlyArray<Kind>)
  // The reference of a deletion is known for a single one only.
  const withoutDeletes = new Set<Kind>([...without, "delete"])
  const undisturbed = yield* run(exploration, { perturbations: [] }, { seed })
  const found = new Failures(undisturbed)
  const seen = new Set<string>()
  let runs = 1
  let combined = 0
  let singles: ReadonlyArray<Perturbation> = []
  const tried = new Map<Kind, number>()
  const report = (problem?: string): Report => ({
    name: exploration.name,
    seed,
    problem,
    undisturbed: countsOf(undisturbed.entries),
    runs,
    combinations: combined,
    distinct: seen.size,
    coverage: coverageOf(singles, tried),
    without: options.without ?? {},
    failures: found.all(),
    millis: Math.round(now() - began)
  })
  const problem = problemOf(
    undisturbed,
    yield* run(exploration, { perturbations: [] }, { seed }),
    options.converged !== undefined
  )
  if (problem !== undefined) return report(problem)

  const { comparable } = options
  const judged = { comparable, hasOwnCheck: options.converged !== undefined }
  const references = new Map([["", Judge.referenceOf(undisturbed, comparable)]])
  /** Of the same operations without faults: a user's deletion is an operation. */
  const referenceOf = Effect.fnUntraced(function* ({ perturbations, until }: Case) {
    const operations: Case = { perturbations: perturbations.filter(({ kind }) => kind === "delete"), until }
    const known = references.get(nameOf(operations))
    if (known !== undefined) return known
    const made = Judge.referenceOf(yield* run(exploration, operations, { seed, isReference: true }), comparable)
    references.set(nameOf(operations), made)
    return made
  })
  const { calls, runs: ownRuns } = countsOf(undisturbed.entries)
  const most = 500 + 5 * Math.max(calls, ownRuns)
  /**
   * The record of a case up to its convergence, if nothing is wrong with it: what is perturbed later has no time to converge, whether in a single
   * perturbation or in a combination.
   */
  const attempt = Effect.fnUntraced(function* (one: Case) {
    const outcome = yield* run(exploration, one, { seed, most })
    runs++
    // Not the text itself: with a long budget there are many runs.
    seen.add(Fnv64.hex(Fnv64.of(observationsOf(outcome))))
    const [first, ...others] = Judge.judge(outcome, yield* referenceOf(one), judged)
    if (first !== undefined) found.add(outcome, first, others)
    const begun = [...tried.values()].reduce((sum, one) => sum + one, 0)
    onProgress?.({ name: exploration.name, runs, singles: singles.length, tried: begun, failures: found.size })
    return first === undefined ? outcome.entries.slice(0, outcome.converged) : undefined
  })

  if (replay !== undefined) {
    yield* attempt(replay)
    return report()
  }
  const [own, ...others] = Judge.judge(
    undisturbed,
    { ...(yield* referenceOf({ perturbations: [] })), leaks: new Set() },
    judged
  )
  if (own !== undefined) found.add(undisturbed, own, others)
  // A controller that never rests could not make up for a fault of its last call.
  const all = enumerate(undisturbed.entries.slice(0, undisturbed.converged), without)
  singles = all
  const passed = new Map<string, ReadonlyArray<Record.Entry>>()
  for (const [i, one] of all.entries()) {
    if (i % share.of !== share.index) continue
    if (now() >= deadline) break
    const single = { perturbations: [one] }
    tried.set(one.kind, (tried.get(one.kind) ?? 0) + 1)
    const entries = yield* attempt(single)
    if (entries === undefined) continue
    passed.set(nameOf(single), entries)
    // The user's own check is about the end of the whole scenario.
    const until = judged.hasOwnCheck ? undefined : stepOf(entries)
    if (until !== undefined) yield* attempt({ ...single, until })
  }
  /** The record of a case that does not fail; undefined where it fails. */
  const recordOf = (one: Case) => {
    const known = passed.get(nameOf(one))
    return known === undefined ? attempt(one) : Effect.succeed(known)
  }
  for (let k = share.index; k < combinations && all.length > 0 && now() < deadline; k += share.of) {
    const random = generator(seed, k)
    const size = k % 4 === 3 ? 3 : 2
    let chosen: ReadonlyArray<Perturbation> = [pick(all, random)]
    for (let entries = yield* recordOf({ perturbations: chosen }); entries !== undefined && chosen.length < size;) {
      const next = enumerate(entries, withoutDeletes, lastPerturbed(entries) + 1)
      if (next.length === 0) break
      chosen = chosen.concat(pick(next, random))
      entries = yield* recordOf({ perturbations: chosen })
    }
    if (chosen.length > 1) combined++
  }
  return report()
})

const lastPerturbed = (entries: ReadonlyArray<Record.Entry>): number =>
  entries.findLastIndex(({ perturbed }) => perturbed !== undefined)

/** The step of the scenario at which a perturbation took effect; undefined if it is the last one, or none. */
const stepOf = (entries: ReadonlyArray<Record.Entry>): number | undefined => {
  const at = lastPerturbed(entries)
  const steps = entries.flatMap((entry, i) => (entry.type === "step" ? [{ n: entry.n, i }] : []))
  const before = steps.findLast(({ i }) => i <= at)
  return before === undefined || before === steps.at(-1) ? undefined : before.n
}

const countsOf = (entries: ReadonlyArray<Record.Entry>): Report["undisturbed"] => {
  const count = (holds: (entry: Record.Entry) => boolean) => entries.filter(holds).length
  return {
    steps: count(({ type }) => type === "step"),
    calls: count(({ type }) => type === "call"),
    writes: count((entry) => entry.type === "call" && entry.write !== undefined),
    events: count(({ type }) => type === "event"),
    runs: count(({ type }) => type === "run")
  }
}

const coverageOf = (singles: ReadonlyArray<Perturbation>, tried: ReadonlyMap<Kind, number>): ReadonlyArray<Coverage> =>
  (Object.keys(kinds) as ReadonlyArray<Kind>).flatMap((kind) => {
    const points = singles.filter((one) => one.kind === kind).length
    return points === 0 ? [] : [{ kind, points, tried: tried.get(kind) ?? 0 }]
  })

/** What the controllers met, as a text that is equal for equal runs. */
const observationsOf = ({ entries }: Outcome): string =>
  JSON.stringify(entries, (name, value: unknown) => (name === "perturbed" || name === "why" ? undefined : value))

/** Why a scenario cannot be explored. */
const problemOf = (first: Outcome, second: Outcome, hasOwnCheck: boolean): string | undefined => {
  if (first.scenarioError !== undefined) return `the scenario fails by itself: ${first.scenarioError}`
  const longer = first.entries.length < second.entries.length ? second : first
  const difference = longer.entries.findIndex(
    (_, i) => JSON.stringify(first.entries[i]) !== JSON.stringify(second.entries[i])
  )
  if (difference !== -1) {
    return `two runs of the scenario differ: entry ${difference + 1} is ${JSON.stringify(first.entries[difference]) ?? "missing"}, then ${JSON.stringify(second.entries[difference]) ?? "missing"}`
  }
  if (first.notConverged !== undefined) return `the scenario does not converge by itself: ${first.notConverged}`
  const endless = first.entries.find((entry) => entry.type === "problem" && entry.kind === "endless")
  if (endless?.type === "problem") return `the scenario does not converge by itself: ${endless.message}`
  if (hasOwnCheck) return undefined
  const written = first.entries
    .slice(first.converged)
    .find((entry): entry is Record.Call => entry.type === "call" && entry.write !== undefined)
  return written === undefined
    ? undefined
    : `the scenario does not converge by itself: long after its end the controllers still write, first ${Record.nameOf(written)}`
}

const pick = <A>(all: ReadonlyArray<A>, random: () => number): A => all[Math.floor(random() * all.length)] as A

/** Mulberry32: small, and the same everywhere. */
const generator = (seed: number, nth: number) => {
  let state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(nth + 1, 0x85ebca6b)) >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}
