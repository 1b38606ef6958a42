/** The record of a run as lines for a reader, and what a failure needs to be repeated. Pure. */
import { type Kind, kinds } from "../perturbation.ts"
import type { Failure } from "../failures.ts"
import * as Record from "../record.ts"
import type { Merged } from "./merge.ts"

/** One entry of a record. */
export interface Line {
  /** Milliseconds of virtual time since the start of the run. */
  readonly at: number
  /** The process of the controllers; undefined for the scenario and for what others do. */
  readonly process: number | undefined
  /** What it is, in a word: `write`, `read`, `event`, `reconcile`, `step`, `process`, `other`, `problem`. */
  readonly type: string
  readonly text: string
  /** How it ended: `201`, `Failed: …`. Empty where nothing can go wrong. */
  readonly outcome: string
  readonly isBad: boolean
  /** What each perturbation here does: `crash: the process ends after the write, …`. */
  readonly perturbed: ReadonlyArray<string>
}

export const linesOf = (entries: ReadonlyArray<Record.Entry>): ReadonlyArray<Line> => entries.map(lineOf)

const lineOf = (entry: Record.Entry): Line => ({
  at: entry.at,
  process: "process" in entry ? entry.process : undefined,
  outcome: "",
  isBad: false,
  perturbed: (entry.perturbed ?? []).map((kind: Kind) => `${kind}: ${kinds[kind].does}`),
  ...described(entry)
})

const described = (entry: Record.Entry): Pick<Line, "type" | "text"> & Partial<Line> => {
  switch (entry.type) {
    case "step":
      return { type: "step", text: `step #${entry.n}: ${entry.text}` }
    case "call": {
      const written = entry.revision === undefined ? "" : `, revision ${entry.revision}`
      const isBad = !/^[23][0-9]{2}$/.test(entry.outcome)
      return {
        type: entry.write === undefined ? "read" : "write",
        text: Record.nameOf(entry),
        outcome: entry.outcome + written,
        isBad
      }
    }
    case "event":
      return {
        type: "event",
        text: `event #${entry.n}: ${entry.change} ${entry.resource} ${entry.key}, revision ${entry.revision}`
      }
    case "run":
      return {
        type: "reconcile",
        text: `${entry.controller} ${entry.key}`,
        outcome: entry.error === undefined ? entry.outcome : `${entry.outcome}: ${entry.error}`,
        isBad: entry.error !== undefined
      }
    case "start":
    case "end":
      return { type: "process", text: `process ${entry.process} ${entry.type}s (${entry.why})`, isBad: false }
    case "other":
      return { type: "other", text: `${entry.verb} ${entry.path}, revision ${entry.revision}` }
    case "problem":
      return { type: "problem", text: entry.message, isBad: true }
  }
}

/** What the reports for programs and for the page have of a failure, beside its timeline. */
export const factsOf = (report: Merged, failure: Failure) => {
  const { also, details, id, message, rule, scenario = null, where, writes } = failure
  return { id, scenario, rule, message, details, where, writes, also, replay: replayOf(report, failure) }
}

/** The command that repeats a run, for a POSIX shell. */
export const replayOf = ({ name, seed }: Merged, { id, scenario }: Pick<Failure, "id" | "scenario">): string => {
  const run = `${name}${scenario === undefined ? "" : `/${scenario}`}:${id}`
  return `npx effect-controller-manager explore ${seed === 1 ? "" : `--seed ${seed} `}--replay '${run.replaceAll("'", `'\\''`)}'`
}
