/** The path at which a rule reports its errors, `.spec['a.b']`, relative to its value. Source: apiextensions-apiserver ValidFieldPath. */
import { additionalOf, propertyOf } from "../../structural/StructuralSchema.ts"
import type { StructuralSchema } from "../../structural/StructuralSchema.ts"

const token = /\.([^.[\]']+)|\['((?:[^'\\]|\\.)*)'\]/y

const escapes: ReadonlyMap<string, string> = new Map(
  Object.entries({ a: "\u0007", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v", "'": "'", "\\": "\\" })
)

/** The path as errors have it, `.spec[a.b]`; undefined if the text is none, or names a field that the schema does not have. */
export const fieldPath = (text: string, schema: StructuralSchema): string | undefined => {
  let at = 0
  let path = ""
  let of: StructuralSchema = schema
  while (at < text.length) {
    token.lastIndex = at
    const match = token.exec(text)
    if (match === null) return undefined
    const [found, plain, quoted] = match
    const name = plain ?? unescape(quoted ?? "")
    if (name === undefined) return undefined
    const property = of.properties === undefined ? undefined : propertyOf(of, name)
    const next = of.properties === undefined ? additionalOf(of) : property
    if (next === undefined) return undefined
    path += of.properties === undefined ? `[${name}]` : `.${name}`
    of = next
    at += found.length
  }
  return path
}

const unescape = (text: string): string | undefined => {
  let isValid = true
  const plain = text.replaceAll(/\\(.)/gs, (_, character: string) => {
    const known = escapes.get(character)
    if (known === undefined) isValid = false
    return known ?? ""
  })
  return isValid ? plain : undefined
}
