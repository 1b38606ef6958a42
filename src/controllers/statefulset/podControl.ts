/**
 * Creates, updates and deletes replicas, with an event on the set for each. Since names are reused, every call applies to the pod that was read and
 * never to another pod of its name. Source: pkg/controller/statefulset: StatefulPodControl.
 */
import * as Effect from "effect/Effect"
import * as ApiError from "../../kube/ApiError.ts"
import type { Draft } from "../../kube/Meta.ts"
import * as Patch from "../../kube/Patch.ts"
import { type Pod, StatefulSet } from "../../kube/resources.ts"
import * as History from "../shared/revisions/history.ts"
import { draft as draftOf } from "../shared/workload/podControl.ts"
import * as Claims from "./claims.ts"
import * as Identity from "./identity.ts"
import type { Revision } from "./snapshot.ts"
import type { Action } from "./plan/step.ts"
import type { Deps } from "./deps.ts"

type Verb = "Create" | "Update" | "Delete"

interface PodEvent {
  readonly verb: Verb
  readonly set: StatefulSet
  /** The name of the pod. */
  readonly pod: string
}

const succeeded = ({ events }: Deps, { pod, set, verb }: PodEvent): Effect.Effect<void> =>
  events.normal(set, `Successful${verb}`, `${verb} Pod ${pod} in StatefulSet ${set.metadata.name} successful`)

const failed = (
  { events }: Deps,
  { pod, set, verb }: PodEvent,
  { cause, message }: Claims.Problem
): Effect.Effect<void> =>
  Claims.unlessExpected(
    cause,
    events.warning(
      set,
      `Failed${verb}`,
      `${verb} Pod ${pod} in StatefulSet ${set.metadata.name} failed error: ${message}`
    )
  )

/** Records the event of a failure, and fails. */
const fail = (deps: Deps, event: PodEvent, problem: Claims.ReplicaError): Effect.Effect<never, Claims.ReplicaError> =>
  Effect.andThen(failed(deps, event, problem), problem)

type Of<Tag extends Action["_tag"]> = Extract<Action, { readonly _tag: Tag }>

/**
 * Creates the claims, then the pod. No event is recorded if the name is taken: the pod may be our own and not in the cache yet. In a terminating
 * namespace creation fails without an event, because the set will be deleted too.
 */
export const create = (deps: Deps, set: StatefulSet, action: Of<"Create">): Effect.Effect<void, Claims.ReplicaError> =>
  Effect.catchIf(
    make(deps, set, action),
    ({ cause }) => cause !== undefined && ApiError.isNamespaceTerminating(cause),
    () => Effect.void
  )

const make = Effect.fnUntraced(function* (
  deps: Deps,
  set: StatefulSet,
  { ordinal, revision, storage }: Of<"Create">
): Effect.fn.Return<void, Claims.ReplicaError> {
  const event: PodEvent = { verb: "Create", set, pod: Identity.podName(set, ordinal) }
  const replica = { set, ordinal }
  yield* Effect.catch(Claims.createMissingClaims(deps, replica, storage), (problem) => fail(deps, event, problem))
  yield* Effect.catch(deps.create(draft(set, ordinal, revision), set.metadata.namespace), (error) => {
    const problem = Claims.replicaError(error.detail, error)
    return ApiError.hasReason(error, "AlreadyExists") ? problem : fail(deps, event, problem)
  })
  yield* Effect.catch(Claims.updateClaimOwners(deps, replica, storage), (problem) =>
    fail(deps, { ...event, verb: "Update" }, problem)
  )
  yield* succeeded(deps, event)
})

/**
 * Creates the missing claims of a pending pod; a terminating claim is recreated after its deletion. A failed creation of a claim has its own event;
 * a failed update of owner references is recorded as a failed update of the pod.
 * Source: pkg/controller/statefulset createMissingPersistentVolumeClaims.
 */
