/** A report for programs. The fields are documented in docs/operations.md; `version` changes when one of them changes its meaning. Pure. */
import type { Merged } from "./merge.ts"
import { factsOf } from "./lines.ts"

/** The report of an exploration, and the path of the file that declares it. */
export interface Explored {
  readonly file: string
  readonly report: Merged
}

/** A text with a final line feed. */
export const json = (explored: ReadonlyArray<Explored>): string =>
  `${JSON.stringify(valueOf(explored), undefined, 2)}\n`

const valueOf = (explored: ReadonlyArray<Explored>) => ({
  version: 1,
  ok: explored.every(({ report }) => report.problem === undefined && report.failures.length === 0),
  explorations: explored.map(({ file, report }) => ({
    name: report.name,
    file,
    seed: report.seed,
    problem: report.problem ?? null,
    runs: report.runs,
    combinations: report.combinations,
    milliseconds: report.millis,
    undisturbed: report.undisturbed,
    coverage: report.coverage,
    without: report.without,
    failures: report.failures.map((failure) => ({
      ...factsOf(report, failure),
      cause: failure.cause,
      timeline: failure.entries
    }))
  }))
})
