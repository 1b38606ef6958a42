/**
 * The result of a command in the format of `-o`: a table, a wide table, JSON or YAML, on standard output. A command describes its result once: rows
 * with columns for people, and a value with stable field names for programs. Messages belong on standard error and never into a report.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Document, Scalar } from "yaml"
import { printable } from "../../kube/printable.ts"
import type { Host } from "../../manager/process/Host.ts"
import type { Format } from "../../manager/settings/output.ts"
import { type Column, table } from "./table.ts"

export interface Report<A> {
  /** What `-o json` and `-o yaml` print: JSON data, the field names of which are documented and stable. */
  readonly value: unknown
  readonly columns: ReadonlyArray<Column<A>>
  readonly rows: ReadonlyArray<A>
  /** Printed if no format is chosen. Default: the table. */
  readonly text?: string | undefined
  /** Whether the rows continue a table that was printed before: then the heading is left out. */
  readonly isContinued?: boolean | undefined
}

/** Writes the report to standard output. Of successive reports in JSON or YAML, each is a document of its own. */
export const print = <A>(host: Pick<Host, "stdout">, format: Option.Option<Format>, report: Report<A>) =>
  Effect.map(render(format, report), (text) => void (text === "" || host.stdout.write(`${text}\n`)))

/** The text without a final line feed, free of control characters. */
export const render = <A>(format: Option.Option<Format>, report: Report<A>): Effect.Effect<string> => {
  const { columns, isContinued, rows, text, value } = report
  switch (Option.getOrUndefined(format)) {
    case "json":
      return Effect.sync(() => json(value))
    case "yaml":
      return Effect.map(yaml(value), (document) => (isContinued === true ? `---\n${document}` : document))
    case "wide":
      return Effect.sync(() => table(columns, rows, { isWide: true, isContinued }))
    case "table":
      return Effect.sync(() => table(columns, rows, { isContinued }))
    case undefined:
      return Effect.sync(() => (text === undefined ? table(columns, rows, { isContinued }) : printable(text)))
  }
}

/** Control characters occur in strings only, where JSON knows the same escapes. */
const json = (value: unknown): string => printable(JSON.stringify(value, undefined, 4))

const yaml = Effect.fnUntraced(function* (value: unknown) {
  const { Document, visit } = yield* Effect.promise(() => import("yaml"))
  // Through JSON, so that both formats have the same fields.
  const document: Document = new Document(JSON.parse(JSON.stringify(value)), { aliasDuplicateObjects: false })
  visit(document, { Scalar: (_, scalar) => quoteUnprintable(scalar) })
  return printable(document.toString()).trimEnd()
})

/** Only between double quotes does YAML know escapes. */
const quoteUnprintable = (scalar: Scalar): void => {
  const { value } = scalar
  if (typeof value === "string" && (value.includes("\t") || printable(value) !== value)) scalar.type = "QUOTE_DOUBLE"
}
