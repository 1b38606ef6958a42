/**
 * Counts the steps that a backtracking engine, such as this platform's, takes for a regular expression on a text, and finds texts on
 * which the count grows faster than the length. Steps are counted instead of time, so a test gives the same answer on every machine.
 */
import { RegExpParser } from "@eslint-community/regexpp"
import type { AST } from "@eslint-community/regexpp"

type Instruction =
  | { readonly op: "char"; readonly test: (char: string) => boolean }
  | { readonly op: "assert"; readonly test: (text: string, at: number) => boolean }
  | { readonly op: "look"; readonly program: Program; readonly negate: boolean }
  /** Continues at `first`, and at `second` when that fails. */
  | { readonly op: "split"; first: number; second: number }
  | { readonly op: "jump"; to: number }
  /** Remember where an iteration begins; fail when it ends where it began, as ECMAScript does. */
  | { readonly op: "begin" }
  | { readonly op: "end" }

type Program = ReadonlyArray<Instruction>

export interface Compiled {
  readonly program: Program
  readonly flags: string
  /** Every alternative starts with `^`: no other start is tried. */
  readonly isAnchored: boolean
  readonly pattern: AST.Pattern
}

/** A bounded repetition is expanded up to this many times. */
const unrolled = 600

export const compile = (source: string, flags: string): Compiled => {
  const pattern = new RegExpParser({ ecmaVersion: 2025 }).parsePattern(source, undefined, undefined, {
    unicode: flags.includes("u"),
    unicodeSets: flags.includes("v")
  })
  const program: Array<Instruction> = []
  alternatives(pattern.alternatives, flags, program)
  const isAnchored =
    !flags.includes("m") &&
    pattern.alternatives.every(({ elements: [first] }) => first?.type === "Assertion" && first.kind === "start")
  return { program, flags, isAnchored, pattern }
}

const alternatives = (all: ReadonlyArray<AST.Alternative>, flags: string, out: Array<Instruction>): void => {
  const jumps: Array<{ op: "jump"; to: number }> = []
  for (const [index, { elements }] of all.entries()) {
    const split = { op: "split" as const, first: out.length + 1, second: 0 }
    const isLast = index === all.length - 1
    if (!isLast) out.push(split)
    for (const element of elements) emit(element, flags, out)
    if (isLast) continue
    const jump = { op: "jump" as const, to: 0 }
    jumps.push(jump)
    out.push(jump)
    split.second = out.length
  }
  for (const jump of jumps) jump.to = out.length
}

const emit = (node: AST.Element, flags: string, out: Array<Instruction>): void => {
  switch (node.type) {
    case "Group":
    case "CapturingGroup":
      return alternatives(node.alternatives, flags, out)
    case "Quantifier":
      return quantifier(node, flags, out)
    case "Assertion":
      return void out.push(assertion(node, flags))
    case "Character":
    case "CharacterSet":
    case "CharacterClass":
    case "ExpressionCharacterClass":
      return void out.push({ op: "char", test: charTest(node.raw, flags) })
    case "Backreference":
      throw new Error(`${node.raw} refers to what was found before, which no engine matches in linear time`)
  }
}

const quantifier = (node: AST.Quantifier, flags: string, out: Array<Instruction>): void => {
  for (let count = 0; count < Math.min(node.min, unrolled); count++) emit(node.element, flags, out)
  const order = (split: { first: number; second: number }, inside: number, after: number) =>
    Object.assign(split, node.greedy ? { first: inside, second: after } : { first: after, second: inside })
  if (node.max !== Infinity) {
    const splits: Array<{ op: "split"; first: number; second: number; inside: number }> = []
    for (let count = node.min; count < Math.min(node.max, unrolled); count++) {
      const split = { op: "split" as const, first: 0, second: 0, inside: out.length + 1 }
      splits.push(split)
      out.push(split)
      emit(node.element, flags, out)
    }
    for (const split of splits) order(split, split.inside, out.length)
    return
  }
  const split = { op: "split" as const, first: 0, second: 0 }
  const start = out.length
  out.push(split, { op: "begin" })
  emit(node.element, flags, out)
  out.push({ op: "end" }, { op: "jump", to: start })
  order(split, start + 1, out.length)
}

const isWord = (char: string | undefined): boolean => char !== undefined && /\w/.test(char)

const assertion = (node: AST.Assertion, flags: string): Instruction => {
  const isMultiline = flags.includes("m")
  switch (node.kind) {
    case "start":
      return { op: "assert", test: (text, at) => at === 0 || (isMultiline && text[at - 1] === "\n") }
    case "end":
      return { op: "assert", test: (text, at) => at === text.length || (isMultiline && text[at] === "\n") }
    case "word":
      return { op: "assert", test: (text, at) => (isWord(text[at - 1]) !== isWord(text[at])) !== node.negate }
    case "lookahead": {
      const program: Array<Instruction> = []
      alternatives(node.alternatives, flags, program)
      return { op: "look", program, negate: node.negate }
    }
    case "lookbehind":
      // No expression of the source looks further behind than one character.
      return { op: "assert", test: (text, at) => charTest(node.raw, flags, "(?!^)")(text[at - 1] ?? "") }
  }
}

/** Cached results of this platform, one for each character. */
const charTest = (raw: string, flags: string, after = ""): ((char: string) => boolean) => {
  const one = new RegExp(after === "" ? `^(?:${raw})$` : `${after}${raw}`, flags.replaceAll(/[gy]/g, ""))
  const known = new Map<string, boolean>()
  return (char) => {
    const found = known.get(char) ?? one.test(char)
    known.set(char, found)
    return found
  }
}

