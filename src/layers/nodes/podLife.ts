/**
 * What a kubelet does next with one pod, as a pure function of the pod, the machine and the time. It looks at the API object
 * only, so it gives the same answer after a restart and when asked twice: start it, wait, report it running, remove it.
 * Images always pull and containers never exit in this first cut.
 */
import type { Pod } from "../../kube/resources.ts"
import * as Machine from "./Machine.ts"

export interface Delays {
  /** Milliseconds from being taken over to running: pulling and starting. */
  readonly start: number
  /** Milliseconds a container takes to stop; the grace period bounds it. */
  readonly stop: number
}

export const standard: Delays = { start: 1_000, stop: 1_000 }

export type Step = Nothing | Wait | Report | Remove

export interface Nothing {
  readonly _tag: "Nothing"
}

export interface Wait {
  readonly _tag: "Wait"
  /** Milliseconds from now. */
  readonly delay: number
}

/** Write this status. */
export interface Report {
  readonly _tag: "Report"
  readonly status: object
}

/** The containers have stopped: the object may go. */
export interface Remove {
  readonly _tag: "Remove"
}

const nothing: Step = { _tag: "Nothing" }
const remove: Step = { _tag: "Remove" }

/** `address` is asked for when the pod needs one: undefined means that the network is full, and the pod waits. */
export const next = (
  pod: Pod,
  machine: Machine.Machine,
  delays: Delays,
  now: number,
  address: () => string | undefined
): Step => {
  if (pod.spec?.nodeName !== machine.name) return nothing
  if (pod.metadata.deletionTimestamp !== undefined) return stopping(pod, delays, now)
  const { phase, startTime } = pod.status ?? {}
  if (phase === "Succeeded" || phase === "Failed" || phase === "Running") return nothing
  if (startTime === undefined) return { _tag: "Report", status: starting(pod, machine, now) }
  const wait = Date.parse(startTime) + delays.start - now
  if (wait > 0) return { _tag: "Wait", delay: wait }
  const ip = pod.spec.hostNetwork === true ? Machine.address(machine) : address()
  return ip === undefined
    ? { _tag: "Wait", delay: delays.start }
    : { _tag: "Report", status: running(pod, machine, ip, now) }
}

const stopping = (pod: Pod, delays: Delays, now: number): Step => {
  const grace = (pod.metadata.deletionGracePeriodSeconds ?? 0) * 1_000
  const deadline = Date.parse(pod.metadata.deletionTimestamp ?? "")
  // What never started stops at once.
  const stop = pod.status?.startTime === undefined ? 0 : delays.stop
  const wait = Math.min(deadline - grace + stop, deadline) - now
  return wait > 0 ? { _tag: "Wait", delay: wait } : remove
}

const starting = (pod: Pod, machine: Machine.Machine, now: number) => ({
  phase: "Pending",
  hostIP: Machine.address(machine),
  hostIPs: [{ ip: Machine.address(machine) }],
  startTime: Machine.timestamp(now),
  conditions: conditions(pod, now, false),
  containerStatuses: containers(pod).map(({ image, name }) => ({
    name,
    image,
    imageID: "",
    ready: false,
    started: false,
    restartCount: 0,
    state: { waiting: { reason: "ContainerCreating" } },
    lastState: {}
  }))
})

const running = (pod: Pod, machine: Machine.Machine, ip: string, now: number) => ({
  phase: "Running",
  hostIP: Machine.address(machine),
  hostIPs: [{ ip: Machine.address(machine) }],
  podIP: ip,
  podIPs: [{ ip }],
  startTime: pod.status?.startTime,
  conditions: conditions(pod, now, true),
  containerStatuses: containers(pod).map(({ image, name }) => ({
    name,
    image,
    imageID: `simulated://${image}`,
    containerID: `simulated://${pod.metadata.uid ?? ""}/${name}`,
    ready: true,
    started: true,
    restartCount: 0,
    state: { running: { startedAt: Machine.timestamp(now) } },
    lastState: {}
  }))
})

const containers = (pod: Pod) => (pod.spec?.containers ?? []).map(({ image, name }) => ({ name, image: image ?? "" }))

/** A condition keeps its transition time until its status changes. */
const conditions = (pod: Pod, now: number, ready: boolean) => {
  const entry = (type: string, isTrue: boolean) => {
    const status = isTrue ? "True" : "False"
    const before = pod.status?.conditions?.find((known) => known.type === type)
    return {
      type,
      status,
      lastProbeTime: null,
      lastTransitionTime: before?.status === status ? before.lastTransitionTime : Machine.timestamp(now),
      ...(isTrue ? {} : { reason: "ContainersNotReady", message: "containers are being created" })
    }
  }
  return [
    entry("PodReadyToStartContainers", ready),
    entry("Initialized", true),
    entry("Ready", ready),
    entry("ContainersReady", ready),
    entry("PodScheduled", true)
  ]
}