export const createMissingClaims = (
  deps: Deps,
  set: StatefulSet,
  { ordinal, pod, storage }: Of<"CreateClaims">
): Effect.Effect<void, Claims.ReplicaError> => {
  const event: PodEvent = { verb: "Update", set, pod: pod.metadata.name }
  const replica = { set, ordinal }
  return Effect.andThen(
    Claims.createMissingClaims(deps, replica, { ...storage, going: [] }),
    Effect.catch(Claims.updateClaimOwners(deps, replica, storage), (problem) => fail(deps, event, problem))
  )
}

/** Missing labels and volumes are added by a patch, so that concurrent changes are kept. */
export const update = Effect.fnUntraced(function* (
  deps: Deps,
  set: StatefulSet,
  { ordinal, pod, storage }: Of<"Update">
): Effect.fn.Return<void, Claims.ReplicaError> {
  const event: PodEvent = { verb: "Update", set, pod: pod.metadata.name }
  const replica = { set, ordinal }
  const patch = difference(set, ordinal, pod)
  const updated = Effect.gen(function* () {
    yield* Claims.createMissingClaims(deps, replica, storage)
    yield* Claims.updateClaimOwners(deps, replica, storage)
    if (patch !== undefined)
      yield* Effect.mapError(deps.patch(pod, patch), (error) => Claims.replicaError(error.detail, error))
  })
  yield* Effect.catch(updated, (problem) => fail(deps, event, problem))
  yield* succeeded(deps, event)
})

/** The patch of the pod itself; undefined if it needs none. */
const difference = (set: StatefulSet, ordinal: number, pod: Pod): Patch.Patch | undefined => {
  const isSelf = Identity.isSelf(set, ordinal, pod)
  const hasStorage = Identity.hasStorage(set, ordinal, pod)
  if (isSelf && hasStorage) return undefined
  return Patch.strategic({
    metadata: { uid: pod.metadata.uid, ...(isSelf ? {} : { labels: Identity.labels(set, ordinal) }) },
    ...(hasStorage ? {} : { spec: { volumes: Identity.volumes(set, ordinal) } })
  })
}

/** No event is recorded if the pod does not exist any more or another one has its name. */
export const remove = (
  deps: Deps,
  set: StatefulSet,
  { pod }: Of<"Delete">
): Effect.Effect<void, Claims.ReplicaError> => {
  const event: PodEvent = { verb: "Delete", set, pod: pod.metadata.name }
  return Effect.matchEffect(deps.remove(pod), {
    onSuccess: () => succeeded(deps, event),
    onFailure: (error) =>
      ApiError.hasReason(error, "NotFound", "Conflict")
        ? Effect.void
        : fail(deps, event, Claims.replicaError(error.detail, error))
  })
}

/** A draft with a name. */
type PodDraft = Draft<Pod> & { readonly metadata: { readonly name: string } }

/** The body of a replica: the template of its revision, with its own name, labels and volumes. Source: newVersionedStatefulSetPod. */
const draft = (set: StatefulSet, ordinal: number, { name: revision, template }: Revision): PodDraft => {
  const name = Identity.podName(set, ordinal)
  const { metadata, spec } = draftOf(StatefulSet, set, template)
  const { serviceName = "" } = set.spec ?? {}
  const claims = Identity.volumes(set, ordinal)
  const others = spec?.volumes?.filter((volume) => !claims.some((claim) => claim.name === volume.name)) ?? []
  const volumes = [...claims, ...others]
  return {
    metadata: {
      ...metadata,
      name,
      ...(set.metadata.namespace === undefined ? {} : { namespace: set.metadata.namespace }),
      labels: { ...metadata.labels, ...Identity.labels(set, ordinal), [History.hashLabel]: revision }
    },
    spec: {
      ...(spec ?? { containers: [] }),
      hostname: name,
      ...(serviceName === "" ? {} : { subdomain: serviceName }),
      ...(volumes.length === 0 ? {} : { volumes })
    }
  }
}
