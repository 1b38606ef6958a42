/**
 * What a kubelet does next with one pod: a total function of the pod, the machine, the time and a little memory. It works from
 * the API object, so it gives the same answer after a restart and when asked twice; each step is one write, so that every
 * state is seen by those who watch. Containers are `pod/container`, what they add up to is `pod/conditions`; here is their
 * order: admission, init containers one after another, the others, the end, and deletion.
 */
import type { Pod } from "../kube/resources.ts"
import * as Machine from "./Machine.ts"
import * as Requests from "./placement/requests.ts"
import * as Conditions from "./pod/conditions.ts"
import * as Container from "./pod/container.ts"

export type Delays = Container.Delays

export const standard: Delays = { start: 1_000, stop: 1_000 }

/** What the kubelet remembers of a pod beside the API object. */
export interface Memory {
  readonly containers: Readonly<Record<string, Container.Memory>>
  /** Whether the stop has been announced. */
  readonly isStopping: boolean
}

export const nothingKnown: Memory = { containers: {}, isStopping: false }

export type Status = NonNullable<Pod["status"]>

/** Write `status`, if there is one, keep `memory`, record `notes`; look again at `wake` if nothing changes before. */
export interface Step {
  readonly status: Status | undefined
  /** The containers have stopped: the object may go. */
  readonly isRemovable: boolean
  /** Milliseconds, absolute. */
  readonly wake: number | undefined
  readonly memory: Memory
  readonly notes: ReadonlyArray<Container.Note>
}

/** What a machine does to a pod, once, without having been asked by the API. */
export type Fate =
  /** The container, or each one if none is named, ends now if it runs. */
  | { readonly _tag: "Crash"; readonly container: string | undefined; readonly exitCode: number }
  /** The pod is put to an end for good. */
  | { readonly _tag: "Evict"; readonly message: string }

/** All but the pod and the time. */
export interface Given {
  readonly machine: Machine.Machine
  readonly delays: Delays
  readonly memory: Memory
  /** Asked when the pod needs one; undefined means that the network is full, and the pod waits. */
  readonly address: () => string | undefined
  /** Images that cannot be pulled. */
  readonly isBad: (image: string) => boolean
  /** Why the machine does not take the pod; asked once, before it starts. */
  readonly refusal?: ((pod: Pod) => Refusal | undefined) | undefined
  readonly fate?: Fate | undefined
}

export interface Refusal {
  readonly reason: string
  readonly message: string
}

const rest = (memory: Memory, wake?: number): Step => ({
  status: undefined,
  isRemovable: false,
  wake,
  memory,
  notes: []
})

export const next = (pod: Pod, given: Given, now: number): Step => {
  const { fate, machine, memory } = given
  if (pod.spec?.nodeName !== machine.name) return rest(memory)
  if (pod.metadata.deletionTimestamp !== undefined) return stopping(pod, given, now)
  if (Conditions.isTerminal(pod.status?.phase)) return rest(memory)
  if (fate?._tag === "Evict") return evicted(pod, given, fate.message, now)
  if (pod.status?.startTime === undefined) return admit(pod, given, now)
  const start = Date.parse(pod.status.startTime)
  return living(pod, given, Number.isNaN(start) ? now : start, now)
}

const admit = (pod: Pod, given: Given, now: number): Step => {
  const refusal = given.refusal?.(pod)
  if (refusal === undefined) return living(pod, given, startOf(now), now)
  const note: Container.Note = { type: "Warning", reason: refusal.reason, message: refusal.message }
  const status: Status = { ...pod.status, ...refusal, phase: "Failed", startTime: Machine.timestamp(now) }
  return { ...rest(given.memory), status, notes: [note] }
}

/** The API keeps whole seconds; what follows from a time follows from what the API keeps. */
const startOf = (now: number): number => Math.floor(now / 1_000) * 1_000

type Policy = Container.Given["policy"]

const policyOf = (pod: Pod): Policy => {
  const policy = pod.spec?.restartPolicy
  return policy === "Never" || policy === "OnFailure" ? policy : "Always"
}

