/**
 * Named formats, `format.dns1123Label().validate(name)`: by which a text is checked, and what is wrong with it.
 * Source: apiserver pkg/cel/library/format.go.
 */
import * as Syntax from "../../nameSyntax.ts"
import { meets } from "../../structural/formats.ts"
import * as Type from "../Type.ts"
import { Items, Opaque, Optional } from "../Value.ts"
import type { Outcome } from "../Value.ts"
import { fn, method } from "../library/define.ts"
import type { Definition } from "../library/define.ts"
import { problemOf } from "./url.ts"

type Validate = (text: string) => ReadonlyArray<string>

class Format extends Opaque {
  readonly typeName = "kubernetes.NamedFormat"
  readonly name: string
  readonly validate: Validate
  private readonly size: number

  constructor(name: string, costSize: number, validate: Validate) {
    super()
    this.name = name
    this.size = costSize
    this.validate = validate
  }

  override get costSize(): number {
    return this.size
  }

  equals(other: Opaque): boolean {
    return other instanceof Format && this.name === other.name
  }
}

const known =
  (format: string, message: string): Validate =>
  (text) =>
    meets(format, text) ? [] : [message]

const isDateTime = (text: string): boolean => meets("datetime", text) && meets("date-time", text)

/** By name, with the size of the expression by which the cost of a check is counted. */
const formats: ReadonlyMap<string, Format> = new Map(
  (
    [
      ["dns1123Label", 30, (text) => Syntax.dnsLabel(text)],
      ["dns1123Subdomain", 60, (text) => Syntax.dnsSubdomain(text)],
      ["dns1035Label", 30, (text) => Syntax.dns1035Label(text)],
      ["qualifiedName", 60, (text) => Syntax.qualified(text)],
      ["dns1123LabelPrefix", 30, (text) => Syntax.dnsLabel(text, true)],
      ["dns1123SubdomainPrefix", 60, (text) => Syntax.dnsSubdomain(text, true)],
      ["dns1035LabelPrefix", 30, (text) => Syntax.dns1035Label(text, true)],
      ["labelValue", 40, (text) => Syntax.label(text)],
      [
        "uri",
        2083,
        (text) => {
          const problem = problemOf(text)
          return problem === undefined ? [] : [problem]
        }
      ],
      ["uuid", 75, known("uuid", "does not match the UUID format")],
      ["byte", 61, (text) => (text !== "" && meets("byte", text) ? [] : ["invalid base64"])],
      ["date", 87, known("date", "invalid date")],
      ["datetime", 87, (text) => (isDateTime(text) ? [] : ["invalid datetime"])]
    ] satisfies ReadonlyArray<readonly [string, number, Validate]>
  ).map(([name, size, validate]) => [name, new Format(name, size, validate)] as const)
)

const formatType = Type.opaque("kubernetes.NamedFormat")
const { string } = Type

const validate = (format: Format, text: string): Outcome => {
  const errors = format.validate(text)
  return errors.length === 0 ? Optional.none : new Optional(new Items([...errors]))
}

export const named: ReadonlyArray<Definition> = [
  method("validate", "format-validate", [formatType, string], Type.optional(Type.list(string)), validate),
  fn("format.named", "format-named", [string], Type.optional(formatType), (name: string) => {
    const format = formats.get(name)
    return format === undefined ? Optional.none : new Optional(format)
  }),
  ...[...formats].map(([name, format]) => fn(`format.${name}`, `format.${name}`, [], formatType, () => format))
]
