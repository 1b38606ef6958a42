/**
 * Rows in aligned columns, as kubectl prints them: three blanks apart, with a heading in capitals. Cells hold what users of a cluster wrote, so each
 * is one line without control characters. Pure.
 */
import { oneLine } from "../../kube/printable.ts"

/** One column of a table. */
export interface Column<in A> {
  /** In capitals. */
  readonly title: string
  /** Shown with `-o wide` only. */
  readonly isWide?: boolean | undefined
  /** Any text; an empty one is shown as it is. */
  readonly cell: (row: A) => string
}

export interface Options {
  /** Whether to show the columns of `-o wide`. */
  readonly isWide?: boolean | undefined
  /** Whether to leave the heading out: the rows continue a table that has one. */
  readonly isContinued?: boolean | undefined
}

/** The lines of the table, without a final line feed. Columns are at least as wide as their titles. */
export const table = <A>(
  columns: ReadonlyArray<Column<A>>,
  rows: ReadonlyArray<A>,
  { isContinued = false, isWide = false }: Options = {}
): string => {
  const shown = columns.filter((column) => isWide || column.isWide !== true)
  const titles = shown.map(({ title }) => title)
  const cells = rows.map((row) => shown.map(({ cell }) => oneLine(cell(row)).replaceAll("\t", " ")))
  const widths = titles.map((title, column) =>
    cells.reduce((widest, row) => Math.max(widest, (row[column] ?? "").length), title.length)
  )
  return [...(isContinued ? [] : [titles]), ...cells]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("   ")
        .trimEnd()
    )
    .join("\n")
}
