/**
 * Prints expressions as TypeScript: two spaces, no semicolons, lines of at most 120 columns unless one word is longer. The same tree gives the
 * same text. Texts are printed so that no text can end its literal or hide what it is: control characters, invisible ones and those that
 * change the direction of writing are escaped, and a member `__proto__` is a computed one, which defines it instead of setting the prototype.
 */
import type { Expression } from "./Expression.ts"

/** The longest line. */
export const columns = 120

/**
 * The source of an expression whose first line begins in this column, in code with this indentation. `more`: how many columns follow on its last
 * line.
 */
export const print = (expression: Expression, indent: number, column: number, more = 0): string => {
  const flat = onOneLine(expression, columns - column - more)
  if (flat !== undefined) return flat
  switch (expression._tag) {
    case "Fields":
      return block(
        "{",
        expression.fields.map(([key, value]) => member(key, value, indent + 2)),
        indent,
        "}"
      )
    case "List":
      return block(
        "[",
        expression.items.map((item) => print(item, indent + 2, indent + 2)),
        indent,
        "]"
      )
    case "Data":
      return printData(expression, indent)
    case "Call":
      return printCall(expression, indent, column, more)
    default:
      return onOneLine(expression, Infinity) ?? ""
  }
}

/** A text of data as a literal between double quotes. */
export const quote = (text: string): string =>
  JSON.stringify(text).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\uFEFF]/gu, (character) =>
    Array.from({ length: character.length }, (_, at) => `\\u${hex(character.charCodeAt(at))}`).join("")
  )

const hex = (code: number): string => code.toString(16).padStart(4, "0")

const keyOf = (key: string): string => {
  if (key === "__proto__") return `["__proto__"]`
  return /^[A-Za-z_$][A-Za-z0-9_$]*$/.test(key) ? key : quote(key)
}

const block = (open: string, lines: ReadonlyArray<string>, indent: number, close: string): string =>
  lines.length === 0
    ? `${open}${close}`
    : `${open}\n${lines.map((line) => " ".repeat(indent + 2) + line).join(",\n")}\n${" ".repeat(indent)}${close}`

const member = (key: string, value: Expression, indent: number): string => {
  const head = `${keyOf(key)}: `
  // One column for the comma.
  const column = indent + head.length + 1
  if (value._tag === "Data" && typeof value.value === "string" && onOneLine(value, columns - column) === undefined) {
    return `${keyOf(key)}:\n${" ".repeat(indent + 2)}${pieces(value.value, indent + 2)}`
  }
  return head + print(value, indent, column)
}

/** Texts that are too long for a line are joined from pieces, cut after blanks where possible. */
const pieces = (text: string, indent: number): string => {
  const room = columns - indent - 6
  const found: Array<string> = []
  for (let rest = text; rest !== "";) {
    let end = Math.min(rest.length, room)
    while (end > 1 && quote(rest.slice(0, end)).length > room)
      end -= Math.max(1, Math.floor((quote(rest.slice(0, end)).length - room) / 6))
    if (end < rest.length) {
      const blank = rest.lastIndexOf(" ", end - 1)
      if (blank > 0) end = blank + 1
      else if (/[\uD800-\uDBFF]/.test(rest.charAt(end - 1)) && end > 1) end -= 1
    }
    found.push(quote(rest.slice(0, end)))
    rest = rest.slice(end)
  }
  return found.join(` +\n${" ".repeat(indent)}`)
}

const printData = (data: Expression & { readonly _tag: "Data" }, indent: number): string =>
  typeof data.value === "object" && data.value !== null
    ? print(structured(data.value), indent, columns) + (data.isConst === true ? " as const" : "")
    : (flatData(data, Infinity) ?? "")

/** Data as the tree of its members, which is printed in the same way. */
const structured = (value: unknown): Expression => {
  if (Array.isArray(value)) return { _tag: "List", items: value.map((one) => ({ _tag: "Data", value: one })) }
  if (typeof value !== "object" || value === null) return { _tag: "Data", value }
  return { _tag: "Fields", fields: Object.entries(value).map(([key, one]) => [key, { _tag: "Data", value: one }]) }
}

const printCall = (
  { args, name, of }: Expression & { readonly _tag: "Call" },
  indent: number,
  column: number,
  after: number
): string => {
  const before = of === undefined ? name : `${print(of, indent, column, name.length + 2)}.${name}`
  const last = before.slice(before.lastIndexOf("\n") + 1)
  const at = (before.includes("\n") ? 0 : column) + last.length + 1
  const [only, ...more] = args
  if (only === undefined) return `${before}()`
  if (more.length === 0) {
    const hugged = print(only, indent, at, after + 1)
    if (at + firstLine(hugged) <= columns) return `${before}(${hugged})`
  }
  const flat = args.map((arg) => onOneLine(arg, columns - at))
  const leading = flat.slice(0, -1)
  const final = args.at(-1)
  const start = at + leading.join(", ").length + 2
  // Only the last argument is broken, if that is enough.
  if (more.length > 0 && final !== undefined && leading.every((one) => one !== undefined) && start < columns) {
    const broken = print(final, indent, start, after + 1)
    if (start + firstLine(broken) <= columns) return `${before}(${leading.join(", ")}, ${broken})`
  }
  return block(
    `${before}(`,
    args.map((arg) => print(arg, indent + 2, indent + 2)),
    indent,
    ")"
  )
}

/** The length of the first line. */
const firstLine = (text: string): number => (text.includes("\n") ? text.indexOf("\n") : text.length)

/** The source on one line; undefined if it is longer than this. */
const onOneLine = (expression: Expression, room: number): string | undefined => {
  if (room <= 0) return undefined
  switch (expression._tag) {
    case "Name":
      return within(expression.name, room)
    case "Pattern":
      return within(`/${expression.source}/`, room)
    case "Data":
      return flatData(expression, room)
    case "List":
      return enclosed(
        "[",
        expression.items.map((item) => ["", item]),
        "]",
        room
      )
    case "Fields": {
      if (expression.fields.length === 0) return within("{}", room)
      return enclosed(
        "{ ",
        expression.fields.map(([key, value]) => [`${keyOf(key)}: `, value]),
        " }",
        room
      )
    }
    case "Call": {
      const of = expression.of === undefined ? "" : onOneLine(expression.of, room)
      if (of === undefined) return undefined
      const head = of === "" ? `${expression.name}(` : `${of}.${expression.name}(`
      return enclosed(
        head,
        expression.args.map((arg) => ["", arg]),
        ")",
        room
      )
    }
  }
}

const flatData = ({ isConst, value }: Expression & { readonly _tag: "Data" }, room: number): string | undefined => {
  const end = isConst === true ? " as const" : ""
  if (typeof value === "object" && value !== null) {
    const flat = onOneLine(structured(value), room - end.length)
    return flat === undefined ? undefined : flat + end
  }
  if (typeof value === "string") return value.length > room ? undefined : within(quote(value) + end, room)
  return within(String(value) + end, room)
}

const enclosed = (
  open: string,
  parts: ReadonlyArray<readonly [string, Expression]>,
  close: string,
  room: number
): string | undefined => {
  let text = open
  for (const [index, [head, part]] of parts.entries()) {
    const flat = onOneLine(part, room - text.length)
    if (flat === undefined) return undefined
    text += `${index === 0 ? "" : ", "}${head}${flat}`
  }
  return within(text + close, room)
}

const within = (text: string, room: number): string | undefined => (text.length <= room ? text : undefined)
