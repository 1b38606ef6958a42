/**
 * One container's life, one step at a time: what its status becomes now, given what it was, and when to look again. Pulling,
 * starting, getting ready, ending, waiting out a back-off, starting again. A total function; what the API's status does not
 * say (how long the present back-off is) is in `Memory`, which a kubelet loses when it restarts, as the real one does.
 * Source: kubelet status and back-off rules (10 s doubling to 300 s, forgotten after 10 minutes without a crash).
 */
import type { Pod } from "../../kube/resources.ts"
import * as Machine from "../Machine.ts"
import * as Program from "./program.ts"

export type Container = NonNullable<Pod["spec"]>["containers"][number]
export type Status = NonNullable<NonNullable<Pod["status"]>["containerStatuses"]>[number]
export type Terminated = NonNullable<NonNullable<Status["state"]>["terminated"]>

export interface Delays {
  /** Milliseconds a container takes from its turn to running: pulling and starting. */
  readonly start: number
  /** Milliseconds a container takes to stop; the grace period bounds it. */
  readonly stop: number
}

/** Times and durations are milliseconds. */
export interface Memory {
  /** The latest pull: of what, when it failed, and how long to wait; 0 while it is being tried. */
  readonly pull?: { readonly image: string; readonly at: number; readonly backoff: number } | undefined
  /** The wait after the next crash, and when it was last made longer. */
  readonly crash?: { readonly backoff: number; readonly at: number } | undefined
}

/** Something worth an event. */
export interface Note {
  readonly type: "Normal" | "Warning"
  readonly reason: string
  readonly message: string
  /** The container that is meant. */
  readonly fieldPath?: string | undefined
}

export interface Given {
  readonly pod: Pod
  readonly container: Container
  readonly before: Status | undefined
  readonly memory: Memory
  /** Since when it may run; undefined while others have to come first. */
  readonly turn: number | undefined
  readonly policy: "Always" | "OnFailure" | "Never"
  readonly isInit: boolean
  /** Why it waits before its first start. */
  readonly idle: "ContainerCreating" | "PodInitializing"
  readonly isBad: (image: string) => boolean
  readonly delays: Delays
  /** The code with which it is made to end now, if it runs. */
  readonly killed?: number | undefined
  readonly now: number
}

export interface Next {
  readonly status: Status
  readonly memory: Memory
  /** When to look again if nothing changes before; undefined: not because of time. */
  readonly wake: number | undefined
  readonly notes: ReadonlyArray<Note>
}

export const backoff = { first: 10_000, most: 300_000, forget: 600_000 } as const

/** How long a failed pull shows as such before it shows as waiting. */
const showFailure = 1_000

export const advance = (given: Given): Next => {
  const { before, killed, now } = given
  if (before?.state?.running !== undefined)
    return killed === undefined
      ? whileRunning(given, before, before.state.running.startedAt)
      : stay(given, ended(before, killed, now))
  if (before?.state?.terminated !== undefined) return afterExit(given, before, before.state.terminated)
  return whileWaiting(given, before ?? idle(given))
}

const idle = ({ container, idle }: Given): Status => ({
  name: container.name,
  image: container.image ?? "",
  imageID: "",
  ready: false,
  started: false,
  restartCount: 0,
  state: { waiting: { reason: idle } },
  lastState: {}
})

const stay = ({ memory }: Given, status: Status, wake?: number): Next => ({ status, memory, wake, notes: [] })

const imageOf = ({ container }: Given): string => container.image ?? ""

const whileWaiting = (given: Given, status: Status): Next => {
  if (given.turn === undefined) return stay(given, status)
  switch (status.state?.waiting?.reason) {
    case "ErrImagePull":
    case "ImagePullBackOff":
      return whilePulling(given, status)
    case "CrashLoopBackOff": {
      const finished = Date.parse(String(status.lastState?.terminated?.finishedAt))
      const { crash } = given.memory
      const isChanged = status.image !== imageOf(given)
      const due = crash === undefined || isChanged || Number.isNaN(finished) ? given.now : finished + crash.backoff
      return due <= given.now ? attempt(given, status) : stay(given, status, due)
    }
    default: {
      const due = given.turn + given.delays.start
      return due <= given.now ? attempt(given, status) : stay(given, status, due)
    }
  }
}

