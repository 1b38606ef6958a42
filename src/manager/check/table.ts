/** The findings of `check` as the user reads them: one row each, in columns. Pure. */
import { oneLine } from "../oneLine.ts"

export interface Finding {
  readonly check: "configuration" | "reachability" | "discovery" | "permissions"
  readonly isOk: boolean
  /** What was looked at: an address, a kind, an endpoint. */
  readonly subject: string
  /** What was found; where it is not well, what is wrong and who needs it. */
  readonly detail: string
}

const heading = ["CHECK", "RESULT", "SUBJECT", "DETAIL"] as const

export const render = (findings: ReadonlyArray<Finding>): string => {
  const rows = [
    heading,
    ...findings.map((one) => [one.check, one.isOk ? "ok" : "FAILED", oneLine(one.subject), oneLine(one.detail)])
  ]
  const widths = heading.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("   ")
        .trimEnd()
    )
    .join("\n")
}

/** `2 of 14 checks failed`, or undefined when none did. */
export const verdict = (findings: ReadonlyArray<Finding>): string | undefined => {
  const failed = findings.filter((one) => !one.isOk).length
  return failed === 0 ? undefined : `${failed} of ${findings.length} checks failed`
}
