/**
 * What the command of a simulated container writes to its log, and when: `echo` with quotes and variables, `date`, `sleep`, assignments,
 * counting, `for … in` and endless `while` loops of a shell. At the first statement that is not understood the output ends; that command
 * counts as one that runs on. Everything is bounded, because a pod's author chooses the text. Source: POSIX shell, without its expansions
 * of files and of commands other than `date`.
 */
import type { Pod } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"
import * as Program from "./program.ts"
import type { Source } from "./lines.ts"

type Container = NonNullable<Pod["spec"]>["containers"][number]

/** Longer scripts are read up to here. */
const maxScript = 8_192

/** The statements that are executed, those of unrolled loops included. */
const maxSteps = 256

/** Milliseconds of an iteration of an endless loop without `sleep`. */
const iteration = 1_000

/** Undefined if nothing is known of what the command writes: there is none, or it begins with a statement that is not understood. */
export const of = (pod: Pod, container: Container, startedAt: number): ReadonlyArray<Source> | undefined => {
  const env = new Map([["HOSTNAME", pod.metadata.name]])
  for (const { name, value } of container.env ?? []) env.set(name, value ?? "")
  // Source: third_party/forked/golang/expansion. The names are those of environment variables.
  const expand = (text: string) =>
    text.slice(0, maxScript).replace(/\$\((\w{1,256})\)/g, (whole, name: string) => env.get(name) ?? whole)
  const words = [...(container.command ?? []), ...(container.args ?? [])].slice(0, maxSteps).map(expand)
  const [first = "", flag = "", script = ""] = words
  const isShell = /^(?:.*\/)?(?:ba|a|da)?sh$/.test(first.slice(-64)) && /^-[a-z]{0,8}c$/.test(flag)
  const statements: ReadonlyArray<Statement> = isShell ? parse(script) : [{ joint: ";", words: words.map(literal) }]
  const shell = new Shell(env, startedAt)
  shell.run(statements, undefined)
  return words.length === 0 || (shell.isUnknown && shell.sources.length === 0) ? undefined : shell.sources
}

/** A word, with what is not expanded in it escaped by {@link quoteMark}. */
interface Statement {
  readonly joint: string
  readonly words: ReadonlyArray<string>
}

/** Precedes a dollar sign that is not expanded. A private-use character, which is removed from scripts. */
const quoteMark = "\uE000"

const literal = (text: string): string => text.replaceAll(quoteMark, "").replaceAll("$", `${quoteMark}$`)

/** Splits a script into statements and words; the quotes are removed. */
const parse = (text: string): ReadonlyArray<Statement> => {
  const statements: Array<Statement> = []
  let joint = ";"
  let words: Array<string> = []
  let word: string | undefined
  let quote = ""
  let depth = 0
  const endWord = (): void => {
    if (word !== undefined) words.push(word)
    word = undefined
  }
  const endStatement = (next: string): void => {
    endWord()
    if (words.length > 0) statements.push({ joint, words })
    words = []
    joint = next
  }
  const script = text.slice(0, maxScript).replaceAll(quoteMark, "")
  for (let i = 0; i < script.length; i++) {
    const char = script[i] ?? ""
    const two = script.slice(i, i + 2)
    if (quote === "'") {
      if (char === "'") quote = ""
      else word += char === "$" ? `${quoteMark}$` : char
    } else if (depth > 0 || two === "$(") {
      // An expansion is one part of its word, whatever it contains.
      word = (word ?? "") + char
      if (char === "(") depth++
      else if (char === ")") depth--
      else if (depth === 0) {
        word += "("
        depth = 1
        i++
      }
    } else if (char === "\\") {
      const next = script[++i] ?? ""
      word = (word ?? "") + (next === "$" ? `${quoteMark}$` : next)
    } else if (char === '"' || (char === "'" && quote === "")) {
      word ??= ""
      quote = quote === char ? "" : char
    } else if (quote !== "") word += char
    else if (two === "&&" || two === "||") {
      endStatement(two)
      i++
    } else if (char === ";" || char === "\n") endStatement(";")
    else if (/\s/.test(char)) endWord()
    else word = (word ?? "") + char
  }
  endStatement(";")
  return statements
}

/** Executes statements in the time after the start of the container, and collects what they write. */
class Shell {
  readonly sources: Array<Source> = []
  /** A statement was not understood. */
  isUnknown = false
  /** A statement never ends, and writes nothing. */
  private isEndless = false
  /** Milliseconds since 1970. */
  private now: number
  private code = 0
  private steps = 0
  private readonly variables: Map<string, string>

  constructor(variables: ReadonlyMap<string, string>, now: number) {
    this.variables = new Map(variables)
    this.now = now
  }

  /** False where a statement is not understood, or never ends. `loop` collects the sources of an endless loop. */
  run(statements: ReadonlyArray<Statement>, loop: Loop | undefined): boolean {
    for (let i = 0; i < statements.length; i++) {
      const { joint, words } = statements[i] as Statement
      if (++this.steps > maxSteps) return false
      const [name = ""] = words
      if (name === "while" || name === "for") {
        const end = endOf(statements, i)
        if (end === undefined || loop !== undefined) return false
        const body = bodyOf(statements.slice(i + 1, end))
        if (!(name === "while" ? this.runEndless(words, body) : this.runEach(words, body))) return false
        i = end
        continue
      }
      if ((joint === "&&" && this.code !== 0) || (joint === "||" && this.code === 0)) continue
      if (!this.statement(words, loop)) {
        this.isUnknown ||= !this.isEndless
        return false
      }
      if (name === "exit") return false
    }
    return true
  }

