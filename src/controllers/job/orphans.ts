/**
 * Pods that are held by the finalizer for nobody: without a controller, of a Job that is gone, is going or has ended. They are let go,
 * each under a key of its own. What belongs to another kind, or to a Job that somebody else manages, is left alone. Source: spec D.2.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as ApiError from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import * as Owner from "../../kube/Owner.ts"
import * as Resource from "../../kube/Resource.ts"
import { Job, type Pod } from "../../kube/resources.ts"
import type { Books } from "./state.ts"
import * as Pods from "./pods.ts"
import { letGoAsIs, type Ports } from "./deps.ts"
import * as Spec from "./spec.ts"

/** No name has it. */
const mark = "#held"

/** The key under which a pod is looked at, beside the keys of Jobs. */
export const keyOf = (pod: Pod): Key.Key => Key.of(pod) + mark

/** The pod that the key is about; undefined for the key of a Job. */
export const podOf = (key: Key.Key): Key.Key | undefined =>
  key.endsWith(mark) ? key.slice(0, -mark.length) : undefined

type Standing = "held for nobody" | "held" | "owner unknown"

const standingOf = (jobs: Ports["jobs"], pod: Pod): Standing => {
  if (!Pods.isTracked(pod)) return "held"
  const reference = Owner.controllerOf(pod)
  if (reference === undefined) return "held for nobody"
  if (reference.kind !== Job.kind || reference.apiVersion !== Resource.apiVersion(Job)) return "held"
  const job = jobs.get(Key.make(pod.metadata.namespace, reference.name))
  if (job?.metadata.uid !== reference.uid) return "owner unknown"
  return !Spec.isManagedElsewhere(job) && Spec.isFinished(job) ? "held for nobody" : "held"
}

/** As the cache shows it; a Job that the cache does not know is asked for when the key's turn comes. */
export const isHeldForNobody = ({ jobs }: Pick<Ports, "jobs">, pod: Pod): boolean => standingOf(jobs, pod) !== "held"

export const sync = (ports: Ports, books: Books) =>
  Effect.fnUntraced(function* (key: Key.Key): Effect.fn.Return<void, ApiError.ApiError> {
    const pod = ports.pods.get(key)
    if (pod === undefined) return
    const standing = standingOf(ports.jobs, pod)
    if (standing === "held" || (standing === "owner unknown" && (yield* exists(ports, books, pod)))) return
    const done = yield* Effect.result(ports.patch(pod, letGoAsIs(pod)))
    if (Result.isFailure(done) && !ApiError.hasReason(done.failure, "NotFound")) return yield* done.failure
    yield* Effect.annotateLogs(Effect.logDebug("Let a pod go that no Job will count"), { pod: key })
  })

/** The cache of Jobs may be behind that of pods: whether the owner is gone is for the server to say, once. */
const exists = (ports: Ports, books: Books, pod: Pod): Effect.Effect<boolean, ApiError.ApiError> => {
  const { name = "", uid = "" } = Owner.controllerOf(pod) ?? {}
  if (books.isGone(uid)) return Effect.succeed(false)
  const { namespace } = pod.metadata
  const gone = Effect.sync(() => {
    books.bury(uid)
    return false
  })
  const found = ports.live({ metadata: { name, ...(namespace === undefined ? {} : { namespace }) } })
  return Effect.matchEffect(found, {
    onSuccess: ({ metadata }) => (metadata.uid === uid ? Effect.succeed(true) : gone),
    onFailure: (error) => (ApiError.hasReason(error, "NotFound") ? gone : Effect.fail(error))
  })
}
