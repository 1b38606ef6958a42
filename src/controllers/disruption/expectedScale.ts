/**
 * The sizes of the controllers of a budget's pods, each controller once: from the cache for kinds that are watched,
 * else from the `scale` subresource. A pod without a controller is unmanaged; one whose controller cannot be found
 * makes the count fail. Source: pkg/controller/disruption: getExpectedScale.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as ApiError from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import type { KubeObject, OwnerReference } from "../../kube/Meta.ts"
import * as Owner from "../../kube/Owner.ts"
import type { Deployment, Pod, ReplicaSet, ReplicationController, StatefulSet } from "../../kube/resources.ts"
import type { Readable } from "../../streams/store/Store.ts"
import type * as Scales from "../shared/scale/scales.ts"

/** Why a budget's expected pods could not be calculated, in one sentence. */
export class Uncountable extends Data.TaggedError("Uncountable")<{ readonly why: string; readonly cause?: unknown }> {
  override get message(): string {
    return this.why
  }
}

export interface Stores {
  readonly replicationControllers: Readable<ReplicationController>
  readonly replicaSets: Readable<ReplicaSet>
  readonly deployments: Readable<Deployment>
  readonly statefulSets: Readable<StatefulSet>
}

export interface Deps extends Stores {
  readonly scaleOf: Scales.Scales["get"]
}

export interface Sized {
  readonly uid: string
  readonly replicas: number
}

/** The cached controller of a pod. A ReplicaSet is replaced by its Deployment. */
export const cached = (stores: Stores, reference: OwnerReference, namespace: string | undefined): Sized | undefined => {
  const { kind } = reference
  const group = groupOf(reference.apiVersion)
  if (kind === "ReplicationController" && group === "")
    return sized(stores.replicationControllers, reference, namespace)
  if (kind === "StatefulSet" && group === "apps") return sized(stores.statefulSets, reference, namespace)
  if (kind !== "ReplicaSet" || !isWorkload(group)) return undefined
  const set = find(stores.replicaSets, reference, namespace)
  const owner = set === undefined ? undefined : Owner.controllerOf(set)
  if (set === undefined || owner?.kind !== "Deployment") return set === undefined ? undefined : sizeOf(set)
  return isWorkload(groupOf(owner.apiVersion)) ? sized(stores.deployments, owner, namespace) : undefined
}

type Replicated = KubeObject & { readonly spec?: { readonly replicas?: number } | undefined }

const find = <A extends Replicated>(
  store: Readable<A>,
  { name, uid }: OwnerReference,
  namespace: string | undefined
) => {
  const found = store.get(Key.make(namespace, name))
  return found?.metadata.uid === uid ? found : undefined
}

const sized = <A extends Replicated>(
  store: Readable<A>,
  reference: OwnerReference,
  namespace: string | undefined
): Sized | undefined => {
  const found = find(store, reference, namespace)
  return found === undefined ? undefined : sizeOf(found)
}

const sizeOf = ({ metadata: { uid = "" }, spec }: Replicated): Sized => ({ uid, replicas: spec?.replicas ?? 1 })

const groupOf = (apiVersion: string): string => apiVersion.slice(0, Math.max(0, apiVersion.indexOf("/")))

/** The API groups and versions of these kinds, former ones included. */
const isWorkload = (group: string): boolean => group === "apps" || group === "extensions"

export interface Counted {
  /** Sum of the sizes. */
  readonly scale: number
  /** Pods without a controller. */
  readonly unmanaged: ReadonlyArray<Pod>
}

export const count = Effect.fnUntraced(function* (deps: Deps, pods: ReadonlyArray<Pod>) {
  const unmanaged: Array<Pod> = []
  const asked = new Set<string>()
  /** By uid. */
  const sizes = new Map<string, number>()
  for (const pod of pods) {
    const reference = Owner.controllerOf(pod)
    if (reference === undefined) unmanaged.push(pod)
    else if (!asked.has(reference.uid)) {
      asked.add(reference.uid)
      const { namespace } = pod.metadata
      const found = cached(deps, reference, namespace) ?? (yield* live(deps, reference, namespace))
      if (found === undefined) {
        return yield* new Uncountable({ why: `found no controllers for pod ${JSON.stringify(pod.metadata.name)}` })
      }
      sizes.set(found.uid, found.replicas)
    }
  }
  let scale = 0
  for (const replicas of sizes.values()) scale += replicas
  const counted: Counted = { scale, unmanaged }
  return counted
})

const live = (
  { scaleOf }: Deps,
  { apiVersion, kind, name, uid }: OwnerReference,
  namespace: string | undefined
): Effect.Effect<Sized | undefined, Uncountable | ApiError.ApiError> =>
  scaleOf({ apiVersion, kind, name, namespace }).pipe(
    Effect.map(({ metadata, spec }) => (metadata.uid === uid ? { uid, replicas: spec?.replicas ?? 0 } : undefined)),
    Effect.catch((error): Effect.Effect<undefined, Uncountable | ApiError.ApiError> => {
      if (error._tag === "ApiError") {
        return ApiError.hasReason(error, "NotFound") ? Effect.succeed(undefined) : Effect.fail(error)
      }
      const noMatch = `no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`
      return Effect.fail(new Uncountable({ why: error._tag === "NotServed" ? noMatch : error.message, cause: error }))
    })
  )