/** A pull has failed. It is tried again after a while, and at once when another image is wanted. */
const whilePulling = (given: Given, status: Status): Next => {
  const { delays, memory, now } = given
  const image = imageOf(given)
  if (memory.pull?.image !== image) {
    const pull = { image, at: now, backoff: 0 }
    return { ...stay(given, status, now + delays.start), memory: { ...memory, pull } }
  }
  const { at, backoff } = memory.pull
  const due = at + (backoff === 0 ? delays.start : backoff)
  if (now >= due) return attempt(given, status)
  if (backoff === 0 || status.state?.waiting?.reason === "ImagePullBackOff") return stay(given, status, due)
  if (now < at + showFailure) return stay(given, status, at + showFailure)
  const message = `Back-off pulling image ${JSON.stringify(image)}`
  return {
    status: { ...status, state: { waiting: { reason: "ImagePullBackOff", message } } },
    memory,
    wake: due,
    notes: [note(given, "Normal", "BackOff", message), note(given, "Warning", "Failed", "Error: ImagePullBackOff")]
  }
}

const note = ({ container, isInit }: Given, type: Note["type"], reason: string, message: string): Note => ({
  type,
  reason,
  message,
  fieldPath: `spec.${isInit ? "initContainers" : "containers"}{${container.name}}`
})

