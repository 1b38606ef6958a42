/**
 * The lifecycle of one container, one step at a time: its next status, given its present one, and when to look again. Pulling, starting,
 * becoming ready, ending, backing off, starting again. A total function. What the status does not show, the length of the present
 * back-off, is in `Memory`, which a kubelet loses when it restarts, as the real one does.
 * Source: kubelet status and back-off rules (10 s doubling to 300 s, forgotten after 10 minutes without a crash).
 */
import type { Pod } from "../../kube/resources.ts"
import * as Machine from "../Machine.ts"
import * as Behavior from "./behavior.ts"
import * as Program from "./program.ts"

export type Container = NonNullable<Pod["spec"]>["containers"][number]
export type Status = NonNullable<NonNullable<Pod["status"]>["containerStatuses"]>[number]
export type Terminated = NonNullable<NonNullable<Status["state"]>["terminated"]>

export interface Delays {
  /** Milliseconds from the time a container may start until it runs: pulling and starting. */
  readonly start: number
  /** Milliseconds a container takes to stop; the grace period bounds it. */
  readonly stop: number
}

/** Times and durations are milliseconds. */
export interface Memory {
  /** The last pull: its image, when it failed, and how long to wait; 0 while it is in progress. */
  readonly pull?: { readonly image: string; readonly at: number; readonly backoff: number } | undefined
  /** The back-off after the next crash, and when it was last increased. */
  readonly crash?: { readonly backoff: number; readonly at: number } | undefined
}

/** An event to record. */
export interface Note {
  readonly type: "Normal" | "Warning"
  readonly reason: string
  readonly message: string
  /** The container of the event. */
  readonly fieldPath?: string | undefined
}

export interface Input {
  readonly pod: Pod
  readonly container: Container
  readonly before: Status | undefined
  readonly memory: Memory
  /** Since when it may run; undefined while other containers have to start or end first. */
  readonly turn: number | undefined
  readonly policy: "Always" | "OnFailure" | "Never"
  readonly role: Behavior.Role
  /** The waiting reason before its first start. */
  readonly idle: "ContainerCreating" | "PodInitializing"
  readonly isBad: (image: string) => boolean
  readonly delays: Delays
  /** The exit code with which a fault ends it now, if it runs. */
  readonly killed?: number | undefined
  readonly now: number
}

export interface Next {
  readonly status: Status
  readonly memory: Memory
  /** When to look again if nothing changes before; undefined if time alone changes nothing. */
  readonly wake: number | undefined
  readonly notes: ReadonlyArray<Note>
}

export const backoff = { first: 10_000, most: 300_000, resetAfter: 600_000 } as const

/** How long a failed pull is shown as ErrImagePull before it is shown as ImagePullBackOff. */
const pullErrorShown = 1_000

export const advance = (input: Input): Next => {
  const { before, killed, now } = input
  if (before?.state?.running !== undefined)
    return killed === undefined
      ? whileRunning(input, before, before.state.running.startedAt)
      : withStatus(input, ofRole(input, ended(before, killed, now)))
  if (before?.state?.terminated !== undefined) return afterExit(input, before, before.state.terminated)
  return whileWaiting(input, before ?? idle(input))
}

const idle = ({ container, idle }: Input): Status => ({
  name: container.name,
  image: container.image ?? "",
  imageID: "",
  ready: false,
  started: false,
  restartCount: 0,
  state: { waiting: { reason: idle } },
  lastState: {}
})

const withStatus = ({ memory }: Input, status: Status, wake?: number): Next => ({ status, memory, wake, notes: [] })

const imageOf = ({ container }: Input): string => container.image ?? ""

