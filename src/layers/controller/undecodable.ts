/**
 * Reports objects that the Schemas of their kind cannot decode, for instance because they were stored before there was validation: a warning
 * event says what is wrong and where, and so does the condition `Valid` of kinds with conditions; once for each generation, not
 * for each run. When the object can be decoded again, the condition is removed. Only writes that the server could not accept are retried.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Access from "../../kube/Access.ts"
import type * as ApiError from "../../kube/ApiError.ts"
import * as Conditions from "../../kube/conditions.ts"
import { structural } from "../../kube/crd/structural.ts"
import * as Finalizers from "../../kube/finalizers.ts"
import * as Key from "../../kube/Key.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import * as Patch from "../../kube/Patch.ts"
import * as Resource from "../../kube/Resource.ts"
import type { EventSink } from "../Recorder.ts"
import type { ReconcileContext } from "./reconcileContext.ts"
import * as Calls from "./writes/calls.ts"

/** Reason of the event and of the condition. */
export const reason = "InvalidObject"

/** The type of the condition: False as long as the object cannot be decoded, absent otherwise. */
export const condition = "Valid"

export interface Undecodable {
  /** Reports once what is wrong with this object. */
  readonly report: (object: KubeObject, flaw: Resource.Undecodable) => Effect.Effect<void, ApiError.ApiError>
  /** The object, which can be decoded, without the condition from when it could not. */
  readonly clear: (object: KubeObject) => Effect.Effect<KubeObject, ApiError.ApiError>
  /** The object is gone. */
  readonly forget: (key: Key.Key) => void
}

/** The grants that reporting needs. */
export const access = (kind: Resource.Any): ReadonlyArray<Access.Any> => [
  ...(Resource.isCustom(kind) ? [Access.record] : []),
  ...(keepsConditions(kind) ? [Access.patch(kind, "status")] : [])
]

/** What was reported about an object: only objects that cannot be decoded have an entry. */
interface Reported {
  /** The uid, generation and message that were reported. */
  readonly of: string
  /** Whether the server rejects the condition. */
  refused: boolean
}

export const make = (
  kind: Resource.Any,
  finalizers: ReadonlyArray<string>,
  context: Pick<ReconcileContext<never>, "client"> & { readonly events: EventSink }
): Undecodable => {
  const reported = new Map<Key.Key, Reported>()
  const hasConditions = keepsConditions(kind)
  const put: Put = (object, conditions) =>
    Calls.of(context.client)
      .subresource("status")
      .patch(
        kind,
        Calls.targetOf(object),
        Patch.merge({ metadata: { resourceVersion: object.metadata.resourceVersion }, status: { conditions } })
      )
  return {
    report: (object, flaw) =>
      Effect.suspend(() => {
        const key = Key.of(object)
        const message = sentence(object, flaw, finalizers)
        const of = `${object.metadata.uid} ${object.metadata.generation} ${message}`
        const before = reported.get(key)
        const now = before?.of === of ? before : { of, refused: false }
        reported.set(key, now)
        const event = now === before ? Effect.void : context.events.warning(object, reason, message)
        return hasConditions && !now.refused
          ? Effect.andThen(event, claim(put, { object, message, entry: now }))
          : event
      }),
    clear: (object) =>
      Effect.suspend(() => {
        reported.delete(Key.of(object))
        if (!hasConditions) return Effect.succeed(object)
        const conditions = conditionsOf(object)
        return Conditions.get(conditions, condition)?.reason === reason
          ? put(object, Conditions.remove(conditions, condition))
          : Effect.succeed(object)
      }),
    forget: (key) => void reported.delete(key)
  }
}

/** Writes the list of conditions, if the object is still the one given. */
type Put = (object: KubeObject, conditions: Conditions.Conditions) => Effect.Effect<KubeObject, ApiError.ApiError>

/** Writes the condition unless it is there. */
const claim = (
  put: Put,
  { message, object, entry }: { readonly object: KubeObject; readonly message: string; readonly entry: Reported }
): Effect.Effect<void, ApiError.ApiError> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const before = conditionsOf(object)
    const { generation: observedGeneration } = object.metadata
    const after = Conditions.set(before, { type: condition, status: false, reason, message, observedGeneration }, now)
    return after === before ? Effect.void : Effect.asVoid(put(object, after))
  }).pipe(
    // A server may reject every write to an object that its validation does not accept. Then there is only the event.
    Effect.catchReason("ApiError", "Invalid", () => Effect.sync(() => void (entry.refused = true))),
    Effect.catchReason("ApiError", "NotFound", () => Effect.void)
  )

/** The cleanup of finalizers needs the fields of the object, so they stay; the event says so. */
const sentence = (object: KubeObject, flaw: Resource.Undecodable, finalizers: ReadonlyArray<string>): string => {
  const held = Finalizers.isDeleting(object) ? finalizers.filter((name) => Finalizers.has(object, name)) : []
  return held.length === 0
    ? flaw.message
    : `${flaw.message}; until that is mended its deletion waits for the work of ${held.join(", ")}`
}

/** Whether the kind has a status subresource with conditions. */
const keepsConditions = (kind: Resource.Any): boolean => {
  if (!Resource.isCustom(kind) || kind.declaration.subresources?.status !== true) return false
  const { status } = kind.declaration
  if (status === undefined) return false
  const schema = structural(status)
  const conditions = Result.isSuccess(schema) ? schema.success.properties?.["conditions"] : undefined
  const fields = conditions?.items?.properties
  return fields !== undefined && members.every((name) => Object.hasOwn(fields, name))
}

const members = ["type", "status", "reason", "message", "lastTransitionTime"]

/** The conditions as they are stored, not decoded by the Schemas. */
const conditionsOf = (object: KubeObject & { readonly status?: unknown }): Conditions.Conditions | undefined => {
  const { status } = object
  if (!isRecord(status)) return undefined
  const { conditions } = status
  return Array.isArray(conditions) && conditions.every(isRecord)
    ? (conditions as unknown as Conditions.Conditions)
    : undefined
}

const isRecord = (value: unknown): value is { readonly [name: string]: unknown; readonly conditions?: unknown } =>
  typeof value === "object" && value !== null
