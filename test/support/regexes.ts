/** The regular expressions in a source text, found by its syntax without running it. */
import { parseAst } from "rolldown/parseAst"

export interface Written {
  /** Undefined where it is built from values that only the running program has. */
  readonly source: string | undefined
  readonly flags: string
}

type Node = Readonly<Record<string, unknown>>

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value

/** Literals, and the arguments of `new RegExp` where these are texts of the same file. */
export const regexesIn = (text: string): ReadonlyArray<Written> => {
  const found: Array<Written> = []
  const constants = new Map<string, Node>()
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(walk)
    if (!isNode(value)) return
    const { callee, id, init, regex, type } = value
    if (type === "VariableDeclarator" && isNode(id) && isNode(init)) constants.set(String(id["name"]), init)
    if (type === "Literal" && typeof regex === "object" && regex !== null) {
      const { flags, pattern } = regex as { readonly flags: string; readonly pattern: string }
      found.push({ source: pattern, flags })
    }
    if ((type === "NewExpression" || type === "CallExpression") && isNode(callee) && callee["name"] === "RegExp") {
      const [source, flags] = value["arguments"] as ReadonlyArray<Node>
      found.push({
        source: textOf(source, constants),
        flags: flags === undefined ? "" : (textOf(flags, constants) ?? "")
      })
    }
    for (const [key, child] of Object.entries(value)) if (key !== "parent" && key !== "regex") walk(child)
  }
  walk(parseAst(text, { lang: "ts" }))
  return found
}

const textOf = (node: Node | undefined, constants: ReadonlyMap<string, Node>): string | undefined => {
  if (node?.["type"] === "Literal" && typeof node["value"] === "string") return node["value"]
  if (node?.["type"] === "Identifier") return textOf(constants.get(String(node["name"])), constants)
  // `String.raw`: the only tag that returns a text.
  const isRaw = node?.["type"] === "TaggedTemplateExpression"
  const template = isRaw ? (node["quasi"] as Node) : node
  if (template?.["type"] !== "TemplateLiteral") return undefined
  const quasis = template["quasis"] as ReadonlyArray<{
    readonly value: { readonly cooked: string; readonly raw: string }
  }>
  const texts = quasis.map(({ value }) => (isRaw ? value.raw : value.cooked))
  const between = (template["expressions"] as ReadonlyArray<Node>).map((one) => textOf(one, constants))
  return between.includes(undefined) ? undefined : texts.map((text, index) => text + (between[index] ?? "")).join("")
}