interface Walk {
  readonly initStatuses: ReadonlyArray<Container.Status>
  readonly statuses: ReadonlyArray<Container.Status>
  readonly memory: Memory
  readonly wakes: ReadonlyArray<number | undefined>
  readonly notes: ReadonlyArray<Container.Note>
  /** Every init container has ended well or, if it stays, has started. */
  readonly isInitialized: boolean
  readonly hasFailedInit: boolean
}

/** One step of every container, in order; `turn` is since when the first of them may run. */
const walk = (pod: Pod, given: Given, start: number, now: number): Walk => {
  const { delays, fate, isBad } = given
  const inits = pod.spec?.initContainers ?? []
  const wasInitialized =
    inits.length === 0 ||
    pod.status?.conditions?.some((one) => one.type === "Initialized" && one.status === "True") === true
  const idle = inits.length > 0 ? "PodInitializing" : "ContainerCreating"
  const memories: Record<string, Container.Memory> = {}
  const wakes: Array<number | undefined> = []
  const notes: Array<Container.Note> = []
  const step = (container: Container.Container, isInit: boolean, turn: number | undefined, policy: Policy) => {
    const before = (isInit ? pod.status?.initContainerStatuses : pod.status?.containerStatuses)?.find(
      ({ name }) => name === container.name
    )
    const memory = given.memory.containers[container.name] ?? {}
    const killed = exitOf(fate, container)
    const own = { pod, container, before, memory, turn, policy, isInit, delays, killed }
    const one = Container.advance({ ...own, idle, isBad, now })
    if (one.memory.pull !== undefined || one.memory.crash !== undefined) memories[container.name] = one.memory
    wakes.push(one.wake)
    notes.push(...one.notes)
    return one.status
  }
  let turn: number | undefined = start
  let hasFailedInit = false
  const initStatuses = inits.map((container) => {
    const policy = Requests.isSidecar(container) ? "Always" : policyOf(pod) === "Never" ? "Never" : "OnFailure"
    const status = step(container, true, turn, policy)
    if (turn !== undefined) turn = passed(container, status)
    if (wasInitialized) turn ??= start
    if (!Requests.isSidecar(container) && (status.state?.terminated?.exitCode ?? 0) !== 0) hasFailedInit = true
    return status
  })
  const isInitialized = wasInitialized || turn !== undefined
  const statuses = (pod.spec?.containers ?? []).map((container) => step(container, false, turn, policyOf(pod)))
  const memory = { ...given.memory, containers: memories }
  return { initStatuses, statuses, memory, wakes, notes, isInitialized, hasFailedInit }
}

/** The code with which a container is to end now. */
const exitOf = (fate: Fate | undefined, { name }: Container.Container): number | undefined =>
  fate?._tag === "Crash" && (fate.container ?? name) === name ? fate.exitCode : undefined

/** Since when the next one may run. */
const passed = (container: Container.Container, { started, state }: Container.Status): number | undefined => {
  const since = Requests.isSidecar(container)
    ? started === true
      ? state?.running?.startedAt
      : undefined
    : state?.terminated?.exitCode === 0
      ? state.terminated.finishedAt
      : undefined
  if (since === undefined) return undefined
  const time = Date.parse(since)
  return Number.isNaN(time) ? 0 : time
}

const living = (pod: Pod, given: Given, start: number, now: number): Step => {
  const deadline = pod.spec?.activeDeadlineSeconds
  const due = deadline === undefined ? undefined : start + deadline * 1_000
  if (due !== undefined && due <= now) return overdue(pod, given, start, now)
  const sandbox = start + given.delays.start
  const hasSandbox = sandbox <= now
  const address = hasSandbox ? addressOf(pod, given) : undefined
  if (hasSandbox && address === undefined) return rest(given.memory, now + Math.max(1_000, given.delays.start))
  const walked = walk(pod, given, start, now)
  const phase = Conditions.phase({ ...walked, restartPolicy: policyOf(pod) })
  const initStatuses = Conditions.isTerminal(phase)
    ? walked.initStatuses.map((one) => stop(one, 0, now))
    : walked.initStatuses
  const status = assemble(pod, given.machine, { ...walked, initStatuses, phase, hasSandbox, address, start }, now)
  const isNew = pod.status === undefined || isNews(status, pod.status)
  const wake = Container.earliest([...walked.wakes, due, hasSandbox ? undefined : sandbox])
  return {
    status: isNew ? status : undefined,
    isRemovable: false,
    wake: Conditions.isTerminal(phase) ? undefined : wake,
    memory: walked.memory,
    notes: walked.notes
  }
}

