/**
 * A table that sorts by a column, moves the focus among its rows by arrow keys, and becomes a list of cards on a narrow screen. Roles are
 * written out because the cards' styles would otherwise remove them.
 */
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { useFrameByFrame } from "./hooks.ts"
import { moveFocus } from "./keys.ts"

export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => ComponentChildren
  /** Sorts rows in ascending order. */
  readonly order?: (a: Row, b: Row) => number
  readonly kind?: "number" | "name" | "chart" | "text" | "state"
}

export interface TableProps<Row> {
  readonly label: string
  readonly columns: ReadonlyArray<Column<Row>>
  readonly rows: ReadonlyArray<Row>
  readonly keyOf: (row: Row) => string
  readonly empty: ComponentChildren
  /** What is shown below a row. */
  readonly detail?: (row: Row) => ComponentChildren
}

/** So many rows are shown at first, and added by a click. */
const page = 50

export const Table = <Row,>({ columns, detail, empty, keyOf, label, rows }: TableProps<Row>) => {
  const [sorted, setSorted] = useState<{ readonly at: number; readonly isDescending: boolean }>()
  const [limit, setLimit] = useState(page)
  const wanted = Math.min(limit, rows.length)
  const count = useFrameByFrame(wanted)
  if (rows.length === 0) return <div class="empty">{empty}</div>
  const order = sorted === undefined ? undefined : columns[sorted.at]?.order
  const direction = sorted?.isDescending === true ? -1 : 1
  const inOrder = order === undefined ? rows : [...rows].sort((a, b) => direction * order(a, b))
  const shown = inOrder.slice(0, count)
  const sortBy = (at: number) =>
    setSorted((last) => {
      const isNumber = columns[at]?.kind === "number"
      if (last?.at !== at) return { at, isDescending: isNumber }
      return last.isDescending === isNumber ? { at, isDescending: !isNumber } : undefined
    })
  return (
    <>
      <table role="table" aria-label={label} onKeyDown={(event) => moveFocus(event, "[data-item]")}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ kind = "text", order, title }, at) => (
              <th
                key={title}
                role="columnheader"
                scope="col"
                class={kind}
                aria-sort={sorted?.at === at ? (sorted.isDescending ? "descending" : "ascending") : undefined}
              >
                {order === undefined ? (
                  title
                ) : (
                  <button type="button" class="sort" onClick={() => sortBy(at)}>
                    {title}
                    <span class="direction" aria-hidden="true">
                      {sorted?.at === at ? (sorted.isDescending ? "↓" : "↑") : ""}
                    </span>
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {shown.map((row) => {
            const more = detail?.(row)
            return [
              <tr role="row" key={keyOf(row)} class={more === undefined ? undefined : "opened"}>
                {columns.map(({ cell, kind = "text", title }) => (
                  <td key={title} role="cell" class={kind} data-title={title}>
                    {cell(row)}
                  </td>
                ))}
              </tr>,
              more !== undefined && (
                <tr role="row" key={`${keyOf(row)} detail`} class="detail">
                  <td role="cell" colSpan={columns.length}>
                    {more}
                  </td>
                </tr>
              )
            ]
          })}
        </tbody>
      </table>
      {rows.length > wanted && (
        <button type="button" class="more" onClick={() => setLimit(limit + page)}>
          Show {Math.min(page, rows.length - wanted)} more of {rows.length - wanted}
        </button>
      )}
    </>
  )
}
