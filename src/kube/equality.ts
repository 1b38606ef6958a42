/**
 * Semantic equality of parts of objects: absent, null, and empty lists and maps are equal, quantities are compared by value, times by
 * instant. The tables below describe the fields of a pod template, which is what controllers compare; other fields are compared literally.
 * `canonical` is one text for all equal values, so that equal values have equal hashes.
 * Source: apimachinery api/equality Semantic, and which fields of core/v1 are pointers.
 */
import * as Quantity from "./quantity.ts"
import * as Time from "./time.ts"

/** Whether two values are semantically equal. Walks both at once and stops at the first difference. */
export const equal = (a: unknown, b: unknown): boolean => same("", a, b)

/**
 * Whether applying `part` to `whole` would change nothing. Fields that the part leaves out may have any value, and a list of objects may have
 * more elements; other lists have to be equal. Source: what server-side apply leaves to other managers.
 */
export const covers = (whole: unknown, part: unknown): boolean => coversField("", whole, part)

/** The same text exactly for equal values; the empty text for a value that equals an absent one. */
export const canonical = (value: unknown): string => write("", value) ?? ""

type Strings = Readonly<Record<string, string>> | undefined

/** Whether two maps of strings, such as labels, have the same entries; an absent map has none. Fast: for changes of all objects. */
export const isSameMap = (a: Strings, b: Strings): boolean => {
  if (a === b) return true
  const keys = Object.keys(a ?? {})
  return (
    keys.length === Object.keys(b ?? {}).length &&
    keys.every((key) => b !== undefined && Object.hasOwn(b, key) && a?.[key] === b[key])
  )
}

/** Fields that are maps from string to string: a key in them is not the name of a field. */
const stringMaps = new Set([
  "labels",
  "annotations",
  "matchLabels",
  "nodeSelector",
  "volumeAttributes",
  "options",
  "data"
])

/** Fields that are maps from the name of a resource to a quantity. */
const quantityMaps = new Set(["limits", "requests", "overhead", "capacity", "allocatable", "hard", "used"])

/** Fields that are one quantity. */
const quantityFields = new Set(["sizeLimit", "divisor"])

/** Structs that are no pointers, so an empty one equals an absent one. Elsewhere `{}` is a choice: `emptyDir: {}`, `namespaceSelector: {}`. */
const structs = new Set(["metadata", "resources", "spec", "strategy"])

