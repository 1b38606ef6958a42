/** Tables of the documentation, printed as Markdown. */

export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): void => {
  const line = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`
  console.log([line(head), line(head.map(() => "---")), ...rows.map(line), ""].join("\n"))
}

export const number = (value: number, digits = 0): string =>
  value.toLocaleString("en", { maximumFractionDigits: digits })

/** Of microseconds in a second. */
export const percent = (micros: number): string => `${number(micros / 10_000, 1)} %`