const addressOf = (pod: Pod, { address, machine }: Given): string | undefined =>
  pod.status?.podIP ?? (pod.spec?.hostNetwork === true ? Machine.address(machine) : address())

interface Parts {
  readonly phase: Conditions.Phase
  readonly initStatuses: ReadonlyArray<Container.Status>
  readonly statuses: ReadonlyArray<Container.Status>
  readonly isInitialized: boolean
  readonly hasSandbox: boolean
  readonly address: string | undefined
  readonly start: number
}

const assemble = (pod: Pod, machine: Machine.Machine, parts: Parts, now: number): Status => ({
  ...pod.status,
  phase: parts.phase,
  hostIP: Machine.address(machine),
  hostIPs: [{ ip: Machine.address(machine) }],
  ...(parts.address === undefined ? {} : { podIP: parts.address, podIPs: [{ ip: parts.address }] }),
  startTime: pod.status?.startTime ?? Machine.timestamp(parts.start),
  qosClass: pod.status?.qosClass ?? Requests.qosClass(pod),
  conditions: Conditions.conditions(pod, parts, now),
  ...(parts.initStatuses.length === 0 ? {} : { initContainerStatuses: parts.initStatuses }),
  containerStatuses: parts.statuses
})

/**
 * Whether a status says something else than the one before, in what every server keeps of it: an older server drops fields
 * that it does not know, and what is written again and again for their sake would never come to an end.
 */
const isNews = (next: Status, before: Status): boolean =>
  next.phase !== before.phase ||
  next.podIP !== before.podIP ||
  next.startTime !== before.startTime ||
  !(next.conditions ?? []).every((one) => (before.conditions ?? []).some((other) => isSameCondition(one, other))) ||
  !areSame(next.initContainerStatuses, before.initContainerStatuses) ||
  !areSame(next.containerStatuses, before.containerStatuses)

const isSameCondition = (a: Conditions.Condition, b: Conditions.Condition): boolean =>
  a.type === b.type &&
  a.status === b.status &&
  (a.reason ?? "") === (b.reason ?? "") &&
  (a.message ?? "") === (b.message ?? "")

const areSame = (a: Status["containerStatuses"] = [], b: Status["containerStatuses"] = []): boolean =>
  a.length === b.length &&
  a.every((one) => {
    const other = b.find(({ name }) => name === one.name)
    return other !== undefined && (one === other || isSameContainer(one, other))
  })

const isSameContainer = (a: Container.Status, b: Container.Status): boolean =>
  a.image === b.image &&
  a.ready === b.ready &&
  (a.started === true) === (b.started === true) &&
  a.restartCount === b.restartCount &&
  a.state?.waiting?.reason === b.state?.waiting?.reason &&
  a.state?.waiting?.message === b.state?.waiting?.message &&
  a.state?.running?.startedAt === b.state?.running?.startedAt &&
  a.state?.terminated?.exitCode === b.state?.terminated?.exitCode &&
  a.state?.terminated?.finishedAt === b.state?.terminated?.finishedAt

const stop = (status: Container.Status, exitCode: number, now: number): Container.Status =>
  status.state?.running === undefined ? status : Container.ended(status, exitCode, now)

