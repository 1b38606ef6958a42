/**
 * A short value that a structural schema allows, as an example for users: it has what is required and what has a default. A best effort:
 * patterns and rules are ignored, so the caller has to validate the value.
 */
import type { StructuralSchema } from "../../structural/StructuralSchema.ts"

export const sampleOf = (schema: StructuralSchema): unknown => {
  if (schema.default !== undefined) return schema.default
  const values = schema.enum ?? schema.allOf?.find((one) => one.enum !== undefined)?.enum
  if (values !== undefined) return values[0]
  switch (schema.type) {
    case "object":
      return members(schema)
    case "array":
      return Array.from({ length: schema.minItems ?? 0 }, () => sampleOf(schema.items ?? {}))
    case "string":
      return text(schema)
    case "boolean":
      return false
    case "integer":
    case "number":
      return amount(schema)
    default:
      return schema["x-kubernetes-int-or-string"] === true ? amount(schema) : {}
  }
}

/** Of structs in a union, the first. */
const members = (schema: StructuralSchema): object => {
  const branch = schema.oneOf?.[0]
  const required = new Set([...(schema.required ?? []), ...(branch?.required ?? [])])
  return Object.fromEntries(
    Object.entries(schema.properties ?? {})
      .filter(([name, property]) => required.has(name) || property.default !== undefined)
      .map(([name, property]) => [name, sampleOf({ ...property, ...branch?.properties?.[name] })])
  )
}

const texts: Readonly<Record<string, string>> = {
  date: "2026-01-01",
  "date-time": "2026-01-01T00:00:00Z",
  duration: "1m",
  email: "somebody@example.com",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  cidr: "192.0.2.0/24",
  uri: "https://example.com",
  uuid: "00000000-0000-4000-8000-000000000000"
}

const text = ({ format = "", maxLength, minLength = 0 }: StructuralSchema): string =>
  (texts[format] ?? "example").padEnd(minLength, "x").slice(0, maxLength)

/** The number within the bounds that is nearest to 1, rounded up to a multiple. */
const amount = (schema: StructuralSchema): number => {
  const { exclusiveMaximum, exclusiveMinimum, maximum = Infinity, minimum = -Infinity, multipleOf } = schema
  const step = schema.type === "number" ? 0.5 : 1
  const least = exclusiveMinimum === true ? minimum + step : minimum
  const most = exclusiveMaximum === true ? maximum - step : maximum
  const value = Math.min(Math.max(1, least), most)
  return multipleOf === undefined ? value : Math.ceil(value / multipleOf) * multipleOf
}
