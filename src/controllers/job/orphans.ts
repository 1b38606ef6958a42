/**
 * Removes the tracking finalizer from pods that no Job will count: pods without a controller, or of a Job that is deleted or finished.
 * Each pod has a queue key of its own. Pods of other kinds, and of Jobs with another `managedBy`, are not changed. Source: pkg/controller/job:
 * syncOrphanPod.
 */
import * as Effect from "effect/Effect"
import * as ApiError from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import * as Owner from "../../kube/Owner.ts"
import * as Resource from "../../kube/Resource.ts"
import { Job, type Pod } from "../../kube/resources.ts"
import type { State } from "./state.ts"
import * as Pods from "./pods.ts"
import type { Deps } from "./deps.ts"
import { removeFinalizerIfUnchanged } from "./drafts.ts"
import * as Spec from "./spec.ts"

/** Contains a character that names cannot have, so no key of a Job ends with it. */
const suffix = "#held"

/** The queue key of a pod, distinct from the keys of Jobs. */
export const keyOf = (pod: Pod): Key.Key => Key.of(pod) + suffix

/** The pod's own key; undefined for the key of a Job. */
export const podOf = (key: Key.Key): Key.Key | undefined =>
  key.endsWith(suffix) ? key.slice(0, -suffix.length) : undefined

/** `held`: a Job will count the pod, or the pod has nothing to remove. */
type Ownership = "orphaned" | "held" | "owner unknown"

const ownershipOf = (jobs: Deps["jobs"], pod: Pod): Ownership => {
  if (!Pods.isTracked(pod)) return "held"
  const reference = Owner.controllerOf(pod)
  if (reference === undefined) return "orphaned"
  if (reference.kind !== Job.kind || reference.apiVersion !== Resource.apiVersion(Job)) return "held"
  const job = jobs.get(Key.make(pod.metadata.namespace, reference.name))
  if (job?.metadata.uid !== reference.uid) return "owner unknown"
  return !Spec.isManagedElsewhere(job) && Spec.isFinished(job) ? "orphaned" : "held"
}

/** Whether the pod may be orphaned, according to the cache. For a Job that is not cached, `sync` asks the server. */
export const isOrphaned = ({ jobs }: Pick<Deps, "jobs">, pod: Pod): boolean => ownershipOf(jobs, pod) !== "held"

export const sync = (deps: Deps, state: State) =>
  Effect.fnUntraced(function* (key: Key.Key): Effect.fn.Return<void, ApiError.ApiError> {
    const pod = deps.pods.get(key)
    if (pod === undefined) return
    const ownership = ownershipOf(deps.jobs, pod)
    if (ownership === "held" || (ownership === "owner unknown" && (yield* exists(deps, state, pod)))) return
    yield* ApiError.unlessGone(deps.patch(pod, removeFinalizerIfUnchanged(pod)))
    yield* Effect.annotateLogs(Effect.logDebug("Removed the tracking finalizer of a pod that no Job will count"), {
      pod: key
    })
  })

/** Whether the owner exists on the server: the cache of Jobs may lag behind the cache of pods. A deleted owner is read once. */
const exists = (deps: Deps, state: State, pod: Pod): Effect.Effect<boolean, ApiError.ApiError> => {
  const { name = "", uid = "" } = Owner.controllerOf(pod) ?? {}
  if (state.isDeleted(uid)) return Effect.succeed(false)
  const { namespace } = pod.metadata
  const found = deps.live({ metadata: { name, ...(namespace === undefined ? {} : { namespace }) } })
  return Effect.map(ApiError.unlessGone(found), (owner) => {
    if (owner?.metadata.uid === uid) return true
    state.markDeleted(uid)
    return false
  })
}