const whileWaiting = (input: Input, status: Status): Next => {
  if (input.turn === undefined) return withStatus(input, status)
  switch (status.state?.waiting?.reason) {
    case "ErrImagePull":
    case "ImagePullBackOff":
      return afterFailedPull(input, status)
    case "CrashLoopBackOff": {
      const finished = Date.parse(String(status.lastState?.terminated?.finishedAt))
      const { crash } = input.memory
      const isChanged = status.image !== imageOf(input)
      const due = crash === undefined || isChanged || Number.isNaN(finished) ? input.now : finished + crash.backoff
      return due <= input.now ? pullAndStart(input, status) : withStatus(input, status, due)
    }
    default: {
      const due = input.turn + (Behavior.startOf(input.pod, input.container) ?? input.delays.start)
      return due <= input.now ? pullAndStart(input, status) : withStatus(input, status, due)
    }
  }
}

/** After a failed pull: tried again after the back-off, and at once when the image changes. */
const afterFailedPull = (input: Input, status: Status): Next => {
  const { delays, memory, now } = input
  const image = imageOf(input)
  if (memory.pull?.image !== image) {
    const pull = { image, at: now, backoff: 0 }
    return { ...withStatus(input, status, now + delays.start), memory: { ...memory, pull } }
  }
  const { at, backoff } = memory.pull
  const due = at + (backoff === 0 ? delays.start : backoff)
  if (now >= due) return pullAndStart(input, status)
  if (backoff === 0 || status.state?.waiting?.reason === "ImagePullBackOff") return withStatus(input, status, due)
  if (now < at + pullErrorShown) return withStatus(input, status, at + pullErrorShown)
  const message = `Back-off pulling image ${JSON.stringify(image)}`
  return {
    status: { ...status, state: { waiting: { reason: "ImagePullBackOff", message } } },
    memory,
    wake: due,
    notes: [note(input, "Normal", "BackOff", message), note(input, "Warning", "Failed", "Error: ImagePullBackOff")]
  }
}

const lists: Readonly<Record<Behavior.Role, string>> = {
  app: "containers",
  init: "initContainers",
  sidecar: "initContainers",
  ephemeral: "ephemeralContainers"
}

const note = ({ container, role }: Input, type: Note["type"], reason: string, message: string): Note => ({
  type,
  reason,
  message,
  fieldPath: `spec.${lists[role]}{${container.name}}`
})

const present = "already present on machine and can be accessed by the pod"

/** Pulls and starts. */
const pullAndStart = (input: Input, before: Status): Next => {
  const { container, isBad, memory, now, pod } = input
  const image = imageOf(input)
  const quoted = JSON.stringify(image)
  const last = before.state?.terminated ?? before.lastState?.terminated
  const lastState = last === undefined ? {} : { terminated: last }
  const count = last === undefined ? before.restartCount : before.restartCount + 1
  const pulling = note(input, "Normal", "Pulling", `Pulling image ${quoted}`)
  if (isBad(image)) {
    const known = memory.pull?.image === image ? memory.pull.backoff : 0
    const wait = known === 0 ? backoff.first : Math.min(known * 2, backoff.most)
    const why = `rpc error: code = NotFound desc = failed to pull image ${quoted}: not found`
    return {
      status: { ...before, ready: false, started: false, state: waiting("ErrImagePull", why), lastState },
      memory: { ...memory, pull: { image, at: now, backoff: wait } },
      wake: now + pullErrorShown,
      notes: [
        pulling,
        note(input, "Warning", "Failed", `Failed to pull image ${quoted}: ${why}`),
        note(input, "Warning", "Failed", "Error: ErrImagePull")
      ]
    }
  }
  const started: Status = {
    ...before,
    image,
    imageID: `simulated://${image}`,
    containerID: `simulated://${pod.metadata.uid ?? ""}/${container.name}/${count}`,
    restartCount: count,
    ready: false,
    started: false,
    state: { running: { startedAt: Machine.timestamp(now) } },
    lastState
  }
  const again = last !== undefined && before.image === image
  const running = whileRunning(
    { ...input, memory: memoryAfterStart(input, last, before) },
    started,
    Machine.timestamp(now)
  )
  return {
    ...running,
    // Running is reported once, even if the container ends in the same instant.
    status: running.status.state?.running === undefined ? started : running.status,
    wake: running.status.state?.running === undefined ? now : running.wake,
    notes: [
      ...(again
        ? [note(input, "Normal", "Pulled", `Container image ${quoted} ${present}`)]
        : [pulling, note(input, "Normal", "Pulled", `Successfully pulled image ${quoted}`)]),
      note(input, "Normal", "Created", "Container created"),
      note(input, "Normal", "Started", "Container started")
    ]
  }
}

