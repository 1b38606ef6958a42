/**
 * What happened, once: an event before it is correlated and sent. It holds the reference to the object, never the object, so
 * that a queue of them stays small. Pure; names and times come in as values.
 */
import type { KubeObject } from "../../kube/Meta.ts"

export type EventType = "Normal" | "Warning"

/** Source: core/v1 ObjectReference, as far as events fill it. */
export interface Reference {
  readonly apiVersion: string
  readonly kind: string
  /** Absent for cluster-scoped objects. */
  readonly namespace?: string
  readonly name: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly fieldPath?: string
}

export interface Occurrence {
  readonly object: Reference
  readonly type: EventType
  /** One word for machines, `SuccessfulCreate`. */
  readonly reason: string
  readonly message: string
  /** What was done; `events.k8s.io` only. */
  readonly action: string
  /** Who reports it. */
  readonly component: string
  /** Which process of that component. */
  readonly instance: string
  /** Name the event would be stored under. */
  readonly name: string
  /** Milliseconds since 1970. */
  readonly time: number
}

/** Reads the reference of an object; undefined when it does not say what it is (no kind, apiVersion or name). */
export const referenceOf = (object: KubeObject): Reference | undefined => {
  // Callers may hand over anything; an event must never fail its caller.
  const { apiVersion, kind, metadata }: Partial<KubeObject> = object ?? {}
  if (!isText(apiVersion) || !isText(kind) || !isText(metadata?.name)) return undefined
  return {
    kind,
    ...(isText(metadata.namespace) && { namespace: metadata.namespace }),
    name: metadata.name,
    ...(isText(metadata.uid) && { uid: metadata.uid }),
    apiVersion,
    ...(isText(metadata.resourceVersion) && { resourceVersion: metadata.resourceVersion })
  }
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== ""

/** Where the event is stored; events of cluster-scoped objects go to `default`. Source: client-go makeEvent. */
export const namespaceOf = (reference: Reference): string => reference.namespace ?? "default"

/** Longest name of an event. Source: RFC 1123 subdomain. */
const maxName = 253

/**
 * `<object name>.<16 hex digits of the time in nanoseconds>`. Names that no event may have (RBAC objects contain colons, long
 * names leave no room) are bent into shape; the digits keep them apart.
 */
export const eventName = (objectName: string, nanos: bigint): string => {
  const suffix = `.${BigInt.asUintN(64, nanos).toString(16).padStart(16, "0")}`
  const stem = objectName
    .toLowerCase()
    .replace(/[^a-z0-9.-]/g, "-")
    .slice(0, maxName - suffix.length)
  // Labels that begin and end with a letter or a digit.
  const labels = stem.match(/[a-z0-9]+(?:-+[a-z0-9]+)*/g) ?? ["event"]
  return labels.join(".") + suffix
}

/** RFC 3339 in whole seconds, as meta/v1 Time is written. */
export const seconds = (millis: number): string => `${new Date(millis).toISOString().slice(0, 19)}Z`

/** RFC 3339 with microseconds, as meta/v1 MicroTime is written. */
export const micros = (millis: number): string => {
  const whole = Math.floor(millis)
  const rest = String(Math.floor((millis - whole) * 1000)).padStart(3, "0")
  return `${new Date(whole).toISOString().slice(0, -1)}${rest}Z`
}
