/**
 * The objects of a kind that remain in a namespace after their deletion, and how long their deletion may take. Pure. Source:
 * pkg/controller/namespace/deletion: deleteAllContentForGroupVersionResource, estimateGracefulTermination.
 */
import type { KubeObject } from "../../kube/Meta.ts"
import * as PodStatus from "../../kube/pod.ts"
import type * as Resource from "../../kube/Resource.ts"
import type { Pod } from "../../kube/resources.ts"

export interface Remains {
  readonly resource: Resource.Any
  /** The number of remaining objects. */
  readonly count: number
  /** The number of remaining objects with each finalizer. */
  readonly finalizers: ReadonlyMap<string, number>
  /** Seconds after which a retry makes sense; 0 if unknown or if there is nothing to wait for. */
  readonly estimate: number
  /** The message of the server, or that of kube-controller-manager. */
  readonly failure: string | undefined
}

/** Seconds given to finalizers. */
const finalizerEstimate = 15

/**
 * Seconds until the last pod has stopped: the longest grace period of pods that are not terminal, or 0 when that time has
 * passed since the namespace was deleted. Times are milliseconds since 1970.
 */
export const graceOf = (pods: ReadonlyArray<Pod>, deletedAt: number, now: number): number => {
  let longest = 0
  for (const pod of pods) {
    if (!PodStatus.isTerminal(pod)) longest = Math.max(longest, pod.spec?.terminationGracePeriodSeconds ?? 0)
  }
  return now - deletedAt >= longest * 1000 ? 0 : longest
}

/** No object is known to remain: none exists, or the server does not list the kind. */
export const nothing = (resource: Resource.Any, estimate = 0): Remains => ({
  resource,
  count: 0,
  finalizers: new Map(),
  estimate,
  failure: undefined
})

export const failed = (resource: Resource.Any, failure: string): Remains => ({ ...nothing(resource), failure })

/** Summarises the objects that are still listed. Objects with neither a grace period nor a finalizer are a failure. */
export const summarise = (
  resource: Resource.Any,
  namespace: string,
  objects: ReadonlyArray<KubeObject>,
  grace: number
): Remains => {
  if (objects.length === 0) return nothing(resource)
  const finalizers = new Map<string, number>()
  for (const finalizer of objects.flatMap(({ metadata }) => metadata.finalizers ?? [])) {
    finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1)
  }
  const estimate = grace > 0 ? grace : finalizers.size > 0 ? finalizerEstimate : 0
  const failure =
    estimate > 0
      ? undefined
      : `unexpected items still remain in namespace: ${namespace} for gvr: ${resource.group}/${resource.version}, Resource=${resource.plural}`
  return { resource, count: objects.length, finalizers, estimate, failure }
}