/** Pulls and starts. */
const attempt = (given: Given, before: Status): Next => {
  const { container, isBad, memory, now, pod } = given
  const image = imageOf(given)
  const quoted = JSON.stringify(image)
  const last = before.state?.terminated ?? before.lastState?.terminated
  const lastState = last === undefined ? {} : { terminated: last }
  const count = last === undefined ? before.restartCount : before.restartCount + 1
  const pulling = note(given, "Normal", "Pulling", `Pulling image ${quoted}`)
  if (isBad(image)) {
    const known = memory.pull?.image === image ? memory.pull.backoff : 0
    const wait = known === 0 ? backoff.first : Math.min(known * 2, backoff.most)
    const why = `rpc error: code = NotFound desc = failed to pull image ${quoted}: not found`
    return {
      status: { ...before, ready: false, started: false, state: waiting("ErrImagePull", why), lastState },
      memory: { ...memory, pull: { image, at: now, backoff: wait } },
      wake: now + showFailure,
      notes: [
        pulling,
        note(given, "Warning", "Failed", `Failed to pull image ${quoted}: ${why}`),
        note(given, "Warning", "Failed", "Error: ErrImagePull")
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
  const running = whileRunning({ ...given, memory: remember(given, last, before) }, started, Machine.timestamp(now))
  return {
    ...running,
    // Shown running once, even if it ends in the same instant.
    status: running.status.state?.running === undefined ? started : running.status,
    wake: running.status.state?.running === undefined ? now : running.wake,
    notes: [
      ...(again
        ? [note(given, "Normal", "Pulled", `Container image ${quoted} already present on machine`)]
        : [pulling, note(given, "Normal", "Pulled", `Successfully pulled image ${quoted}`)]),
      note(given, "Normal", "Created", `Created container: ${container.name}`),
      note(given, "Normal", "Started", `Started container ${container.name}`)
    ]
  }
}

const waiting = (reason: string, message: string) => ({ waiting: { reason, message } })

/** A start that follows an end makes the wait after the next one longer; a long quiet time, or another image, forgets. */
const remember = (given: Given, last: Terminated | undefined, before: Status): Memory => {
  if (last === undefined) return {}
  const { crash } = given.memory
  const isNew = crash === undefined || before.image !== imageOf(given) || isForgotten(crash, last)
  return { crash: { backoff: isNew ? backoff.first : Math.min(crash.backoff * 2, backoff.most), at: given.now } }
}

const isForgotten = (crash: NonNullable<Memory["crash"]>, last: Terminated): boolean =>
  Date.parse(String(last.finishedAt)) - crash.at > backoff.forget

const whileRunning = (given: Given, status: Status, startedAt: string | undefined): Next => {
  const { container, now, pod } = given
  const start = Date.parse(String(startedAt))
  // What says no time has been running since now: nothing here may depend on a number that is none.
  const since = Number.isNaN(start) ? now : start
  if (status.image !== imageOf(given)) {
    const message = `Container ${container.name} definition changed, will be restarted`
    return { ...stay(given, ended(status, 0, now), now), notes: [note(given, "Normal", "Killing", message)] }
  }
  const exit = Program.exitOf(pod, container)
  const exitAt = exit === undefined ? undefined : since + exit.after
  if (exit !== undefined && exitAt !== undefined && exitAt <= now)
    return stay(given, ended(status, exit.code, exitAt), now)
  const startedUpAt = probed(container.startupProbe, since)
  const readyAt = Math.max(startedUpAt, probed(container.readinessProbe, since))
  const isReady = readyAt <= now && !isRefused(pod, container)
  const wake = earliest([exitAt, startedUpAt, readyAt].filter((at) => at !== undefined && at > now))
  return stay(given, { ...status, started: startedUpAt <= now, ready: isReady }, wake)
}

type Probe = Container["readinessProbe"]

/** When a probe has succeeded often enough. The first one is made after the initial delay, then one each period. */
const probed = (probe: Probe, since: number): number =>
  probe === undefined
    ? since
    : since +
      Math.max(0, probe.initialDelaySeconds ?? 0) * 1_000 +
      (Math.max(1, probe.successThreshold ?? 1) - 1) * Math.max(1, probe.periodSeconds ?? 10) * 1_000

/** By annotation, or because the probe runs a command that is known to fail. */
const isRefused = (pod: Pod, container: Container): boolean => {
  if (Program.isHeldUnready(pod, container.name)) return true
  const exit = Program.run(container.readinessProbe?.exec?.command ?? [])
  return exit !== undefined && exit.code !== 0
}

export const earliest = (times: ReadonlyArray<number | undefined>): number | undefined => {
  let first: number | undefined
  for (const time of times) if (time !== undefined && (first === undefined || time < first)) first = time
  return first
}

/** The status of a container that ran and has ended. */
export const ended = (status: Status, exitCode: number, at: number): Status => ({
  ...status,
  ready: false,
  started: false,
  state: {
    terminated: {
      exitCode,
      reason: exitCode === 0 ? "Completed" : "Error",
      ...(status.state?.running?.startedAt === undefined ? {} : { startedAt: status.state.running.startedAt }),
      finishedAt: Machine.timestamp(at),
      ...(status.containerID === undefined ? {} : { containerID: status.containerID })
    }
  }
})

/** Whether a container that has ended stays so. */
export const staysEnded = (status: Status, container: Container, policy: Given["policy"]): boolean => {
  const { terminated } = status.state ?? {}
  if (terminated === undefined || status.image !== (container.image ?? "")) return false
  return policy === "Never" || (policy === "OnFailure" && terminated.exitCode === 0)
}

const afterExit = (given: Given, status: Status, last: Terminated): Next => {
  const { container, delays, memory, now, pod, policy } = given
  if (given.turn === undefined || staysEnded(status, container, policy)) return stay(given, status)
  const finished = Date.parse(String(last.finishedAt))
  const isChanged = status.image !== imageOf(given)
  const { crash } = memory
  const isBackingOff = crash !== undefined && !isChanged && !isForgotten(crash, last)
  const due = (Number.isNaN(finished) ? now : finished) + (isBackingOff ? crash.backoff : delays.start)
  if (due <= now) return attempt(given, status)
  if (!isBackingOff) return stay(given, status, due)
  const { name, namespace, uid } = pod.metadata
  const where = `container ${container.name} in pod ${name}_${namespace ?? ""}(${uid ?? ""})`
  const message = `back-off ${pretty(crash.backoff)} restarting failed container=${container.name} pod=${name}_${namespace ?? ""}(${uid ?? ""})`
  return {
    status: { ...status, state: waiting("CrashLoopBackOff", message), lastState: { terminated: last } },
    memory,
    wake: due,
    notes: [note(given, "Warning", "BackOff", `Back-off restarting failed ${where}`)]
  }
}

/** As Go prints a duration of whole seconds: `10s`, `1m20s`, `5m0s`. */
const pretty = (millis: number): string => {
  const seconds = Math.round(millis / 1_000)
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`
}
