/**
 * Which pods count: terminating and failed pods are ignored, starting pods are unready, pods without a sample are
 * missing. Pure. Source: pkg/controller/podautoscaler: groupPods.
 */
import * as Result from "effect/Result"
import * as Pods from "../../../kube/pod.ts"
import * as PodResources from "../../../kube/podResources.ts"
import * as Quantity from "../../../kube/quantity.ts"
import type { Pod } from "../../../kube/resources.ts"
import * as Time from "../../../kube/time.ts"
import type { Sample, Samples } from "../../../layers/MetricsApi.ts"
import type { Settings } from "./spec.ts"

/** Pod names; each pod is in one group or ready. */
export interface Groups {
  readonly readyCount: number
  readonly unready: ReadonlySet<string>
  readonly missing: ReadonlySet<string>
  readonly ignored: ReadonlySet<string>
}

type Delays = Pick<Settings, "cpuInitialization" | "initialReadiness">

export interface Given {
  readonly pods: ReadonlyArray<Pod>
  readonly samples: Samples
  /** The measured resource; undefined for other metrics. */
  readonly resource: string | undefined
  readonly delays: Delays
  readonly now: number
}

export const group = ({ delays, now, pods, resource, samples }: Given): Groups => {
  const [unready, missing, ignored] = [new Set<string>(), new Set<string>(), new Set<string>()]
  let readyCount = 0
  for (const pod of pods) {
    const { deletionTimestamp, name } = pod.metadata
    const sample = samples.get(name)
    if (deletionTimestamp !== undefined || pod.status?.phase === "Failed") ignored.add(name)
    else if (pod.status?.phase === "Pending") unready.add(name)
    else if (sample === undefined) missing.add(name)
    else if (resource === "cpu" && isStarting(pod, sample, { ...delays, now })) unready.add(name)
    else readyCount++
  }
  return { readyCount, unready, missing, ignored }
}

const isStarting = (
  pod: Pod,
  sample: Sample,
  { cpuInitialization, initialReadiness, now }: Delays & { now: number }
) => {
  const ready = Pods.readyCondition(pod)
  const started = Time.parse(pod.status?.startTime)
  if (ready === undefined || started === undefined) return true
  const changed = Time.parse(ready.lastTransitionTime) ?? 0
  // During the CPU initialisation period only a sample from after the pod became ready counts.
  if (started + cpuInitialization > now) return ready.status === "False" || sample.time < changed + sample.window
  // Later only a pod that was never ready is left out.
  return ready.status === "False" && started + initialReadiness > changed
}

/** Running and ready pods. */
export const readyOf = (pods: ReadonlyArray<Pod>): number =>
  pods.filter((pod) => pod.status?.phase === "Running" && Pods.isReady(pod)).length

/**
 * Each pod's request of the resource, in thousandths: the pod-level request if there is one, else the sum over
 * containers and restartable init containers; or the request of one named container. Fails for the first pod without a
 * request. Source: pkg/controller/podautoscaler: calculateRequests.
 */
export const requests = (
  pods: ReadonlyArray<Pod>,
  resource: string,
  container: string | undefined
): Result.Result<ReadonlyMap<string, bigint>, string> => {
  const found = new Map<string, bigint>()
  for (const pod of pods) {
    const request = container === undefined ? requestOf(pod, resource) : requestOfContainer(pod, resource, container)
    if (Result.isFailure(request)) return Result.fail(request.failure)
    found.set(pod.metadata.name, request.success)
  }
  return Result.succeed(found)
}

const requestOf = (pod: Pod, resource: string): Result.Result<bigint, string> => {
  if (!PodResources.hasPodLevelResources(pod, "requests")) return sumOf(pod, resource)
  const request = PodResources.amounts(pod, "requests", "spec").get(resource)
  return request === undefined
    ? Result.fail(`missing pod-level request for ${resource} in Pod ${pod.metadata.name}`)
    : Result.succeed(Quantity.thousandths(request))
}

const containersOf = ({ spec }: Pod) => [
  ...(spec?.containers ?? []),
  ...(spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always")
]

const missing = (resource: string, container: string, pod: Pod) =>
  Result.fail(`missing request for ${resource} in container ${container} of Pod ${pod.metadata.name}`)

const sumOf = (pod: Pod, resource: string): Result.Result<bigint, string> => {
  let sum = 0n
  for (const { name, resources } of containersOf(pod)) {
    const request = Quantity.milli(resources?.requests?.[resource])
    if (request === undefined) return missing(resource, name, pod)
    sum += request
  }
  return Result.succeed(sum)
}

const requestOfContainer = (pod: Pod, resource: string, container: string): Result.Result<bigint, string> => {
  const found = containersOf(pod).find(({ name }) => name === container)
  if (found === undefined) return Result.fail(`container ${container} not found in Pod ${pod.metadata.name}`)
  const request = Quantity.milli(found.resources?.requests?.[resource])
  return request === undefined ? missing(resource, container, pod) : Result.succeed(request)
}