  private runEach(
    [, variable = "", keyword, ...values]: ReadonlyArray<string>,
    body: ReadonlyArray<Statement>
  ): boolean {
    if (keyword !== "in") return false
    for (const value of values) {
      this.variables.set(variable, this.textOf(value, undefined)(0, this.now))
      if (!this.run(body, undefined)) return false
    }
    return true
  }

  /** Never ends: what its body writes repeats from now on. */
  private runEndless(words: ReadonlyArray<string>, body: ReadonlyArray<Statement>): false {
    if (!/^(?:true|:|\[ (?:true|1) \])$/.test(words.slice(1).join(" "))) return false
    const start = this.now
    const loop: Loop = { counters: new Map(), written: [] }
    for (const { words } of body) {
      const counted = counterOf(words)
      if (counted !== undefined) loop.counters.set(counted, 0)
    }
    // A body that ends the script, or that contains a command which runs on, is not repeated.
    const every = this.run(body, loop) ? this.now - start || iteration : 0
    for (const source of loop.written) this.sources.push({ ...source, every })
    return false
  }

  private statement(words: ReadonlyArray<string>, loop: Loop | undefined): boolean {
    const counted = counterOf(words)
    if (counted !== undefined) {
      const done = loop?.counters.get(counted)
      if (loop !== undefined && done !== undefined) loop.counters.set(counted, done + 1)
      else this.variables.set(counted, String(numberOf(this.variables.get(counted)) + 1))
      return true
    }
    const [first = "", ...rest] = words
    const assigned = /^([A-Za-z_]\w{0,255})=/.exec(first)
    if (assigned !== null && rest.length === 0) {
      const value = this.textOf(first.slice(assigned[0].length), loop)(0, this.now)
      this.variables.set(assigned[1] ?? "", value.slice(0, maxScript))
      return true
    }
    if (words.some((word) => word === "|" || word === "&")) return false
    const name = first.slice(first.lastIndexOf("/") + 1)
    if (name === "echo" || name === "date") {
      const said =
        name === "date" ? ["$(date)"] : rest.filter((word, index) => index > 0 || !/^-[neE]{1,3}$/.test(word))
      this.write(said, loop)
      this.code = 0
      return true
    }
    const exit = Program.run(words.map((word) => this.textOf(word, loop)(0, this.now)))
    if (exit === undefined) return false
    if (exit === "endless") {
      this.isEndless = true
      return false
    }
    this.code = exit.code
    this.now += exit.after
    return true
  }

  private write(words: ReadonlyArray<string>, loop: Loop | undefined): void {
    const redirected = words.findIndex((word) => /^[12]?>/.test(word))
    const target = redirected === -1 ? ">&2" : words.slice(redirected).join("")
    if (target !== ">&2" && target !== "1>&2") return
    const text = this.textOf((redirected === -1 ? words : words.slice(0, redirected)).join(" "), loop)
    ;(loop?.written ?? this.sources).push({ first: this.now, every: 0, text })
  }

  /** The text of a word in iteration `index` of the loop. */
  private textOf(word: string, loop: Loop | undefined): Source["text"] {
    const parts = word.split(/(\uE000\$|\$\(\(?[^()]{0,64}\)?\)|\$\{\w{1,256}\}|\$\w{1,256})/)
    const values = parts.map((part, at): Source["text"] => {
      if (at % 2 === 0) return () => part
      if (part.startsWith(quoteMark)) return () => "$"
      if (part.startsWith("$(date")) return (_index, time) => Time.format(time)
      if (part.startsWith("$(")) return () => ""
      const name = part.replace(/[${}]/g, "")
      const value = this.variables.get(name) ?? ""
      const counted = loop?.counters.get(name)
      if (loop === undefined || counted === undefined) return () => value
      return (index) => String(numberOf(value) + index * (loop.counters.get(name) ?? 1) + counted)
    })
    return (index, time) => values.map((value) => value(index, time)).join("")
  }
}

/** The body of an endless loop while it is executed once. */
interface Loop {
  /** How often the body has counted each variable so far; every iteration counts once more. */
  readonly counters: Map<string, number>
  readonly written: Array<Source>
}

const numberOf = (text: string | undefined): number => {
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : 0
}

/** The variable of `i=$((i+1))`. */
const counterOf = ([first = "", ...rest]: ReadonlyArray<string>): string | undefined => {
  const match = /^([A-Za-z_]\w{0,63})=\$\(\( ?\$?([A-Za-z_]\w{0,63}) ?\+ ?1 ?\)\)$/.exec(first)
  return rest.length === 0 && match !== null && match[1] === match[2] ? match[1] : undefined
}

/** The index of the `done` of a loop; undefined without one, and for loops in loops. */
const endOf = (statements: ReadonlyArray<Statement>, from: number): number | undefined => {
  for (let i = from + 1; i < statements.length; i++) {
    const [first, second] = statements[i]?.words ?? []
    if (first === "done") return i
    const command = first === "do" ? second : first
    if (command === "while" || command === "for") return undefined
  }
  return undefined
}

/** Without `do`. */
const bodyOf = (statements: ReadonlyArray<Statement>): ReadonlyArray<Statement> =>
  statements.flatMap(({ joint, words }) => {
    const rest = words[0] === "do" ? words.slice(1) : words
    return rest.length === 0 ? [] : [{ joint, words: rest }]
  })
