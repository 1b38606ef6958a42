/** Which lines of a long timeline a report shows: those around each perturbation, and the last ones. Pure, and for the browser too. */
import type { Line } from "./lines.ts"

/** How many lines are shown before and after a perturbation, and at the end. */
const around = 10

/** Lines, and between them how many are left out. */
export type Excerpt = ReadonlyArray<Line | { readonly skipped: number }>

export const excerpt = (lines: ReadonlyArray<Line>): Excerpt => {
  const marked = lines.flatMap(({ perturbed }, i) => (perturbed.length > 0 ? [i] : []))
  const isShown = (i: number) => i >= lines.length - around || marked.some((at) => Math.abs(at - i) <= around)
  const found: Array<Excerpt[number]> = []
  let skipped = 0
  for (const [i, line] of lines.entries()) {
    if (!isShown(i)) {
      skipped++
      continue
    }
    if (skipped > 0) found.push({ skipped })
    skipped = 0
    found.push(line)
  }
  return found
}
