/**
 * Where a regular expression matches: all places from left to right, of which each is the one that Go's `regexp` finds. The engine that the
 * program is from says only whether it matches, so its automaton runs here with the start of each thread. Linear in the text, times the size
 * of the program. Source: Go regexp/exec.go.
 */
import { compile } from "../../structural/pattern.ts"

/** The instructions. Source: Go regexp/syntax/prog.go, in the numbers of the engine. */
const alternative = 1
const alternativeMatch = 2
const capture = 3
const emptyWidth = 4
const match = 6
const nothing = 7
const firstRune = 8

interface Instruction {
  readonly op: number
  readonly out: number
  readonly arg: number
  readonly matchRune: (rune: number) => boolean
}

interface Automaton {
  readonly start: number
  readonly getInst: (at: number) => Instruction
  readonly numInst: () => number
}

/** At most so many matches; all for a negative number. */
export const findAll = (pattern: string, text: string, most: number): ReadonlyArray<string> => {
  const { program } = compile(pattern)
  if (program === undefined) return []
  const found: Array<string> = []
  let from = 0
  let end = -1
  const limit = most < 0 ? Infinity : most
  while (from <= text.length && found.length < limit) {
    const place = find(program, text, from)
    if (place === undefined) break
    const [start, stop] = place
    // An empty match directly behind the last one does not count.
    if (start !== stop || start !== end) found.push(text.slice(start, stop))
    end = stop
    from = stop > start ? stop : stop + widthAt(text, stop)
  }
  return found
}

const widthAt = (text: string, at: number): number => ((text.codePointAt(at) ?? 0) > 0xff_ff ? 2 : 1)

/** Threads in the order in which they are preferred, each with its start. */
interface Threads {
  readonly states: Array<number>
  readonly starts: Array<number>
}

const find = (automaton: Automaton, text: string, from: number): readonly [number, number] | undefined => {
  const size = automaton.numInst()
  let current: Threads = { states: [], starts: [] }
  let next: Threads = { states: [], starts: [] }
  const seen = new Uint32Array(size)
  let generation = 0
  const add = (to: Threads, state: number, start: number, conditions: number): void => {
    const pending = [state]
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      if (seen[at] === generation) continue
      seen[at] = generation
      const { arg, op, out } = automaton.getInst(at)
      if (op === alternative || op === alternativeMatch) pending.push(arg, out)
      else if (op === capture || op === nothing) pending.push(out)
      else if (op === emptyWidth) {
        if ((arg & ~conditions) === 0) pending.push(out)
      } else if (op === match || op >= firstRune) {
        to.states.push(at)
        to.starts.push(start)
      }
    }
  }
  let best: readonly [number, number] | undefined
  let before = from === 0 ? -1 : (text.codePointAt(from - 1) ?? -1)
  let rune = text.codePointAt(from) ?? -1
  generation += 1
  for (let at = from; ;) {
    // A later start is of no interest once a match is found.
    if (best === undefined) add(current, automaton.start, at, conditionsAt(before, rune))
    if (current.states.length === 0 && best !== undefined) return best
    const width = rune > 0xff_ff ? 2 : 1
    const after = rune === -1 ? -1 : (text.codePointAt(at + width) ?? -1)
    generation += 1
    next.states.length = 0
    next.starts.length = 0
    for (const [index, state] of current.states.entries()) {
      const start = current.starts[index] ?? 0
      const instruction = automaton.getInst(state)
      if (instruction.op === match) {
        best = [start, at]
        // Threads behind it are less preferred.
        break
      }
      if (rune !== -1 && instruction.matchRune(rune)) add(next, instruction.out, start, conditionsAt(rune, after))
    }
    if (rune === -1) return best
    at += width
    before = rune
    rune = after
    ;[current, next] = [next, current]
  }
}

const isWord = (rune: number): boolean => rune >= 0 && rune < 128 && /\w/.test(String.fromCharCode(rune))

/** What holds between two characters, as bits: begin and end of a line, of the text, and whether a word begins or ends. */
const conditionsAt = (before: number, after: number): number => {
  const isBoundary = isWord(before) !== isWord(after)
  return (
    (before === -1 || before === 10 ? 1 : 0) |
    (after === -1 || after === 10 ? 2 : 0) |
    (before === -1 ? 4 : 0) |
    (after === -1 ? 8 : 0) |
    (isBoundary ? 16 : 32)
  )
}
