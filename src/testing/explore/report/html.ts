/** A report as one HTML file: the page of `page/`, built, with the data of the report in it. It loads nothing. Pure. */
import type { Explored } from "./json.ts"
import { factsOf, type Line, linesOf } from "./lines.ts"
import { summaryOf } from "./text.ts"

/** What the page shows. */
export interface ReportView {
  readonly explorations: ReadonlyArray<ExplorationView>
}

export interface ExplorationView {
  readonly name: string
  readonly file: string
  readonly problem: string | null
  /** Lines of text: what was explored. */
  readonly summary: string
  readonly failures: ReadonlyArray<FailureView>
}

export interface FailureView {
  /** The name of the perturbations; empty for the undisturbed run. */
  readonly id: string
  /** The generated scenario; null where the exploration has its own. */
  readonly scenario: string | null
  readonly rule: string
  readonly message: string
  readonly details: ReadonlyArray<string>
  readonly where: ReadonlyArray<string>
  readonly writes: ReadonlyArray<string>
  readonly also: ReadonlyArray<string>
  readonly replay: string
  readonly lines: ReadonlyArray<Line>
}

/** Where the built page has its data. */
const mark = '<script type="application/json" id="report"></script>'

/** `page`: the built page. Throws if it has no place for data, which no user can bring about. */
export const html = (page: string, explored: ReadonlyArray<Explored>): string => {
  const [before, after, ...others] = page.split(mark)
  if (before === undefined || after === undefined || others.length > 0)
    throw new Error("the page has no place for data")
  // `<` begins everything that could end the element or open a comment in it. Source: HTML, restrictions for contents of script elements.
  const data = JSON.stringify(viewOf(explored)).replaceAll("<", "\\u003c")
  return `${before}${mark.replace("></", () => `>${data}</`)}${after}`
}

const viewOf = (explored: ReadonlyArray<Explored>): ReportView => ({
  explorations: explored.map(({ file, report }) => ({
    name: report.name,
    file,
    problem: report.problem ?? null,
    summary: summaryOf(report),
    failures: report.failures.map((failure) => ({
      ...factsOf(report, failure),
      lines: linesOf(failure.entries)
    }))
  }))
})
