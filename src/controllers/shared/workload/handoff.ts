/**
 * Whether the cache is fresh enough to create and delete pods of an owner. It may not be after a change of leader: expectations ended with the former
 * term, and the cache of a standby may lag behind the leader's last writes. It may not be after a write whose response was lost. In both cases the
 * pods are read from the server before the next write, and nothing is written until the cache shows the same pods. Plain synchronous state for one
 * leadership term.
 */
import * as Effect from "effect/Effect"
import * as ApiError from "../../../kube/ApiError.ts"
import * as PodFacts from "../../../kube/pod.ts"
import type { Pod } from "../../../kube/resources.ts"

/** Uids of owners for which the cache is known to be fresh: this term has handled them before, or has seen them created. */
export interface Trust {
  readonly isOurs: (uid: string) => boolean
  readonly takeOver: (uid: string) => void
  /** Also called for an owner that was deleted. */
  readonly disown: (uid: string) => void
}

export const trust = (): Trust => {
  const ours = new Set<string>()
  return {
    isOurs: (uid) => ours.has(uid),
    takeOver: (uid) => void ours.add(uid),
    disown: (uid) => void ours.delete(uid)
  }
}

/** Milliseconds until the cache is compared with the server again. */
export const patience = 1000

/** Runs the call; if its outcome is unknown, the owner's cached pods are not trusted any more. */
export const watched = <A>(
  { disown }: Pick<Trust, "disown">,
  uid: string | undefined,
  call: Effect.Effect<A, ApiError.ApiError>
): Effect.Effect<A, ApiError.ApiError> =>
  Effect.tapError(call, (error) =>
    Effect.sync(() => {
      if (uid !== undefined && ApiError.hasReason(error, ...unknownOutcome)) disown(uid)
    })
  )

const unknownOutcome = ["Network", "Timeout", "ServerError", "Decode"] as const

/** Whether two lists have the same pods in the same state, as far as decisions depend on it. */
export const isSame = (cached: ReadonlyArray<Pod>, live: ReadonlyArray<Pod>): boolean => {
  if (cached.length !== live.length) return false
  const known = new Map(cached.map((pod) => [pod.metadata.uid, pod]))
  return live.every((pod) => {
    const before = known.get(pod.metadata.uid)
    return before !== undefined && (isSameVersion(before, pod) || decisiveFields(before) === decisiveFields(pod))
  })
}

const isSameVersion = (a: Pod, b: Pod): boolean => a.metadata.resourceVersion === b.metadata.resourceVersion

/** The fields that decisions depend on; other fields of a running pod change all the time. */
const decisiveFields = (pod: Pod): string => {
  const { metadata, spec, status } = pod
  const { annotations, deletionTimestamp, finalizers, labels } = metadata
  return JSON.stringify([
    deletionTimestamp,
    finalizers,
    labels,
    annotations,
    spec?.nodeName,
    status?.phase,
    PodFacts.isReady(pod)
  ])
}
