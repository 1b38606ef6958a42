/** Finds the name nearest to a mistyped one. Pure. */

/**
 * The number of single-character insertions, deletions, replacements and swaps of neighbours between two words. Source: optimal string alignment
 * distance.
 */
export const distance = (a: string, b: string): number => {
  // Rows of the table for the prefixes of `a` that are two, one and zero characters shorter.
  let [before, last]: [ReadonlyArray<number>, ReadonlyArray<number>] = [
    [],
    Array.from({ length: b.length + 1 }, (_, j) => j)
  ]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(before, j - 2) + 1 : Infinity
      row.push(Math.min(at(last, j) + 1, at(row, j - 1) + 1, replaced, swapped))
    }
    ;[before, last] = [last, row]
  }
  return at(last, b.length)
}

const at = (row: ReadonlyArray<number>, index: number): number => row[index] ?? Infinity

/** The closest name, the first one of several; none if more than a third of the written name would have to change. */
export const nearest = (written: string, names: Iterable<string>): string | undefined => {
  const word = written.toLowerCase()
  let best: { readonly name: string; readonly away: number } | undefined
  for (const name of names) {
    const away = distance(word, name.toLowerCase())
    if (away <= Math.max(1, Math.floor(word.length / 3)) && (best === undefined || away < best.away))
      best = { name, away }
  }
  return best?.name
}

/** ` (did you mean x?)`, or nothing. */
export const hint = (written: string, names: Iterable<string>, show = (name: string): string => name): string => {
  const name = nearest(written, names)
  return name === undefined ? "" : `: did you mean ${show(name)}?`
}