const waiting = (reason: string, message: string) => ({ waiting: { reason, message } })

/** A restart increases the next back-off; ten minutes without a crash, or another image, reset it. */
const memoryAfterStart = (input: Input, last: Terminated | undefined, before: Status): Memory => {
  if (last === undefined) return {}
  const { crash } = input.memory
  const isNew = crash === undefined || before.image !== imageOf(input) || isBackoffReset(crash, last)
  return { crash: { backoff: isNew ? backoff.first : Math.min(crash.backoff * 2, backoff.most), at: input.now } }
}

const isBackoffReset = (crash: NonNullable<Memory["crash"]>, last: Terminated): boolean =>
  Date.parse(String(last.finishedAt)) - crash.at > backoff.resetAfter

const whileRunning = (input: Input, status: Status, startedAt: string | undefined): Next => {
  const { container, now, pod, role } = input
  const start = Date.parse(String(startedAt))
  // A start without a readable time counts as now, so that no time below is NaN.
  const since = Number.isNaN(start) ? now : start
  if (status.image !== imageOf(input)) {
    const message = `Container ${container.name} definition changed, will be restarted`
    return { ...withStatus(input, ended(status, 0, now), now), notes: [note(input, "Normal", "Killing", message)] }
  }
  const exit = Behavior.exitOf(pod, container, role, status.restartCount)
  const exitAt = exit === undefined ? undefined : since + exit.after
  const startedUpAt = probeSuccessTime(container.startupProbe, since)
  const deadAt = livenessFailureTime(input, since, startedUpAt)
  if (deadAt !== undefined && deadAt <= now && deadAt < (exitAt ?? Infinity)) {
    const message = `Container ${container.name} failed liveness probe, will be restarted`
    return {
      ...withStatus(input, ended(status, sigkill, deadAt), now),
      notes: [
        note(input, "Warning", "Unhealthy", "Liveness probe failed: the container does not answer"),
        note(input, "Normal", "Killing", message)
      ]
    }
  }
  if (exit !== undefined && exitAt !== undefined && exitAt <= now)
    return withStatus(input, ofRole(input, ended(status, exit.code, exitAt, exit.reason)), now)
  const readyAt = Math.max(
    startedUpAt,
    probeSuccessTime(container.readinessProbe, since),
    since + Behavior.readyAfter(pod, container.name)
  )
  const isReady = readyAt <= now && !isProbeFailing(pod, container)
  const wake = earliest([exitAt, deadAt, startedUpAt, readyAt].filter((at) => at !== undefined && at > now))
  return withStatus(input, ofRole(input, { ...status, started: startedUpAt <= now, ready: isReady }), wake)
}

/** An init container is ready when it has succeeded, an ephemeral one never. Source: kubelet/prober: UpdatePodStatus. */
const ofRole = ({ role }: Input, status: Status): Status => {
  if (role === "ephemeral") return { ...status, started: false, ready: false }
  return role === "init" ? { ...status, ready: status.state?.terminated?.exitCode === 0 } : status
}

/** The exit code of a container that is killed because it does not end by itself. */
const sigkill = 137

type Probe = Container["readinessProbe"]

/** When a probe has succeeded often enough. The first one is made after the initial delay, then one each period. */
const probeSuccessTime = (probe: Probe, since: number): number =>
  probe === undefined
    ? since
    : since +
      Math.max(0, probe.initialDelaySeconds ?? 0) * 1_000 +
      (Math.max(1, probe.successThreshold ?? 1) - 1) * Math.max(1, probe.periodSeconds ?? 10) * 1_000

