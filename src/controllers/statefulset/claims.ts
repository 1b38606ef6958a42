/**
 * The claims of a replica: missing ones are created, and owner references are set according to the retention policy. Each write records an event on
 * the set; claims are never deleted here. Source: pkg/controller/statefulset: createMissingPersistentVolumeClaims, UpdatePodClaimForRetentionPolicy.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as ApiError from "../../kube/ApiError.ts"
import type { StatefulSet } from "../../kube/resources.ts"
import * as Identity from "./identity.ts"
import type { Storage } from "./plan/storage.ts"
import type { Deps } from "./deps.ts"

/** A failed call for a replica. The message contains that of the server, because users read it in an event. */
export class ReplicaError extends Data.TaggedError("ReplicaError")<{
  readonly message: string
  /** The server's error; undefined if no request was sent. */
  readonly cause: ApiError.ApiError | undefined
}> {}

export interface Problem {
  readonly message: string
  readonly cause?: ApiError.ApiError | undefined
}

export const replicaError = (message: string, cause: ApiError.ApiError): ReplicaError =>
  new ReplicaError({ message, cause })

/** Fails if there are problems: with the message of the only one, or with those of all. */
export const failIfAny = (problems: ReadonlyArray<Problem>): Effect.Effect<void, ReplicaError> => {
  if (problems.length === 0) return Effect.void
  const message = ApiError.aggregate(problems.map((problem) => problem.message))
  return new ReplicaError({ message, cause: problems.find(({ cause }) => cause !== undefined)?.cause })
}

/**
 * Records the event, unless the user can do nothing about the failure: after a loss of leadership the next leader repeats the call, and in a
 * terminating namespace the set is deleted too.
 */
export const unlessExpected = (
  error: ApiError.ApiError | undefined,
  event: Effect.Effect<void>
): Effect.Effect<void> => {
  const isQuiet =
    error !== undefined && (ApiError.hasReason(error, "LeaderFenced") || ApiError.isNamespaceTerminating(error))
  return isQuiet ? Effect.void : event
}

/** The replica that the claims belong to. */
export interface Replica {
  readonly set: StatefulSet
  readonly ordinal: number
}

/** Every claim is tried before the call fails. A claim that is being deleted is a failure too. */
export const createMissingClaims = Effect.fnUntraced(function* (
  { createClaim, events }: Deps,
  { ordinal, set }: Replica,
  { going, missing }: Pick<Storage, "going" | "missing">
): Effect.fn.Return<void, ReplicaError> {
  const problems: Array<Problem> = going.map((name) => ({ message: `pvc ${name} is being deleted` }))
  const pod = Identity.podName(set, ordinal)
  for (const draft of missing) {
    const { name } = draft.metadata
    const made = yield* Effect.result(createClaim(draft))
    if (made._tag === "Success") {
      yield* events.normal(
        set,
        "SuccessfulCreate",
        `Create Claim ${name} Pod ${pod} in StatefulSet ${set.metadata.name} success`
      )
      continue
    }
    const { failure } = made
    problems.push({ message: `failed to create PVC ${name}: ${failure.detail}`, cause: failure })
    // The watch will deliver the existing claim.
    if (ApiError.hasReason(failure, "AlreadyExists")) continue
    const why = `Create Claim ${name} for Pod ${pod} in StatefulSet ${set.metadata.name} failed error: ${failure.detail}`
    yield* unlessExpected(failure, events.warning(set, "FailedCreate", why))
  }
  yield* failIfAny(problems)
})

/** Updates the owner references of claims, and records an event for claims with another controller. */
export const updateClaimOwners = Effect.fnUntraced(function* (
  { events, updateClaim }: Deps,
  { set }: Replica,
  { conflicting, ownerUpdates }: Pick<Storage, "conflicting" | "ownerUpdates">
): Effect.fn.Return<void, ReplicaError> {
  for (const name of conflicting) yield* events.warning(set, "ConflictingController", conflict(name))
  for (const claim of ownerUpdates) {
    const { name } = claim.metadata
    yield* Effect.mapError(updateClaim(claim), (cause) =>
      replicaError(`could not update claim ${name} for delete policy ownerRefs: ${cause.detail}`, cause)
    )
  }
})

/** The message of upstream, including its typo. */
const conflict = (name: string): string =>
  `PersistentVolumeClaim ${name} has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim`
