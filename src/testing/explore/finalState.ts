/**
 * What can be compared of the objects of two runs: what is random or a time is removed or named by what it refers to. Uids, versions, times and
 * generated names differ in any two runs that did not do the same things in the same order; everything else should not.
 */
import * as Key from "../../kube/Key.ts"
import type { KubeObject } from "../../kube/Meta.ts"

/** Comparable objects by `Deployment.apps default/web`. */
export type FinalState = ReadonlyMap<string, unknown>

/** The annotation that stands for a user's edit of an object. */
export const touched = "explore.example.com/touched"

/** Changes an object before it is compared; undefined leaves it out. */
export type Comparable = (object: KubeObject) => KubeObject | undefined

export const finalState = (objects: ReadonlyArray<KubeObject>, comparable: Comparable = (one) => one): FinalState => {
  const compared = objects.flatMap((object) => {
    const one = isCompared(object) ? comparable(object) : undefined
    return one === undefined ? [] : [one]
  })
  const names = canonicalNames(compared)
  const terms = references(compared, names)
  return new Map(
    compared
      .map((object) => [identity(object, names), normalised(object, terms)] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
  )
}

/** Events report what happened, and Leases who is alive: neither is a part of the state that a controller brings about. */
const isCompared = ({ apiVersion, kind }: KubeObject): boolean =>
  kind !== "Event" && !(kind === "Lease" && apiVersion?.startsWith("coordination.k8s.io/") === true)

/** `Pod`, `Deployment.apps`. */
export const kindOf = ({ apiVersion = "", kind = "" }: KubeObject): string =>
  apiVersion.includes("/") ? `${kind}.${apiVersion.slice(0, apiVersion.indexOf("/"))}` : kind

type Names = ReadonlyMap<KubeObject, string>

const identity = (object: KubeObject, names: Names): string =>
  `${kindOf(object)} ${Key.make(object.metadata.namespace, names.get(object) ?? object.metadata.name)}`

/**
 * A generated name is replaced by its prefix and a number: among the objects with the same prefix and owner, the position of its content in order.
 * Which of two equal pods is the first does not matter then.
 */
const canonicalNames = (objects: ReadonlyArray<KubeObject>): Names => {
  const generated = objects.filter(({ metadata }) => metadata.generateName !== undefined)
  if (generated.length === 0) return new Map()
  const blank = new Map(generated.map((object) => [object, `${object.metadata.generateName}*`]))
  const terms = references(objects, blank)
  const groups = new Map<string, Array<{ readonly object: KubeObject; readonly content: string }>>()
  for (const object of generated) {
    const content = JSON.stringify(normalised(object, terms))
    const group = identity(object, blank)
    const found = groups.get(group)
    if (found === undefined) groups.set(group, [{ object, content }])
    else found.push({ object, content })
  }
  const names = new Map<KubeObject, string>()
  for (const group of groups.values()) {
    const ordered = group.toSorted((a, b) => (a.content < b.content ? -1 : a.content > b.content ? 1 : 0))
    for (const [i, { object }] of ordered.entries()) names.set(object, `${object.metadata.generateName}(${i + 1})`)
  }
  return names
}

/** Texts that name an object, and what they become: its uid, its name if it was generated, the address of a pod. */
const references = (objects: ReadonlyArray<KubeObject>, names: Names): ReadonlyMap<string, string> => {
  const terms = new Map<string, string>()
  for (const object of objects) {
    const { name, uid } = object.metadata
    const own = identity(object, names)
    if (uid !== undefined) terms.set(uid, `(uid of ${own})`)
    const canonical = names.get(object)
    if (canonical !== undefined) terms.set(name, canonical)
    const { podIP } = (object as { readonly status?: { readonly podIP?: unknown } }).status ?? {}
    if (typeof podIP === "string") terms.set(podIP, `(address of ${own})`)
  }
  return terms
}

const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)/g
const uid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** Of the shortest text with a time in it. */
const shortest = "2026-01-01T00:00:00Z".length

