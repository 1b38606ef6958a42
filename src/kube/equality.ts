/**
 * When two parts of an object mean the same, however they are written: absent, null and empty lists and maps are one, quantities count
 * by value, times by instant. It knows the fields of a pod template, which is what the loops compare; other fields are compared as
 * they are. `canonical` is the one text of all equal values, so that what is equal also hashes alike.
 * Source: apimachinery api/equality Semantic, and which fields of core/v1 are pointers.
 */
import * as Quantity from "./quantity.ts"
import * as Time from "./time.ts"

/** Whether two values mean the same. Walks both at once and stops at the first difference. */
export const equal = (a: unknown, b: unknown): boolean => same("", a, b)

/**
 * Whether the whole says all that the part says, so that applying the part would change nothing. What the part leaves out may be anything, and
 * a list of objects may have further ones; other lists have to be the same. Source: what server-side apply leaves to other managers.
 */
export const covers = (whole: unknown, part: unknown): boolean => says("", whole, part)

/** The same text exactly for values that are equal; the empty text for what means nothing. */
export const canonical = (value: unknown): string => write("", value) ?? ""

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

/**
 * Fields that are pointers at this path only, by the field around them, `[]` for the items of a list: absent differs from false, empty and `{}`
 * there. In other places a field of the same name is a plain value.
 */
const pointers: ReadonlyMap<string, string> = new Map([
  ["csi", "readOnly"],
  ["options[]", "value"],
  ["spec", "resources"]
])

type Members = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Members => typeof value === "object" && value !== null

/** Whether a field with this value might as well be absent. */
const isNothing = (field: string, value: unknown): boolean => {
  if (value === undefined || value === null) return true
  if (Array.isArray(value)) return value.length === 0
  if (isObject(value)) {
    if (texts.has(field) || amounts.has(field)) return Object.values(value).every((member) => member === undefined)
    return structures.has(field) && Object.keys(value).every((key) => isNothing(key, value[key]))
  }
  if (value === "") return !emptyIsChoice.has(field)
  if (field === "divisor") return Quantity.compare(value, 0) === 0
  return (value === 0 || value === false) && zeroIsNothing.has(field)
}

const same = (field: string, a: unknown, b: unknown): boolean => {
  if (a === b) return true
  const nothing = isNothing(field, a)
  if (nothing || isNothing(field, b)) return nothing && isNothing(field, b)
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && sameItems(`${field}[]`, a, b)
  if (isObject(a) && isObject(b)) return sameMembers(memberOf(field), a, b)
  return isObject(a) || isObject(b) ? false : scalar(field, a) === scalar(field, b)
}

const says = (field: string, whole: unknown, part: unknown): boolean => {
  if (Array.isArray(part)) {
    if (!Array.isArray(whole) || part.length === 0 || !part.every(isObject)) return same(field, whole, part)
    return part.every((item) => whole.some((other) => isObject(other) && says("", other, item)))
  }
  if (!isObject(part) || !isObject(whole)) return same(field, whole, part)
  const of = memberOf(field)
  const member = of === text || of === quantities ? of.same : says
  return Object.keys(part).every(
    (key) => part[key] === undefined || part[key] === null || member(key, whole[key], part[key])
  )
}

/** In a list every place counts, also one that holds nothing. */
const sameItems = (field: string, a: ReadonlyArray<unknown>, b: ReadonlyArray<unknown>): boolean =>
  a.length === b.length &&
  a.every((item, i) => {
    const hasNothing = isNothing("", item) || isNothing("", b[i])
    return hasNothing ? literal(item) === literal(b[i]) : same(field, item, b[i])
  })

const sameMembers = (of: Member, a: Members, b: Members): boolean => {
  for (const key in a) if (!of.same(key, a[key], b[key])) return false
  for (const key in b) if (!Object.hasOwn(a, key) && !of.same(key, undefined, b[key])) return false
  return true
}

/** How the members of an object are compared and written. */
interface Member {
  readonly same: (key: string, a: unknown, b: unknown) => boolean
  readonly write: (key: string, value: unknown) => string | undefined
}

const memberOf = (field: string): Member =>
  texts.has(field) ? text : amounts.has(field) ? quantities : (pointing.get(field) ?? fields)

/** Nothing but what is there. */
const text: Member = {
  same: (_, a, b) => a === b || (a !== undefined && b !== undefined && literal(a) === literal(b)),
  write: (_, value) => (value === undefined ? undefined : literal(value))
}

const quantities: Member = {
  same: (_, a, b) => a === b || (a !== undefined && b !== undefined && quantity(a) === quantity(b)),
  write: (_, value) => (value === undefined ? undefined : quantity(value))
}

/** The text of a field's value; undefined where the field might as well be absent. */
const write = (field: string, value: unknown): string | undefined => {
  if (isNothing(field, value)) return undefined
  if (Array.isArray(value)) return `[${value.map((item) => write(`${field}[]`, item) ?? literal(item)).join(",")}]`
  return isObject(value) ? members(memberOf(field), value) : scalar(field, value)
}

const fields: Member = { same, write }

const isPresent = (value: unknown): boolean => value !== undefined && value !== null

/** Fields among which one is a pointer. */
const pointing: ReadonlyMap<string, Member> = new Map(
  Array.from(pointers, ([parent, pointer]) => [
    parent,
    {
      same: (key, a, b) => (key !== pointer || isPresent(a) === isPresent(b)) && same(key, a, b),
      write: (key, value) => write(key, value) ?? (key === pointer && isPresent(value) ? "null" : undefined)
    }
  ])
)

/** Keys in order, without those that say nothing. */
const members = (of: Member, value: Members): string => {
  const parts: Array<string> = []
  for (const key of Object.keys(value).sort()) {
    const text = of.write(key, value[key])
    if (text !== undefined) parts.push(`${JSON.stringify(key)}:${text}`)
  }
  return `{${parts.join(",")}}`
}

const scalar = (field: string, value: unknown): string => {
  if (amount.has(field)) return quantity(value)
  return typeof value === "string" && isTime(field) ? instant(value) : literal(value)
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
