/** The failures of a search: one for each cause, with the first case that shows it. */
import type * as Judge from "./judge.ts"
import { kinds, nameOf } from "./perturbation.ts"
import * as Record from "./record.ts"
import type { Outcome } from "./run.ts"

/** One thing that goes wrong, with the smallest perturbation that shows it. */
export interface Failure {
  /** The name of the perturbations: with it the run can be repeated. Empty: the undisturbed run. */
  readonly id: string
  /** The generated scenario in which it was found; undefined where the exploration has its own. */
  readonly scenario?: string | undefined
  /** What was broken. */
  readonly rule: Judge.Rule
  /** The rule, and what it is about without numbers: the same for all runs that fail in the same way. */
  readonly cause: string
  /** One sentence. */
  readonly message: string
  /** Further differences, and what else was wrong in the run. */
  readonly details: ReadonlyArray<string>
  /** What happens at each perturbation: `write #2: patch deployments.apps default/web: the process ends after the write`. */
  readonly where: ReadonlyArray<string>
  /** The last writes of the objects that are wrong, in this run and in the undisturbed one. */
  readonly writes: ReadonlyArray<string>
  /** Other perturbations that fail with the same cause. */
  readonly also: ReadonlyArray<string>
  /** What happened in the run. */
  readonly entries: ReadonlyArray<Record.Entry>
}

/** Failures by their cause. Cases with fewer perturbations are added first. */
export class Failures {
  readonly #byCause = new Map<string, Failure & { readonly also: Array<string> }>()
  readonly #undisturbed: Outcome

  constructor(undisturbed: Outcome) {
    this.#undisturbed = undisturbed
  }

  get size(): number {
    return this.#byCause.size
  }

  add(outcome: Outcome, verdict: Judge.Verdict, others: ReadonlyArray<Judge.Verdict>): void {
    const id = nameOf(outcome.case)
    const known = this.#byCause.get(verdict.cause)
    if (known !== undefined) {
      known.also.push(id)
      return
    }
    this.#byCause.set(verdict.cause, {
      id,
      rule: verdict.rule,
      cause: verdict.cause,
      message: verdict.message,
      details: detailsOf(verdict, others),
      where: whereOf(outcome.entries),
      writes: lastWrites(verdict.objects, outcome, this.#undisturbed),
      also: [],
      entries: outcome.entries
    })
  }

  all(): ReadonlyArray<Failure> {
    return [...this.#byCause.values()]
  }
}

const whereOf = (entries: ReadonlyArray<Record.Entry>): ReadonlyArray<string> =>
  entries.flatMap((entry) =>
    (entry.perturbed ?? []).map((kind) => {
      const what =
        entry.type === "call"
          ? Record.nameOf(entry)
          : entry.type === "event"
            ? `event #${entry.n}: ${entry.change} ${entry.resource} ${entry.key}`
            : entry.type === "step"
              ? `step #${entry.n}: ${entry.text}`
              : entry.type
      return `${what}: ${kinds[kind].does}`
    })
  )

/** A defect that is retried is the same one each time. */
const detailsOf = ({ cause, details }: Judge.Verdict, others: ReadonlyArray<Judge.Verdict>): ReadonlyArray<string> => {
  const first = new Map(others.filter((other) => other.cause !== cause).map((other) => [other.cause, other] as const))
  return [...details, ...[...first.values()].map(({ message, rule }) => `${rule}: ${message}`)]
}

const lastWrites = (objects: ReadonlyArray<string>, outcome: Outcome, undisturbed: Outcome): ReadonlyArray<string> =>
  objects.slice(0, 3).flatMap((object) => {
    const here = lastWriteOf(object, outcome)
    const there = lastWriteOf(object, undisturbed)
    return [
      `last write of ${object} in this run: ${here === undefined ? "none" : Record.nameOf(here)}`,
      `undisturbed: ${there === undefined ? "none" : Record.nameOf(there)}`
    ]
  })

const lastWriteOf = (object: string, { entries, kinds }: Outcome): Record.Call | undefined =>
  entries.findLast((entry): entry is Record.Call => {
    if (entry.type !== "call" || entry.write === undefined) return false
    const written = `${kinds.get(entry.resource.split("/")[0] ?? "")} ${entry.key}`
    // Of an object with a generated name only the prefix is known.
    return written.endsWith("*") ? object.startsWith(`${written.slice(0, -1)}(`) : object === written
  })
