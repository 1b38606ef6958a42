/**
 * The tests of a file, read from its syntax without running it: the title of every test and suite, and whether it always runs. A title with
 * values in it is returned as it is written: `takes ${what}`. For lists that name tests by their titles; it does not show what a test
 * checks.
 */
import { parseAst } from "rolldown/parseAst"

export interface Title {
  readonly text: string
  /** Neither it nor a suite around it is skipped under any condition. */
  readonly always: boolean
}

/** Functions that take a title first: the runner's, those of test/support, and those of other harnesses. */
const takers = /^(?:it|describe|checkProperty|checkSequences|scenario)$/

/** Members of these functions that may skip a test. */
const conditions = /^(?:skip|skipIf|runIf|todo|fails|only)$/

type Node = Readonly<Record<string, unknown>>

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value

/** `it.effect.prop`, `describe.skipIf(…)` and `Suite.scenario` as lists of names. */
const namesOf = (callee: unknown): ReadonlyArray<string> => {
  if (!isNode(callee)) return []
  if (callee["type"] === "Identifier") return [String(callee["name"])]
  if (callee["type"] === "CallExpression") return namesOf(callee["callee"])
  if (callee["type"] !== "MemberExpression") return []
  return [...namesOf(callee["object"]), ...namesOf(callee["property"])]
}

const textOf = (source: string, first: unknown): string | undefined => {
  if (!isNode(first)) return undefined
  if (first["type"] === "Literal" && typeof first["value"] === "string") return first["value"]
  if (first["type"] !== "TemplateLiteral") return undefined
  return source.slice(Number(first["start"]) + 1, Number(first["end"]) - 1)
}

export const titlesIn = (source: string): ReadonlyArray<Title> => {
  const found: Array<Title> = []
  const walk = (value: unknown, always: boolean): void => {
    if (Array.isArray(value)) return value.forEach((one) => walk(one, always))
    if (!isNode(value)) return
    let runs = always
    if (value["type"] === "CallExpression") {
      const names = namesOf(value["callee"])
      const [first] = value["arguments"] as ReadonlyArray<unknown>
      const text = names.some((name) => takers.test(name)) ? textOf(source, first) : undefined
      if (text !== undefined) {
        runs = always && !names.some((name) => conditions.test(name))
        found.push({ text, always: runs })
      }
    }
    for (const [key, child] of Object.entries(value)) if (key !== "parent") walk(child, runs)
  }
  walk(parseAst(source, { lang: "ts" }), true)
  return found
}

/** The values that a file of types exports: each is a check of the compiler. */
export const exportsOf = (source: string): ReadonlyArray<Title> =>
  [...source.matchAll(/^export const (\w+)/gm)].map(([, text = ""]) => ({ text, always: true }))
