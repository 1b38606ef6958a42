/**
 * An object of the cache as the console shows it: its timeline, when controllers reconcile it next, its owners and its dependants. Of objects, only
 * names and a word about their state are shown: no data, no specs, no annotations. Pure.
 */
import type { KubeObject } from "../../kube/Meta.ts"
import * as Resource from "../../kube/Resource.ts"
import type { Held } from "../../layers/Inspection.ts"
import type { Timeline } from "../../layers/Timeline.ts"
import type { Entry } from "../../layers/timeline/entries.ts"
import { clean } from "../logs/secrets.ts"
import { podOf } from "./cluster.ts"
import type * as Protocol from "./protocol.ts"
import * as Relations from "./relations.ts"

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
  const kind = own[0]?.resource.kind ?? resource
  const object = Relations.find(own, key)
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
    kind,
    key,
    exists: object !== undefined,
    timeline: known?.entries.map(withoutCredentials) ?? [],
    truncated: known?.truncated ?? false,
    due,
    ...(object === undefined ? Relations.none : Relations.of(held, object, kind, stateOf))
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
