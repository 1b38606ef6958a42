/** Changes of files as a unified diff, which `git apply` takes. Pure. Source: GNU diffutils, "Detailed Description of Unified Format". */

/** `before` is undefined for a new file. */
export interface Change {
  /** Relative, with slashes. */
  readonly path: string
  readonly before: string | undefined
  readonly text: string
}

export const unified = (changes: ReadonlyArray<Change>): string => changes.map(one).join("")

const context = 3

const one = ({ before, path, text }: Change): string => {
  const [old, now] = [linesOf(before ?? ""), linesOf(text)]
  const head =
    before === undefined
      ? `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n`
      : `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n`
  return head + hunks(edits(old, now))
}

/** With their line ends, so that a file without a last one keeps its difference. */
const linesOf = (text: string): ReadonlyArray<string> => text.split(/(?<=\n)/).filter((line) => line !== "")

interface Line {
  readonly sign: " " | "-" | "+"
  readonly text: string
}

/** The longest common subsequence of what remains between the common beginning and the common end. */
const edits = (old: ReadonlyArray<string>, now: ReadonlyArray<string>): ReadonlyArray<Line> => {
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start++
  let end = 0
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++
  const [a, b] = [old.slice(start, old.length - end), now.slice(start, now.length - end)]
  const kept = (lines: ReadonlyArray<string>): ReadonlyArray<Line> => lines.map((text) => ({ sign: " ", text }))
  return [...kept(old.slice(0, start)), ...between(a, b), ...kept(old.slice(old.length - end))]
}

/** Sources are small; where they are not, all lines are replaced. */
const bound = 4_000_000

const between = (a: ReadonlyArray<string>, b: ReadonlyArray<string>): ReadonlyArray<Line> => {
  const [gone, come] = [a.map((text): Line => ({ sign: "-", text })), b.map((text): Line => ({ sign: "+", text }))]
  if (a.length * b.length > bound) return [...gone, ...come]
  const width = b.length + 1
  const lengths = new Uint32Array((a.length + 1) * width)
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const lines: Array<Line> = []
  let [i, j] = [0, 0]
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      lines.push({ sign: " ", text: a[i] ?? "" })
      i++
      j++
    } else if (at(i + 1, j) >= at(i, j + 1)) lines.push(...gone.slice(i, ++i))
    else lines.push(...come.slice(j, ++j))
  }
  return [...lines, ...gone.slice(i), ...come.slice(j)]
}

const hunks = (lines: ReadonlyArray<Line>): string => {
  const isNear = lines.map((_, index) =>
    lines.slice(Math.max(0, index - context), index + context + 1).some(({ sign }) => sign !== " ")
  )
  let [text, old, now] = ["", 1, 1]
  for (let from = 0; from < lines.length;) {
    const length =
      isNear[from] === true
        ? (isNear.indexOf(false, from) === -1 ? lines.length : isNear.indexOf(false, from)) - from
        : 0
    if (length === 0) {
      from++
      old++
      now++
      continue
    }
    const part = lines.slice(from, from + length)
    const [gone, come] = [
      part.filter(({ sign }) => sign !== "+").length,
      part.filter(({ sign }) => sign !== "-").length
    ]
    text += `@@ -${gone === 0 ? old - 1 : old},${gone} +${come === 0 ? now - 1 : now},${come} @@\n`
    text += part
      .map(
        (line) => line.sign + (line.text.endsWith("\n") ? line.text : `${line.text}\n\\ No newline at end of file\n`)
      )
      .join("")
    from += length
    old += gone
    now += come
  }
  return text
}
