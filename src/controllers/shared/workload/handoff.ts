/**
 * Whether the cache can be trusted with what is to be done for an owner of pods. It cannot when another term worked on the owner: expectations
 * ended with that term, and a standby may be behind what its leader wrote last. It cannot when the answer to a write was lost: nobody
 * knows whether it was done. Then the server is asked what pods there are, before the next deed and once; nothing is done until the cache
 * shows the same. Plain synchronous state, for one term of leadership.
 */
import * as Effect from "effect/Effect"
import * as ApiError from "../../../kube/ApiError.ts"
import * as PodFacts from "../../../kube/pod.ts"
import type { Pod } from "../../../kube/resources.ts"

/** Uids of owners of which this term knows all there is to know: it worked on them before, or has seen them made. */
export interface Trust {
  readonly isOurs: (uid: string) => boolean
  readonly takeOver: (uid: string) => void
  /** Also of an owner that is gone. */
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

/** How long to wait until the cache is asked again, in milliseconds. */
export const patience = 1000

/** After the call the owner is not trusted any more if nobody knows whether it was done. */
export const watched = <A>(
  { disown }: Pick<Trust, "disown">,
  uid: string | undefined,
  call: Effect.Effect<A, ApiError.ApiError>
): Effect.Effect<A, ApiError.ApiError> =>
  Effect.tapError(call, (error) =>
    Effect.sync(() => {
      if (uid !== undefined && ApiError.hasReason(error, ...unanswered)) disown(uid)
    })
  )

const unanswered = ["Network", "Timeout", "ServerError", "Decode"] as const

/** Whether two lists are of the same pods in the same state, as far as that decides anything. */
export const isSame = (cached: ReadonlyArray<Pod>, live: ReadonlyArray<Pod>): boolean => {
  if (cached.length !== live.length) return false
  const known = new Map(cached.map((pod) => [pod.metadata.uid, pod]))
  return live.every((pod) => {
    const before = known.get(pod.metadata.uid)
    return before !== undefined && (isSameVersion(before, pod) || gist(before) === gist(pod))
  })
}

const isSameVersion = (a: Pod, b: Pod): boolean => a.metadata.resourceVersion === b.metadata.resourceVersion

/** What else changes on a pod that runs, and changes all the time, is no sign that the cache is behind. */
const gist = (pod: Pod): string => {
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
