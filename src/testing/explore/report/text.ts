/** A report for a terminal: a summary, then each failure once, with the part of its timeline that matters. Pure. */
import { printable } from "../../../kube/printable.ts"
import { type Kind, kinds } from "../perturbation.ts"
import type * as Record from "../record.ts"
import type { Failure } from "../failures.ts"
import { excerpt } from "./excerpt.ts"
import { type Line, linesOf, replayOf } from "./lines.ts"
import type { Merged } from "./merge.ts"

export const text = (report: Merged): string => {
  const { failures, name, problem } = report
  if (problem !== undefined) return printable(`${name} cannot be explored: ${problem}`)
  return printable([summaryOf(report), ...failures.map((failure, i) => ofFailure(report, failure, i + 1))].join("\n\n"))
}

/** What was explored, without a final line feed; not printable yet, as {@link ofFailure}. */
export const summaryOf = ({
  combinations,
  coverage,
  failures,
  name,
  runs,
  seed,
  undisturbed,
  without
}: Merged): string => {
  const { calls, events, runs: reconciles, steps, writes } = undisturbed
  const left = Object.entries(without)
  const unmet = (Object.keys(kinds) as ReadonlyArray<Kind>).filter(
    (kind) => without[kind] === undefined && coverage.every((one) => one.kind !== kind)
  )
  return [
    `${name}: ${counted(failures.length, "failure")} in ${counted(runs, "run")}, ${combinations} of them with several perturbations; seed ${seed}`,
    `  undisturbed: ${counted(steps, "step")}, ${counted(calls, "call")}, ${writes} of them writes, ${counted(events, "event")}, ${counted(reconciles, "reconcile")}`,
    ...(coverage.length === 0
      ? []
      : [`  tried: ${coverage.map(({ kind, points, tried }) => `${kind} ${tried} of ${points}`).join(", ")}`]),
    ...(coverage.length === 0 || unmet.length === 0 ? [] : [`  nowhere to try: ${unmet.join(", ")}`]),
    ...left.map(([kind, reason]) => `  left out: ${kind}, because ${reason}`)
  ].join("\n")
}

const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? "" : "s"}`

/** More names of perturbations do not help a reader. */
const mostNamed = 5

/** One failure. `number`: its place in the list. */
export const ofFailure = (report: Merged, failure: Failure, number: number): string => {
  const { also, details, entries, message, rule, where, writes } = failure
  const more = also.length > mostNamed ? `, and ${also.length - mostNamed} more` : ""
  return [
    `${number}) ${rule}: ${message}`,
    ...details.map((detail) => `   ${detail}`),
    ...(where.length === 0 ? ["   without any perturbation"] : where.map((one) => `   at ${one}`)),
    ...writes.map((one) => `   ${one}`),
    ...(also.length === 0 ? [] : [`   the same with ${also.slice(0, mostNamed).join(", ")}${more}`]),
    "",
    ...excerpt(linesOf(entries))
      .flatMap((part) => ("skipped" in part ? [`  … ${counted(part.skipped, "line")}`] : shown(part)))
      .map((line) => `   ${line}`),
    "",
    `   repeat it with: ${replayOf(report, failure)}`
  ].join("\n")
}

/** The whole timeline of a run. */
export const timeline = (entries: ReadonlyArray<Record.Entry>): string =>
  printable(linesOf(entries).flatMap(shown).join("\n"))

const shown = ({ at, outcome, perturbed, process, text: what, type }: Line): ReadonlyArray<string> => {
  const time = `${(at / 1000).toFixed(3)} s`.padStart(11)
  const who = (process === undefined ? "" : `#${process}`).padEnd(4)
  const line = `${perturbed.length > 0 ? ">" : " "}${time}  ${who}${type.padEnd(10)}${what}${outcome === "" ? "" : ` -> ${outcome}`}`
  return [onOneLine(line), ...perturbed.map((one) => `>${" ".repeat(17)}${one}`)]
}

/** Without line feeds, and with the spaces that the line begins with. */
const onOneLine = (line: string): string =>
  line
    .split("\n")
    .map((part, i) => (i === 0 ? part.trimEnd() : part.trim()))
    .join(" ")
    .trimEnd()
