/**
 * The logs of simulated containers: which run of a container a request means, and the sources of its lines, computed from the pod. The annotation
 * {@link logsAnnotation} decides what a container writes; else its command, as far as `output.ts` understands it; else one line says
 * that it has started. Source: pkg/kubelet: validateContainerLogStatus.
 */
import { printable } from "../../kube/printable.ts"
import type { Pod } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"
import { LogUnavailable } from "../../layers/NodeConnection.ts"
import type { Source } from "./lines.ts"
import * as Output from "./output.ts"

/**
 * What containers write, an entry for each line of the annotation: `main=GET / 200@2s` makes the container `main` write `GET / 200` every two
 * seconds. Without a container, all write it; without an interval, it is written once, at the start. `{n}` is the number of the line, from 1.
 */
export const logsAnnotation = "simulation/logs"

/** Further entries, longer texts and shorter intervals are not read. */
const limits = { entries: 32, text: 1_024, interval: 100 } as const

/** A run of a container, from its start until its end. */
export interface Run {
  readonly id: string
  /** Milliseconds since 1970. */
  readonly startedAt: number
  /** Undefined while it runs. */
  readonly endedAt: number | undefined
  readonly exitCode: number
}

type Status = NonNullable<NonNullable<Pod["status"]>["containerStatuses"]>[number]
type Terminated = NonNullable<NonNullable<Status["state"]>["terminated"]>

const statusOf = ({ status }: Pod, name: string): Status | undefined =>
  [status?.containerStatuses, status?.initContainerStatuses, status?.ephemeralContainerStatuses]
    .flatMap((list) => list ?? [])
    .find((one) => one.name === name)

const endedRun = (terminated: Terminated, id: string): Run => ({
  id,
  startedAt: timeOf(terminated.startedAt) ?? timeOf(terminated.finishedAt) ?? 0,
  endedAt: timeOf(terminated.finishedAt) ?? 0,
  exitCode: terminated.exitCode
})

const timeOf = (time: unknown): number | undefined => (typeof time === "string" ? Time.parse(time) : undefined)

/** The run whose log is asked for, or why there is none, in the words of the kubelet. */
export const runOf = (pod: Pod, name: string, previous: boolean): Run | LogUnavailable => {
  const quoted = `container ${JSON.stringify(name)} in pod ${JSON.stringify(pod.metadata.name)}`
  const refuse = (message: string) => new LogUnavailable({ message })
  const status = statusOf(pod, name)
  if (status === undefined) return refuse(`${quoted} is not available`)
  const { running, terminated, waiting } = status.state ?? {}
  const before = status.lastState?.terminated
  const ran = (one: Terminated | undefined): Run | undefined =>
    one?.containerID === undefined || one.containerID === "" ? undefined : endedRun(one, one.containerID)
  if (previous) return ran(before) ?? refuse(`previous terminated ${quoted} not found`)
  if (running !== undefined) {
    const startedAt = timeOf(running.startedAt) ?? 0
    return { id: status.containerID ?? "", startedAt, endedAt: undefined, exitCode: 0 }
  }
  if (terminated !== undefined) return ran(terminated) ?? ran(before) ?? refuse(`${quoted} is terminated`)
  if (before !== undefined) return ran(before) ?? refuse(`${quoted} is terminated`)
  switch (waiting?.reason) {
    case undefined:
      return refuse(`${quoted} is waiting to start - no logs yet`)
    case "ErrImagePull":
      return refuse(`${quoted} is waiting to start: image can't be pulled`)
    case "ImagePullBackOff":
      return refuse(`${quoted} is waiting to start: trying and failing to pull image`)
    default:
      return refuse(`${quoted} is waiting to start: ${waiting?.reason}`)
  }
}

/** The same run in a later state of the pod: it may have ended meanwhile. Undefined where the pod no longer shows it. */
export const runNow = (pod: Pod, name: string, { id }: Run): Run | undefined => {
  const status = statusOf(pod, name)
  for (const one of [status?.state?.terminated, status?.lastState?.terminated])
    if (one?.containerID === id) return endedRun(one, id)
  const startedAt = timeOf(status?.state?.running?.startedAt)
  return startedAt === undefined || status?.containerID !== id
    ? undefined
    : { id, startedAt, endedAt: undefined, exitCode: 0 }
}

/** What the run writes. Lines after the end of the run must be left out. */
export const sourcesOf = (pod: Pod, name: string, run: Run): ReadonlyArray<Source> => {
  const { containers = [], ephemeralContainers = [], initContainers = [] } = pod.spec ?? {}
  const all = [...initContainers, ...containers, ...ephemeralContainers]
  const container = all.find((one) => one.name === name)
  const text = pod.metadata.annotations?.[logsAnnotation]
  const annotated = text === undefined ? [] : fromAnnotation(text, name, new Set(all.map((one) => one.name)), run)
  if (annotated.length > 0) return annotated
  return (
    (container === undefined ? undefined : Output.of(pod, container, run.startedAt)) ?? ofAnyContainer(pod, name, run)
  )
}

const fromAnnotation = (text: string, name: string, names: ReadonlySet<string>, run: Run): ReadonlyArray<Source> => {
  const sources: Array<Source> = []
  for (const line of text.slice(0, limits.entries * limits.text).split("\n", limits.entries)) {
    const equals = line.indexOf("=")
    const prefix = line.slice(0, Math.max(0, equals)).trim()
    const isNamed = names.has(prefix)
    if (isNamed && prefix !== name) continue
    const entry = (isNamed ? line.slice(equals + 1) : line).trim().slice(0, limits.text)
    if (entry === "") continue
    const at = entry.lastIndexOf("@")
    const interval = at === -1 ? undefined : Time.parseGoDuration(entry.slice(at + 1))
    const every = interval === undefined || interval <= 0 ? 0 : Math.max(limits.interval, interval)
    const said = printable(every === 0 ? entry : entry.slice(0, at))
    sources.push({
      first: run.startedAt,
      every,
      text: (index) => said.replaceAll("{n}", String(index + 1))
    })
  }
  return sources
}

/** A container whose command is not understood: when it started and ended. */
const ofAnyContainer = (pod: Pod, name: string, { endedAt, exitCode, startedAt }: Run): ReadonlyArray<Source> => {
  const image = statusOf(pod, name)?.image ?? ""
  const started = printable(`simulated container ${name} of image ${image} started`)
  return [
    { first: startedAt, every: 0, text: () => started },
    ...(endedAt === undefined
      ? []
      : [{ first: endedAt, every: 0, text: () => `simulated container ${name} ended with exit code ${exitCode}` }])
  ]
}