/** Numbers and booleans for which absent, zero and false are equal. For others, such as `runAsUser`, zero is a choice. */
const zeroEqualsAbsent = new Set([
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

/** Strings for which empty differs from absent. */
const emptyDiffers = new Set([
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
 * Fields that are pointers only below this field, `[]` for the items of a list: there, absent differs from false, empty and `{}`. Elsewhere
 * a field of the same name is a plain value.
 */
const pointers: ReadonlyMap<string, string> = new Map([
  ["csi", "readOnly"],
  ["options[]", "value"],
  ["spec", "resources"]
])

type Members = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Members => typeof value === "object" && value !== null

/** Whether a field with this value equals an absent field. */
const equalsAbsent = (field: string, value: unknown): boolean => {
  if (value === undefined || value === null) return true
  if (Array.isArray(value)) return value.length === 0
  if (isObject(value)) {
    if (stringMaps.has(field) || quantityMaps.has(field))
      return Object.values(value).every((member) => member === undefined)
    return structs.has(field) && Object.keys(value).every((key) => equalsAbsent(key, value[key]))
  }
  if (value === "") return !emptyDiffers.has(field)
  if (field === "divisor") return Quantity.compare(value, 0) === 0
  return (value === 0 || value === false) && zeroEqualsAbsent.has(field)
}

const same = (field: string, a: unknown, b: unknown): boolean => {
  if (a === b) return true
  const aIsAbsent = equalsAbsent(field, a)
  if (aIsAbsent || equalsAbsent(field, b)) return aIsAbsent && equalsAbsent(field, b)
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && sameItems(`${field}[]`, a, b)
  if (isObject(a) && isObject(b)) return sameMembers(memberOf(field), a, b)
  return isObject(a) || isObject(b) ? false : scalar(field, a) === scalar(field, b)
}

const coversField = (field: string, whole: unknown, part: unknown): boolean => {
  if (Array.isArray(part)) {
    if (!Array.isArray(whole) || part.length === 0 || !part.every(isObject)) return same(field, whole, part)
    return part.every((item) => whole.some((other) => isObject(other) && coversField("", other, item)))
  }
  if (!isObject(part) || !isObject(whole)) return same(field, whole, part)
  const of = memberOf(field)
  const member = of === literalMembers || of === quantityMembers ? of.same : coversField
  return Object.keys(part).every(
    (key) => part[key] === undefined || part[key] === null || member(key, whole[key], part[key])
  )
}

/** In a list each index counts, so an empty item is compared literally. */
const sameItems = (field: string, a: ReadonlyArray<unknown>, b: ReadonlyArray<unknown>): boolean =>
  a.length === b.length &&
  a.every((item, i) => {
    const hasEmpty = equalsAbsent("", item) || equalsAbsent("", b[i])
    return hasEmpty ? literal(item) === literal(b[i]) : same(field, item, b[i])
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
  stringMaps.has(field)
    ? literalMembers
    : quantityMaps.has(field)
      ? quantityMembers
      : (pointerMembers.get(field) ?? fieldMembers)

/** Strings: compared literally. */
const literalMembers: Member = {
  same: (_, a, b) => a === b || (a !== undefined && b !== undefined && literal(a) === literal(b)),
  write: (_, value) => (value === undefined ? undefined : literal(value))
}

const quantityMembers: Member = {
  same: (_, a, b) => a === b || (a !== undefined && b !== undefined && quantity(a) === quantity(b)),
  write: (_, value) => (value === undefined ? undefined : quantity(value))
}

/** The text of a field's value; undefined if the field equals an absent one. */
const write = (field: string, value: unknown): string | undefined => {
  if (equalsAbsent(field, value)) return undefined
  if (Array.isArray(value)) return `[${value.map((item) => write(`${field}[]`, item) ?? literal(item)).join(",")}]`
  return isObject(value) ? writeMembers(memberOf(field), value) : scalar(field, value)
}

const fieldMembers: Member = { same, write }

const isPresent = (value: unknown): boolean => value !== undefined && value !== null

/** The members of objects in which one field is a pointer. */
const pointerMembers: ReadonlyMap<string, Member> = new Map(
  Array.from(pointers, ([parent, pointer]) => [
    parent,
    {
      same: (key, a, b) => (key !== pointer || isPresent(a) === isPresent(b)) && same(key, a, b),
      write: (key, value) => write(key, value) ?? (key === pointer && isPresent(value) ? "null" : undefined)
    }
  ])
)

/** In the order of the keys, without members that equal absent ones. */
const writeMembers = (of: Member, value: Members): string => {
  const parts: Array<string> = []
  for (const key of Object.keys(value).sort()) {
    const text = of.write(key, value[key])
    if (text !== undefined) parts.push(`${JSON.stringify(key)}:${text}`)
  }
  return `{${parts.join(",")}}`
}

const scalar = (field: string, value: unknown): string => {
  if (quantityFields.has(field)) return quantity(value)
  return typeof value === "string" && isTime(field) ? instant(value) : literal(value)
}

const literal = (value: unknown): string => JSON.stringify(value) ?? "null"

/** In billionths. What is no quantity is compared literally. */
const quantity = (value: unknown): string => {
  const parsed = Quantity.parse(value)
  return parsed === undefined ? literal(value) : `${parsed.nanos}n`
}

const isTime = (field: string): boolean => field.endsWith("Timestamp") || field.endsWith("Time")

const instant = (text: string): string => {
  const millis = Time.parse(text)
  return millis === undefined ? literal(text) : `@${millis}`
}
