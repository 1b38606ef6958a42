/**
 * Which pods count: those that are going are nobody's, those that come up are not ready, those without a sample are missing. Processor time
 * of a pod that has just started is no measure of its work. Pure. Source: pkg/controller/podautoscaler: groupPods.
 */
import * as Result from "effect/Result"
import * as Pods from "../../../kube/pod.ts"
import * as PodResources from "../../../kube/podResources.ts"
import * as Quantity from "../../../kube/quantity.ts"
import type { Pod } from "../../../kube/resources.ts"
import * as Time from "../../../kube/time.ts"
import type { Sample, Samples } from "../../../layers/MetricsApi.ts"
import type { Settings } from "./spec.ts"

/** Names of pods; each is in one group, or ready. */
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
  /** What is measured; undefined for a metric that is no resource. */
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
  // Within its first minutes only what was measured after it became ready counts.
  if (started + cpuInitialization > now) return ready.status === "False" || sample.time < changed + sample.window
  // Later only a pod that has never been ready is left out.
  return ready.status === "False" && started + initialReadiness > changed
}

/** Pods that run and are ready. */
export const readyOf = (pods: ReadonlyArray<Pod>): number =>
  pods.filter((pod) => pod.status?.phase === "Running" && Pods.isReady(pod)).length

/**
 * What each pod requests of the resource, in thousandths: where something is said for the whole pod, what all of it requests, else the sum of its
 * containers and of the init containers that go on running; of one container when it is named. Fails for the first pod that does not say it.
 * Source: pkg/controller/podautoscaler: calculateRequests.
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
  if (!PodResources.speaksForAll(pod, "requests")) return sumOf(pod, resource)
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
