/**
 * A rule of the API server that may refuse returns its StatusError. The compiler lets a statement drop such a result, so this finds the statements
 * that do: calls of a function whose declared result has a StatusError in it, by the syntax of the source.
 */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { parseSync } from "rolldown/utils"

type Node = { readonly type: string } & Record<string, any>

const each = (node: unknown, see: (node: Node) => void): void => {
  if (Array.isArray(node)) for (const one of node) each(one, see)
  else if (typeof node === "object" && node !== null) {
    if ("type" in node) see(node as Node)
    for (const one of Object.values(node)) each(one, see)
  }
}

/** The text of a type without effects: a lint rule finds those that nothing runs. */
const isRefusal = (text: string, aliases: ReadonlySet<string>): boolean =>
  !/\b(?:Effect|Effectful|Response)\b/.test(text) &&
  [...aliases].some((alias) => new RegExp(`\\b${alias}\\b`).test(text))

interface Types {
  /** Names of types with a StatusError in them. */
  readonly results: Set<string>
  /** Names of types of functions that may return a StatusError. */
  readonly functions: Set<string>
}

interface File {
  readonly path: string
  readonly program: Node
  readonly textOf: (node: Node) => string
}

const parse = (path: string, source: string): File => ({
  path,
  program: (parseSync(path, source) as unknown as { readonly program: Node }).program,
  textOf: (node) => source.slice(node["start"], node["end"])
})

const isRefusing = ({ functions, results }: Types, { textOf }: File, type: Node | null | undefined): boolean =>
  type?.type === "TSFunctionType"
    ? isRefusal(textOf(type["returnType"]["typeAnnotation"]), results)
    : type?.type === "TSTypeReference" && functions.has(textOf(type["typeName"]))

const readTypes = (types: Types, file: File): void =>
  each(file.program, (node) => {
    if (node.type !== "TSTypeAliasDeclaration") return
    const [name, type] = [node["id"].name, node["typeAnnotation"]]
    if (isRefusing(types, file, type)) types.functions.add(name)
    else if (type.type === "TSUnionType" && isRefusal(file.textOf(type), types.results)) types.results.add(name)
  })

/** The names of a file whose call may return a StatusError. */
const refusingIn = (types: Types, file: File): ReadonlySet<string> => {
  const names = new Set<string>()
  each(file.program, (node) => {
    if (node.type === "VariableDeclarator" && node["init"]?.type === "ArrowFunctionExpression") {
      const result = node["init"].returnType ?? undefined
      if (result !== undefined && isRefusal(file.textOf(result), types.results)) names.add(node["id"].name)
    }
    const type = node.type === "Identifier" ? node["typeAnnotation"]?.typeAnnotation : undefined
    if (isRefusing(types, file, type)) names.add(node["name"])
  })
  return names
}

/** The calls of a statement whose results nothing uses. */
const dropped = (expression: Node): ReadonlyArray<Node> => {
  switch (expression.type) {
    case "CallExpression":
      return [expression]
    case "LogicalExpression":
      return dropped(expression["right"])
    case "ConditionalExpression":
      return [...dropped(expression["consequent"]), ...dropped(expression["alternate"])]
    case "UnaryExpression":
      return dropped(expression["argument"])
    default:
      return []
  }
}

/** `file: call` for each dropped refusal. */
const offences = (sources: ReadonlyMap<string, string>): ReadonlyArray<string> => {
  const files = [...sources].map(([path, source]) => parse(path, source))
  const types: Types = { results: new Set(["StatusError"]), functions: new Set() }
  for (const file of files) readTypes(types, file)
  const refusing = new Map(files.map((file) => [file.path, refusingIn(types, file)]))
  return files.flatMap(({ path, program, textOf }) => {
    /** Names of this file, and `module.name`. */
    const names = new Set(refusing.get(path))
    each(program, (node) => {
      if (node.type !== "ImportDeclaration") return
      const from = refusing.get(join(dirname(path), node["source"].value)) ?? new Set()
      for (const { imported, local, type } of node["specifiers"]) {
        if (type === "ImportNamespaceSpecifier") for (const name of from) names.add(`${local.name}.${name}`)
        else if (from.has(imported?.name)) names.add(local.name)
      }
    })
    const found: Array<string> = []
    each(program, (node) => {
      if (node.type !== "ExpressionStatement") return
      for (const { callee } of dropped(node["expression"])) {
        if (names.has(textOf(callee))) found.push(`${path}: ${textOf(callee)}`)
      }
    })
    return found
  })
}

const src = new URL("../../src/apiserver", import.meta.url).pathname

describe("A refusal", () => {
  it("is returned wherever the API server calls what may refuse", () => {
    const sources = readdirSync(src, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => [file, readFileSync(join(src, file), "utf8")] as const)
    assert.deepStrictEqual(offences(new Map(sources)), [])
  })

  it("that a statement drops is found, in the file of the rule and in another", () => {
    const rules = `
      import type { StatusError } from "./StatusError.ts"
      type Found = number | StatusError
      export type Decode = (object: object) => StatusError | undefined
      export const find = (n: number): Found => n
      export const refuse = (n: number): StatusError | undefined => { find(n); return undefined }
      export const fine = (n: number): number => n
    `
    const user = `
      import * as rules from "./rules.ts"
      import { fine, refuse as no, type Decode } from "./rules.ts"
      const use = (decode: Decode): void => {
        rules.refuse(1)
        if (fine(1) > 0) no(2)
        fine(3)
        fine(4) > 0 && decode({})
        const used = rules.find(5)
      }
    `
    const found = offences(
      new Map([
        ["rules.ts", rules],
        ["user.ts", user]
      ])
    )
    assert.deepStrictEqual(found, ["rules.ts: find", "user.ts: rules.refuse", "user.ts: no", "user.ts: decode"])
  })
})
