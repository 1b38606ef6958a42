/**
 * One recorded event before it is correlated and sent. It has a reference to the object instead of the object, so that the queue stays
 * small. Pure; names and times are arguments.
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
  /** One word for programs, `SuccessfulCreate`. */
  readonly reason: string
  readonly message: string
  /** What was done; `events.k8s.io` only. */
  readonly action: string
  /** The component that records it. */
  readonly component: string
  /** The process of that component. */
  readonly instance: string
  /** The name of the Event object if it is created. */
  readonly name: string
  /** Milliseconds since 1970. */
  readonly time: number
}

/** The reference of an object; undefined when it has no kind, apiVersion or name. */
export const referenceOf = (object: KubeObject): Reference | undefined => {
  // Callers may pass anything; recording an event must never fail.
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
 * `<object name>.<16 hex digits of the time in nanoseconds>`. Object names that are no valid event names, such as those of RBAC objects
 * with colons or very long ones, are changed into valid ones; the digits keep event names unique.
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
