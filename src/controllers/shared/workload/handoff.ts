/**
 * Whether the cache is fresh enough to write for an object. It may not be after a change of leader: what the former term kept between its syncs is
 * lost, and the cache of a standby may lag behind the leader's last writes. It may not be after a write whose response was lost. In both cases the
 * cache is compared with live reads before the next write, and nothing is written until both agree. What has to agree differs between the
 * controllers, so each passes its checks. Plain synchronous state for one leadership term.
 */
import * as Effect from "effect/Effect"
import * as ApiError from "../../../kube/ApiError.ts"
import type { KubeObject } from "../../../kube/Meta.ts"
import * as Owner from "../../../kube/Owner.ts"
import * as PodFacts from "../../../kube/pod.ts"
import type { Pod } from "../../../kube/resources.ts"

type Call<A> = Effect.Effect<A, ApiError.ApiError>

/** Uids of objects for which the cache is known to be fresh: they were compared in this term, or their creation was observed. */
export interface Trust {
  readonly isTrusted: (uid: string) => boolean
  readonly trust: (uid: string) => void
  /** Also called for an object that was deleted. */
  readonly distrust: (uid: string) => void
}

export const make = (): Trust => {
  const trusted = new Set<string>()
  return {
    isTrusted: (uid) => trusted.has(uid),
    trust: (uid) => void trusted.add(uid),
    distrust: (uid) => void trusted.delete(uid)
  }
}

/** Milliseconds until the cache is compared with the server again: by then it has probably caught up. */
export const retryAfter = 1000

/** Runs the call; if its outcome is unknown, the cache is not trusted any more for the object. */
export const watched = <A>({ distrust }: Pick<Trust, "distrust">, uid: string | undefined, call: Call<A>): Call<A> =>
  Effect.tapError(call, (error) =>
    Effect.sync(() => {
      if (uid !== undefined && ApiError.hasReason(error, ...unknownOutcome)) distrust(uid)
    })
  )

const unknownOutcome = ["Network", "Timeout", "ServerError", "Decode"] as const

/**
 * Whether the caller may write for the object; if not, it has to retry a little later. The checks run in order until one fails, and only while the
 * object is not trusted.
 */
export const isFresh = Effect.fnUntraced(function* (
  trust: Pick<Trust, "isTrusted" | "trust">,
  uid: string,
  checks: ReadonlyArray<Call<boolean>>
): Effect.fn.Return<boolean, ApiError.ApiError> {
  if (trust.isTrusted(uid)) return true
  for (const check of checks) if (!(yield* check)) return false
  trust.trust(uid)
  return true
})

/** Whether the cached object has the version of the live one. */
export const isSameVersion = (
  { metadata: { resourceVersion, uid } }: KubeObject,
  live: Call<KubeObject>
): Call<boolean> =>
  Effect.map(
    ApiError.unlessGone(live),
    // After a deletion the watch event will follow.
    (found) => found?.metadata.uid === uid && found?.metadata.resourceVersion === resourceVersion
  )

/** Whether `cached` are all pods of the owner on the server. `live` may have pods of other owners too. */
export const hasSamePods = (
  { metadata: { uid } }: KubeObject,
  cached: ReadonlyArray<Pod>,
  live: Call<ReadonlyArray<Pod>>
): Call<boolean> =>
  Effect.map(live, (pods) =>
    isSame(
      cached,
      pods.filter((pod) => Owner.controlledBy(pod, uid))
    )
  )

/** Whether two lists have the same pods in the same state, as far as decisions depend on it. */
export const isSame = (cached: ReadonlyArray<Pod>, live: ReadonlyArray<Pod>): boolean => {
  if (cached.length !== live.length) return false
  const known = new Map(cached.map((pod) => [pod.metadata.uid, pod]))
  return live.every((pod) => {
    const before = known.get(pod.metadata.uid)
    return (
      before !== undefined &&
      (before.metadata.resourceVersion === pod.metadata.resourceVersion ||
        decisiveFields(before) === decisiveFields(pod))
    )
  })
}

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