/** Where a scheduler puts a pod depends on the order in which it sees pods. */
const placement = new Set(["nodeName", "hostIP", "hostIPs"])

const byText = (a: unknown, b: unknown): number => (String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0)

/** The type of a condition; undefined for any other value. */
const typeOf = (value: unknown): unknown =>
  isContainer(value) && "status" in value && "type" in value ? value.type : undefined

const volatile = new Set(["uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"])

const normalised = (object: KubeObject, terms: ReadonlyMap<string, string>): unknown => {
  const generation = (object.metadata as { readonly generation?: number }).generation
  const isPlaced = ["Pod", "EndpointSlice", "Endpoints"].includes(object.kind ?? "")
  const text = (value: string): string => {
    const term = terms.get(value)
    if (term !== undefined || value.length < shortest) return term ?? value
    return value.replaceAll(time, "(time)").replaceAll(uid, (one) => terms.get(one) ?? "(uid of no object)")
  }
  const visit = (value: unknown): unknown => {
    if (typeof value === "string") return text(value)
    if (Array.isArray(value)) return list(value)
    return typeof value === "object" && value !== null ? members(value) : value
  }
  const list = (values: ReadonlyArray<unknown>): unknown => {
    const visited = values.map(visit)
    // A list of references is in the order of what they refer to, and conditions are in that of their types.
    if (values.some((one) => typeof one === "string" && terms.has(one))) return visited.toSorted(byText)
    const types = visited.map(typeOf)
    return types.includes(undefined) ? visited : visited.toSorted((a, b) => byText(typeOf(a), typeOf(b)))
  }
  const members = (value: object): object => {
    const entries = Object.entries(value).map(([name, one]): readonly [string, unknown] => {
      if (name === "observedGeneration" && typeof one === "number")
        return [name, one === generation ? "(current)" : "(behind)"]
      return [name, isPlaced && placement.has(name) ? "(node)" : visit(one)]
    })
    return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }
  const { metadata, ...rest } = object
  const kept = Object.entries(metadata).filter(([name]) => !volatile.has(name))
  const { [touched]: _, ...annotations } = metadata.annotations ?? {}
  return visit({
    ...rest,
    metadata: {
      ...Object.fromEntries(kept.filter(([name]) => name !== "annotations")),
      ...(Object.keys(annotations).length === 0 ? {} : { annotations })
    }
  })
}

/** One difference of two states. */
export interface Difference {
  /** `Deployment.apps default/web`. */
  readonly object: string
  /** `spec.replicas`; empty where the whole object is missing or too many. */
  readonly path: string
  readonly expected: unknown
  readonly actual: unknown
}

/** The differences, by object and path. At most `limit` of them. */
export const differences = (expected: FinalState, actual: FinalState, limit = 20): ReadonlyArray<Difference> => {
  const found: Array<Difference> = []
  const compare = (object: string, path: string, a: unknown, b: unknown): void => {
    if (found.length >= limit || Object.is(a, b)) return
    if (isContainer(a) && isContainer(b) && Array.isArray(a) === Array.isArray(b)) {
      for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
        compare(object, path === "" ? name : `${path}.${name}`, member(a, name), member(b, name))
      }
      return
    }
    found.push({ object, path, expected: a, actual: b })
  }
  for (const object of new Set([...expected.keys(), ...actual.keys()])) {
    compare(object, "", expected.get(object), actual.get(object))
  }
  return found
}

const isContainer = (value: unknown): value is object => typeof value === "object" && value !== null

const member = (value: object, name: string): unknown => (value as Readonly<Record<string, unknown>>)[name]

/** `Deployment.apps default/web: spec.replicas is 2 instead of 3`. */
export const describe = ({ actual, expected, object, path }: Difference): string => {
  if (path === "") return actual === undefined ? `${object} is missing` : `${object} is left over`
  return `${object}: ${path} is ${shown(actual)} instead of ${shown(expected)}`
}

const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? "absent"
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