/** Every container that runs has ended, all with this code. */
const stopped = (pod: Pod, given: Given, phase: "Succeeded" | "Failed", exitCode: number, now: number): Status => {
  const initStatuses = (pod.status?.initContainerStatuses ?? []).map((one) => stop(one, exitCode, now))
  const statuses = (pod.status?.containerStatuses ?? []).map((one) => stop(one, exitCode, now))
  const start = Date.parse(String(pod.status?.startTime))
  const parts: Parts = {
    phase,
    initStatuses,
    statuses,
    isInitialized: pod.status?.conditions?.some((one) => one.type === "Initialized" && one.status === "True") === true,
    hasSandbox: false,
    address: pod.status?.podIP,
    start: Number.isNaN(start) ? startOf(now) : start
  }
  return assemble(pod, given.machine, parts, now)
}

/** The code of a process that was killed. */
const killed = 137

/** The exit code of a process that was terminated before it was done. */
const terminated = 143

const overdue = (pod: Pod, given: Given, start: number, now: number): Step => {
  const message = "Pod was active on the node longer than the specified deadline"
  const status = { ...stopped(pod, given, "Failed", killed, now), reason: "DeadlineExceeded", message }
  const notes: ReadonlyArray<Container.Note> = [{ type: "Normal", reason: "DeadlineExceeded", message }]
  return { ...rest(given.memory), status: { ...status, startTime: Machine.timestamp(start) }, notes }
}

/** As a kubelet that runs out of something does it. Source: kubelet eviction manager. */
const evicted = (pod: Pod, given: Given, message: string, now: number): Step => {
  const status = stopped(pod, given, "Failed", killed, now)
  const target: Conditions.Condition = {
    type: "DisruptionTarget",
    status: "True",
    reason: "TerminationByKubelet",
    message,
    lastTransitionTime: Machine.timestamp(now)
  }
  const conditions = [...(status.conditions ?? []).filter(({ type }) => type !== target.type), target]
  const notes: ReadonlyArray<Container.Note> = [{ type: "Warning", reason: "Evicted", message }]
  return { ...rest(given.memory), status: { ...status, reason: "Evicted", message, conditions }, notes }
}

const isRunning = ({ state }: Container.Status): boolean => state?.running !== undefined

/**
 * Containers stop by themselves within the grace period, or are killed at its end; then the status says so, then the object
 * may go. One that finalizers hold stays, and there is nothing more to do for it here.
 */
const stopping = (pod: Pod, given: Given, now: number): Step => {
  const { delays, memory } = given
  const grace = pod.metadata.deletionGracePeriodSeconds ?? 0
  const running = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])].filter(
    isRunning
  )
  if (running.length === 0) {
    const isHeld = (pod.metadata.finalizers ?? []).length > 0
    // Whoever holds it wants to know how it ended, and it never began.
    if (isHeld && !Conditions.isTerminal(pod.status?.phase))
      return { ...rest(memory), status: stopped(pod, given, "Failed", killed, now) }
    return { ...rest(memory), isRemovable: grace > 0 || !isHeld }
  }
  const given_ = Date.parse(pod.metadata.deletionTimestamp ?? "")
  const deadline = Number.isNaN(given_) ? now : given_
  const at = Math.min(deadline - grace * 1_000 + delays.stop, deadline)
  const notes: ReadonlyArray<Container.Note> = memory.isStopping ? [] : running.map(killing)
  if (now < at) return { ...rest({ ...memory, isStopping: true }, at), notes }
  const inTime = deadline - grace * 1_000 + delays.stop <= deadline
  const failed = (pod.status?.containerStatuses ?? []).some(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0)
  // A server stops at SIGTERM; work that was to end by itself is cut off.
  const code = !inTime ? killed : policyOf(pod) === "Always" ? 0 : terminated
  const status = stopped(pod, given, failed || code !== 0 ? "Failed" : "Succeeded", code, now)
  return { ...rest({ ...memory, isStopping: true }), status, notes }
}

const killing = ({ name }: Container.Status): Container.Note => ({
  type: "Normal",
  reason: "Killing",
  message: `Stopping container ${name}`,
  fieldPath: `spec.containers{${name}}`
})
