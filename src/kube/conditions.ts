/**
 * The conditions of an object's status: one entry for each type, which says whether something holds, since when, and why. `set` keeps the
 * time of the last transition unless the status changes, and returns its argument if nothing changes, so that a controller which compares
 * before it writes does not write. Deployments have an older form of conditions. Source: meta/v1 Condition, apimachinery
 * meta.SetStatusCondition.
 */
import * as Schema from "effect/Schema"
import * as Time from "./time.ts"

/** The status of a condition. `Unknown` has not been determined yet. */
export type Truth = "True" | "False" | "Unknown"

/** One condition of an object. Source: apimachinery metav1.Condition. */
export interface Condition {
  /** CamelCase, or with a prefix as labels have; unique in the list. */
  readonly type: string
  /** Whether it holds. */
  readonly status: Truth
  /** `metadata.generation` of the object that was observed. */
  readonly observedGeneration?: number
  /** RFC 3339, whole seconds: when the status became what it is. */
  readonly lastTransitionTime: string
  /** CamelCase, for machines; never empty. */
  readonly reason: string
  /** For people. */
  readonly message: string
}

/** A condition to set: without its time. */
export interface Claim {
  /** The type of the condition, `Available`. */
  readonly type: string
  /** Whether it holds; booleans are `True` and `False`. */
  readonly status: Truth | boolean
  /** CamelCase, for machines: why it holds or does not. */
  readonly reason: string
  /** Default: empty. */
  readonly message?: string | undefined
  /** `metadata.generation` of the observed object; left out unless it is given. */
  readonly observedGeneration?: number | undefined
}

/** The conditions of a status, each type once. */
export type Conditions = ReadonlyArray<Condition>

/** The list as a custom kind declares it in its status: `conditions: Schema.optionalKey(Conditions.schema)`. */
export const schema = Schema.Array(
  Schema.Struct({
    type: Schema.String.annotate({ description: "What may hold, in CamelCase." }),
    status: Schema.Literals(["True", "False", "Unknown"]).annotate({ description: "Whether it holds." }),
    observedGeneration: Schema.optionalKey(
      Schema.Int.annotate({ description: "The metadata.generation that this was said of." })
    ),
    lastTransitionTime: Schema.String.annotate({
      description: "When the status became what it is.",
      format: "date-time"
    }),
    reason: Schema.String.annotate({ description: "Why, in one word for machines." }),
    message: Schema.String.annotate({ description: "Why, for people." })
  })
).annotate({
  description: "What holds of the object, and since when.",
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["type"]
})

/** The condition of that type, if there is one. */
export const get = (conditions: Conditions | undefined, type: string): Condition | undefined =>
  conditions?.find((condition) => condition.type === type)

/** Whether the condition is there and its status is True. */
export const isTrue = (conditions: Conditions | undefined, type: string): boolean =>
  get(conditions, type)?.status === "True"

/**
 * The list with the claimed condition, which replaces the one of its type or comes last; the argument itself if nothing changes.
 * `now` is in milliseconds since 1970.
 *
 * @example
 * ```ts
 * const claim = { type: "Ready", status: true, reason: "Applied" }
 * const conditions = Conditions.set(undefined, claim, 0)
 * assert.equal(Conditions.isTrue(conditions, "Ready"), true)
 * assert.equal(conditions[0]?.lastTransitionTime, "1970-01-01T00:00:00Z")
 * assert.equal(Conditions.set(conditions, claim, 60_000), conditions) // nothing changes
 * ```
 */
export const set = (conditions: Conditions | undefined, claim: Claim, now: number): Conditions => {
  const before = get(conditions, claim.type)
  const after = conditionOf(claim, before, now)
  if (conditions === undefined || before === undefined) return [...(conditions ?? []), after]
  if (isSame(before, after)) return conditions
  return conditions.map((condition) => (condition === before ? after : condition))
}

/** The list without that type; the argument itself if the type is not there. */
export const remove = (conditions: Conditions | undefined, type: string): Conditions =>
  conditions?.some((condition) => condition.type === type) === true
    ? conditions.filter((condition) => condition.type !== type)
    : (conditions ?? none)

const none: Conditions = []

const truth = (status: Claim["status"]): Truth => (status === true ? "True" : status === false ? "False" : status)

const conditionOf = (claim: Claim, before: Condition | undefined, now: number): Condition => {
  const status = truth(claim.status)
  return {
    type: claim.type,
    status,
    ...(claim.observedGeneration === undefined ? {} : { observedGeneration: claim.observedGeneration }),
    lastTransitionTime: before?.status === status ? before.lastTransitionTime : Time.format(now),
    reason: claim.reason,
    message: claim.message ?? ""
  }
}

const isSame = (a: Condition, b: Condition): boolean =>
  a.status === b.status &&
  a.reason === b.reason &&
  a.message === b.message &&
  a.observedGeneration === b.observedGeneration
