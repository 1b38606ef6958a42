/**
 * The time of the earliest change since the last sync that the endpoints of a Service do not show yet. It is written as the annotation by which
 * network programming latency is measured. Pure; the caller keeps the state after a successful write. Source: staging/src/k8s.io/endpointslice/util:
 * TriggerTimeTracker.
 */
import * as PodState from "../../../kube/pod.ts"
import type { Pod, Service } from "../../../kube/resources.ts"
import * as Time from "../../../kube/time.ts"

export const annotation = "endpoints.kubernetes.io/last-change-trigger-time"

/** The times at the last sync. */
export interface State {
  /** When the Service was created, in milliseconds since 1970; Infinity if unknown. */
  readonly service: number
  /** As text, which is parsed only when it changes. By name; pods without a readable time are left out. */
  readonly pods: ReadonlyMap<string, string>
}

export interface Step {
  readonly state: State
  /** The value of the annotation; undefined if no change has a time. */
  readonly time: string | undefined
}

/** `last` is undefined in the first sync of a Service: then its creation is the change. */
export const step = (last: State | undefined, service: Service, pods: ReadonlyArray<Pod>): Step => {
  const created = Time.parse(service.metadata.creationTimestamp) ?? Infinity
  const times = new Map<string, string>()
  let earliest = last === undefined || created > last.service ? created : Infinity
  for (const pod of pods) {
    const text = PodState.readyCondition(pod)?.lastTransitionTime
    const before = last?.pods.get(pod.metadata.name)
    const time = text === before ? undefined : Time.parse(text)
    if (text === undefined || (text !== before && time === undefined)) continue
    times.set(pod.metadata.name, text)
    if (last !== undefined && time !== undefined && time > (Time.parse(before) ?? -Infinity))
      earliest = Math.min(earliest, time)
  }
  const state = { service: created, pods: times }
  return { state, time: earliest === Infinity ? undefined : Time.format(earliest) }
}

/** The annotations with that time; without `time` the annotation is removed. */
export const annotate = (
  annotations: Readonly<Record<string, string>> | undefined,
  time: string | undefined
): Record<string, string> => {
  const { [annotation]: _, ...others } = annotations ?? {}
  return time === undefined ? others : { ...others, [annotation]: time }
}
