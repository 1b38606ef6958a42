/**
 * An object of the cache as the console shows it: its timeline, when controllers reconcile it next, its owners and its dependants. Of objects, only
 * names and a word about their state are shown: no data, no specs, no annotations. Pure.
 */
import * as Key from "../../kube/Key.ts"
import type { KubeObject, OwnerReference } from "../../kube/Meta.ts"
import * as Resource from "../../kube/Resource.ts"
import type { Held } from "../../layers/Inspection.ts"
import type { Timeline } from "../../layers/Timeline.ts"
import type { Entry } from "../../layers/timeline/entries.ts"
import { clean } from "../logs/secrets.ts"
import { podOf, short } from "./cluster.ts"
import type * as Protocol from "./protocol.ts"

/** The most dependants and owners, and the most objects that are looked at for dependants. */
const limits = { related: 200, owners: 20, looks: 200_000 }

export interface Question {
  /** `deployments.apps`. */
  readonly resource: string
  readonly key: string
}

export const view = (
  held: ReadonlyArray<Held>,
  { key, resource }: Question,
  timeline: Pick<Timeline, "of"> | undefined,
  due: Protocol.ObjectView["due"]
): Protocol.ObjectView => {
  const own = held.filter((one) => Resource.qualifiedName(one.resource) === resource)
  const object = find(own, key)
  const known = timeline?.of({
    resource,
    key,
    resourceOf: (group, kind) => {
      const one = held.find(({ resource }) => resource.kind === kind && resource.group === group)
      return one === undefined ? undefined : Resource.qualifiedName(one.resource)
    }
  })
  return {
    resource,
    kind: own[0]?.resource.kind ?? resource,
    key,
    exists: object !== undefined,
    timeline: known?.entries.map(withoutCredentials) ?? [],
    truncated: known?.truncated ?? false,
    due,
    owners: object === undefined ? [] : ownersOf(held, object),
    dependants: object === undefined ? [] : dependantsOf(held, object)
  }
}

/** Messages are of the API server, webhooks and users, and may repeat anything. */
const withoutCredentials = (entry: Entry): Entry => {
  switch (entry.type) {
    case "change":
      return entry
    case "event":
      return { ...entry, message: clean(entry.message) }
    case "write":
      return entry.error === undefined ? entry : { ...entry, error: clean(entry.error) }
    case "reconcile": {
      const cleaned = { ...entry, reasons: entry.reasons.map(clean) }
      return entry.error === undefined ? cleaned : { ...cleaned, error: clean(entry.error) }
    }
  }
}

/** From the first store that has it; stores with whole objects first. */
const find = (held: ReadonlyArray<Held>, key: string): KubeObject | undefined =>
  [...held]
    .sort((a, b) => Number(a.resource.projection === "metadata") - Number(b.resource.projection === "metadata"))
    .flatMap(({ store }) => store.get(key) ?? [])[0]

const ownersOf = (held: ReadonlyArray<Held>, { metadata }: KubeObject): ReadonlyArray<Protocol.Related> =>
  (metadata.ownerReferences ?? []).slice(0, limits.owners).map((reference) => {
    const own = held.filter(({ resource }) => resource.kind === reference.kind && resource.group === groupOf(reference))
    const [first] = own
    if (first === undefined) {
      return { resource: "", kind: short(reference.kind), key: short(reference.name), state: "not in the cache" }
    }
    const key = Key.make(first.resource.scope === "Cluster" ? undefined : metadata.namespace, reference.name)
    const found = find(own, key)
    const isOwner = found !== undefined && found.metadata.uid === reference.uid
    return related(first.resource, key, isOwner ? stateOf(first.resource, found) : "not in the cache")
  })

const groupOf = ({ apiVersion }: OwnerReference): string => {
  const slash = apiVersion.indexOf("/")
  return slash === -1 ? "" : apiVersion.slice(0, slash)
}

const dependantsOf = (
  held: ReadonlyArray<Held>,
  { metadata: { uid } }: KubeObject
): ReadonlyArray<Protocol.Related> => {
  if (uid === undefined || uid === "") return []
  const found = new Map<string, Protocol.Related>()
  let left = limits.looks
  for (const { resource, store } of held) {
    for (const object of store.list()) {
      if (left-- === 0 || found.size === limits.related) return [...found.values()]
      if (object.metadata.ownerReferences?.some((reference) => reference.uid === uid) !== true) continue
      const one = related(resource, Key.of(object), stateOf(resource, object))
      const id = `${one.resource} ${one.key}`
      // A store with the metadata only knows nothing of the state.
      if (!found.has(id) || resource.projection === "object") found.set(id, one)
    }
  }
  return [...found.values()]
}

const related = (resource: Resource.Any, key: string, state: string): Protocol.Related => ({
  resource: Resource.qualifiedName(resource),
  kind: resource.kind,
  key,
  state: short(state)
})

/** Any object, as far as its state is concerned; what a server stores may differ from it. */
interface Stateful extends KubeObject {
  readonly spec?: { readonly replicas?: unknown }
  readonly status?: {
    readonly phase?: unknown
    readonly readyReplicas?: unknown
    readonly numberReady?: unknown
    readonly desiredNumberScheduled?: unknown
    readonly conditions?: unknown
  }
}

/** `Running`, `3/3 ready`, `Complete`, `exists`. */
export const stateOf = ({ group, kind }: Resource.Any, object: KubeObject): string => {
  if (object.metadata.deletionTimestamp !== undefined) return "being deleted"
  const { spec, status } = object as Stateful
  if (status === undefined || status === null) return "exists"
  if (group === "" && kind === "Pod") {
    const { phase, reason } = podOf(object)
    return reason ?? phase
  }
  if (typeof status.desiredNumberScheduled === "number") {
    return `${count(status.numberReady)}/${status.desiredNumberScheduled} ready`
  }
  if (typeof spec?.replicas === "number") return `${count(status.readyReplicas)}/${spec.replicas} ready`
  if (typeof status.phase === "string") return status.phase
  return conditionOf(status.conditions) ?? "exists"
}

const count = (value: unknown): number => (typeof value === "number" ? value : 0)

/** The conditions that say how an object is, the first one decides; each with what it means if it is true, and if it is false. */
const telling: ReadonlyArray<readonly [type: string, yes: string, no: string | undefined]> = [
  ["Complete", "Complete", undefined],
  ["Failed", "Failed", undefined],
  ["Ready", "ready", "not ready"],
  ["Available", "available", "not available"]
]

const conditionOf = (conditions: unknown): string | undefined => {
  if (!Array.isArray(conditions)) return undefined
  const all: ReadonlyArray<{ readonly type?: unknown; readonly status?: unknown } | null> = conditions
  for (const [type, yes, no] of telling) {
    const status = all.find((one) => one?.type === type)?.status
    if (status === "True") return yes
    if (status === "False" && no !== undefined) return no
  }
  return undefined
}
