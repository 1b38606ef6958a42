/**
 * When two parts of an object mean the same, however they are written: absent, null and empty lists and maps are one, quantities count
 * by value, times by instant. It knows the fields of a pod template, which is what the loops compare; other fields are compared as
 * they are. `canonical` is the one text of all equal values, so that what is equal also hashes alike.
 * Source: apimachinery api/equality Semantic, and which fields of core/v1 are pointers.
 */
import * as Quantity from "./quantity.ts"
import * as Time from "./time.ts"

/** The same text exactly for values that mean the same; the empty text for what means nothing. */
export const canonical = (value: unknown): string => write("", value) ?? ""

export const equal = (a: unknown, b: unknown): boolean => a === b || canonical(a) === canonical(b)

/** Maps from text to text: no key or value in them has a meaning of its own. */
const texts = new Set(["labels", "annotations", "matchLabels", "nodeSelector", "volumeAttributes", "options", "data"])

/** Maps from a resource's name to an amount. */
const amounts = new Set(["limits", "requests", "overhead", "capacity", "allocatable", "hard", "used"])

/** Single amounts. */
const amount = new Set(["sizeLimit", "divisor"])

/** Structures that are always there, so an empty one says nothing. Elsewhere `{}` is a choice: `emptyDir: {}`, `namespaceSelector: {}`. */
const structures = new Set(["metadata", "resources", "spec", "strategy"])

/** Numbers and flags for which nothing, zero and false are one. For others, such as `runAsUser`, zero is a choice. */
const zeroIsNothing = new Set([
  "hostIPC",
  "hostNetwork",
  "hostPID",
  "hostPort",
  "initialDelaySeconds",
  "partition",
  "readOnly",
  "stdin",
  "stdinOnce",
  "tty"
])

/** Texts for which being empty is a choice. */
const emptyIsChoice = new Set([
  "apiGroup",
  "appProtocol",
  "fsType",
  "gmsaCredentialSpec",
  "gmsaCredentialSpecName",
  "localhostProfile",
  "runAsUserName",
  "runtimeClassName",
  "storageClassName",
  "volumeAttributesClassName",
  "volumeMode"
])

/** The text of a field's value; undefined where the field might as well be absent. */
const write = (field: string, value: unknown): string | undefined => {
  if (value === undefined || value === null) return undefined
  if (Array.isArray(value)) {
    return value.length === 0 ? undefined : `[${value.map((item) => write("", item) ?? literal(item)).join(",")}]`
  }
  if (typeof value === "object") {
    if (texts.has(field)) return members(value, (_, item) => literal(item))
    if (amounts.has(field)) return members(value, (_, item) => quantity(item))
    return members(value, write) ?? (structures.has(field) ? undefined : "{}")
  }
  if (amount.has(field)) return field === "divisor" && Quantity.compare(value, 0) === 0 ? undefined : quantity(value)
  if (value === "") return emptyIsChoice.has(field) ? literal(value) : undefined
  if ((value === 0 || value === false) && zeroIsNothing.has(field)) return undefined
  return typeof value === "string" && isTime(field) ? instant(value) : literal(value)
}

/** Keys in order, without those that say nothing; undefined if none is left. */
const members = (value: object, item: (field: string, value: unknown) => string | undefined): string | undefined => {
  const parts: Array<string> = []
  for (const [key, member] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const text = item(key, member)
    if (text !== undefined) parts.push(`${JSON.stringify(key)}:${text}`)
  }
  return parts.length === 0 ? undefined : `{${parts.join(",")}}`
}

const literal = (value: unknown): string => JSON.stringify(value) ?? "null"

/** In billionths. What is no quantity stands for itself. */
const quantity = (value: unknown): string => {
  const parsed = Quantity.parse(value)
  return parsed === undefined ? literal(value) : `${parsed.nanos}n`
}

const isTime = (field: string): boolean => field.endsWith("Timestamp") || field.endsWith("Time")

const instant = (text: string): string => {
  const millis = Time.parse(text)
  return millis === undefined ? literal(text) : `@${millis}`
}