interface Counter {
  steps: number
  readonly limit: number
}

interface Thread {
  readonly pc: number
  readonly at: number
  readonly begun: Begun | undefined
}

interface Begun {
  readonly at: number
  readonly outer: Begun | undefined
}

/** Where the first match from `start` ends; undefined when there is none, or the limit is reached. */
const run = (program: Program, text: string, start: number, counter: Counter): number | undefined => {
  const pending: Array<Thread> = [{ pc: 0, at: start, begun: undefined }]
  for (let thread = pending.pop(); thread !== undefined; thread = pending.pop()) {
    let { at, begun, pc } = thread
    for (;;) {
      if (++counter.steps > counter.limit) return undefined
      const next = program[pc]
      if (next === undefined) return at
      if (next.op === "char") {
        const char = text[at]
        if (char === undefined || !next.test(char)) break
        at++
        pc++
      } else if (next.op === "split") {
        pending.push({ pc: next.second, at, begun })
        pc = next.first
      } else if (next.op === "jump") pc = next.to
      else if (next.op === "begin") {
        begun = { at, outer: begun }
        pc++
      } else if (next.op === "end") {
        if (begun?.at === at) break
        begun = begun?.outer
        pc++
      } else if (next.op === "assert") {
        if (!next.test(text, at)) break
        pc++
      } else {
        if ((run(next.program, text, at, counter) !== undefined) === next.negate) break
        pc++
      }
    }
  }
  return undefined
}

/** The searches of `replace` or `matchAll` where the expression is global, and those of `test` otherwise. */
export const steps = ({ flags, isAnchored, program }: Compiled, text: string, limit = Infinity): number => {
  const counter = { steps: 0, limit }
  const isGlobal = flags.includes("g")
  for (let start = 0; start <= text.length && counter.steps <= limit;) {
    const end = run(program, text, start, counter)
    if (end === undefined ? isAnchored || flags.includes("y") : !isGlobal) break
    start = end === undefined || end === start ? start + 1 : end
  }
  return counter.steps
}

const alphabet = ["a", "0", "-", "\n", " ", "A", ".", "/", ":", "=", "+", '"', "\\", "_", "e", "\0", "é"]
const variants = 10

/** A short text that the nodes match, in one of several ways. */
const sample = (nodes: ReadonlyArray<AST.Element>, variant: number): string =>
  nodes.map((node) => sampleOf(node, variant)).join("")

const sampleOf = (node: AST.Element, variant: number): string => {
  switch (node.type) {
    case "Group":
    case "CapturingGroup":
      return sample(node.alternatives[variant % node.alternatives.length]?.elements ?? [], variant)
    case "Quantifier":
      return sampleOf(node.element, variant).repeat(Math.min(Math.max(node.min, variant % 2), node.max, 16))
    case "Character":
      return String.fromCodePoint(node.value)
    case "CharacterSet":
    case "CharacterClass":
    case "ExpressionCharacterClass": {
      const one = new RegExp(`^(?:${node.raw})$`, node.raw.includes("\\p") ? "u" : "s")
      const fitting = alphabet.filter((char) => one.test(char))
      return fitting[variant % Math.max(1, fitting.length)] ?? ""
    }
    default:
      return ""
  }
}

interface Repeated {
  readonly prefix: string
  readonly pump: string
}

/** Each part under a quantifier, alone and with what precedes it. */
const repeatable = (pattern: AST.Pattern): ReadonlyArray<Repeated> => {
  const found = new Map<string, Repeated>()
  const add = (prefix: string, pump: string) => {
    if (pump !== "") found.set(JSON.stringify([prefix, pump]), { prefix, pump })
  }
  const inside = (all: ReadonlyArray<AST.Alternative>, prefix: string, variant: number): void => {
    for (const { elements } of all) {
      for (const [index, node] of elements.entries()) {
        visit(node, prefix + sample(elements.slice(0, index), variant), variant)
      }
    }
  }
  const visit = (node: AST.Element, prefix: string, variant: number): void => {
    if (node.type === "Group" || node.type === "CapturingGroup") return inside(node.alternatives, prefix, variant)
    if (node.type === "Assertion" && node.kind === "lookahead") return inside(node.alternatives, prefix, variant)
    if (node.type !== "Quantifier") return
    const pump = sampleOf(node.element, variant)
    add(prefix, pump)
    add(`a${prefix}`, pump)
    add("", prefix + pump)
    add("", prefix)
    visit(node.element, prefix, variant)
  }
  for (let variant = 0; variant < variants; variant++) {
    inside(pattern.alternatives, "", variant)
    for (const { elements } of pattern.alternatives) add("", sample(elements, variant))
  }
  return [...found.values()]
}

/** The description of a text in a failure: enough to try it again. */
export interface Attack extends Repeated {
  readonly suffix: string
}

const most = 2_000_000

/** A text that costs more than twice as much when it is twice as long; undefined when none was found. */
export const attack = (compiled: Compiled): Attack | undefined => {
  for (const repeated of repeatable(compiled.pattern)) {
    for (const suffix of ["", "\0", "a", "."]) {
      const cost = (count: number): number =>
        steps(compiled, repeated.prefix + repeated.pump.repeat(count) + suffix, most)
      const first = cost(128)
      // Each character starts a search that reads at least half of the rest.
      if (first < (128 * 128) / 2) continue
      const [second, third] = [cost(256), cost(512)]
      // Twice the steps for a linear one, four times the steps for a quadratic one.
      if (third >= most || third - second > 3 * (second - first)) return { ...repeated, suffix }
    }
  }
  return undefined
}