/** By the annotation or the image, or because the probe's command is known to fail. */
const isProbeFailing = (pod: Pod, container: Container): boolean =>
  Behavior.isUnready(pod, container) || isCommandFailing(container.readinessProbe)

const isCommandFailing = (probe: Probe): boolean => {
  const course = Program.run(probe?.exec?.command ?? [])
  return course !== undefined && course !== "endless" && course.code !== 0
}

/**
 * When the liveness probe has failed often enough, if the annotation or its command makes it fail. It is made each period, for the first time
 * after the initial delay and when the container has started up.
 */
const livenessFailureTime = ({ container, pod }: Input, since: number, startedUpAt: number): number | undefined => {
  const probe = container.livenessProbe
  if (probe === undefined) return undefined
  const failing = isCommandFailing(probe) ? 0 : Behavior.unliveAfter(pod, container.name)
  if (failing === undefined) return undefined
  const period = Math.max(1, probe.periodSeconds ?? 10) * 1_000
  const first = since + Math.max(0, probe.initialDelaySeconds ?? 0) * 1_000
  const from = Math.max(since + failing, startedUpAt, first)
  const failed = first + Math.ceil((from - first) / period) * period
  return failed + (Math.max(1, probe.failureThreshold ?? 3) - 1) * period
}

export const earliest = (times: ReadonlyArray<number | undefined>): number | undefined => {
  let first: number | undefined
  for (const time of times) if (time !== undefined && (first === undefined || time < first)) first = time
  return first
}

/** The status of a container that ran and has ended. */
export const ended = (status: Status, exitCode: number, at: number, reason?: string): Status => ({
  ...status,
  ready: false,
  started: false,
  state: {
    terminated: {
      exitCode,
      reason: reason ?? (exitCode === 0 ? "Completed" : "Error"),
      ...(status.state?.running?.startedAt === undefined ? {} : { startedAt: status.state.running.startedAt }),
      finishedAt: Machine.timestamp(at),
      ...(status.containerID === undefined ? {} : { containerID: status.containerID })
    }
  }
})

/** Whether a container that has ended is not restarted. */
export const isEndedForGood = (status: Status, container: Container, policy: Input["policy"]): boolean => {
  const { terminated } = status.state ?? {}
  if (terminated === undefined || status.image !== (container.image ?? "")) return false
  return policy === "Never" || (policy === "OnFailure" && terminated.exitCode === 0)
}

const afterExit = (input: Input, status: Status, last: Terminated): Next => {
  const { container, delays, memory, now, pod, policy } = input
  if (input.turn === undefined || isEndedForGood(status, container, policy)) return withStatus(input, status)
  const finished = Date.parse(String(last.finishedAt))
  const isChanged = status.image !== imageOf(input)
  const { crash } = memory
  const isBackingOff = crash !== undefined && !isChanged && !isBackoffReset(crash, last)
  const due = (Number.isNaN(finished) ? now : finished) + (isBackingOff ? crash.backoff : delays.start)
  if (due <= now) return pullAndStart(input, status)
  if (!isBackingOff) return withStatus(input, status, due)
  const { name, namespace, uid } = pod.metadata
  const where = `container ${container.name} in pod ${name}_${namespace ?? ""}(${uid ?? ""})`
  const message = `back-off ${goDuration(crash.backoff)} restarting failed container=${container.name} pod=${name}_${namespace ?? ""}(${uid ?? ""})`
  return {
    status: { ...status, state: waiting("CrashLoopBackOff", message), lastState: { terminated: last } },
    memory,
    wake: due,
    notes: [note(input, "Warning", "BackOff", `Back-off restarting failed ${where}`)]
  }
}

/** As Go prints a duration of whole seconds: `10s`, `1m20s`, `5m0s`. */
const goDuration = (millis: number): string => {
  const seconds = Math.round(millis / 1_000)
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`
}
