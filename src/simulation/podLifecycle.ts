/**
 * What a kubelet does next with one pod: a total function of the pod, the machine, the time and a little memory. It works from the API
 * object, so a restarted kubelet continues correctly, and the same input gives the same step. Each step is one write, so that watches show
 * every state. `pod/container` has the steps of a container, `pod/conditions` the phase and conditions; this module has their order:
 * admission, init containers one after another, the other containers, the end, and deletion. Ephemeral containers start when they are added
 * and change neither the phase nor the readiness of the pod.
 */
import type { Pod } from "../kube/resources.ts"
import * as Machine from "./Machine.ts"
import * as Requests from "./placement/requests.ts"
import type * as Behavior from "./pod/behavior.ts"
import * as Conditions from "./pod/conditions.ts"
import * as Container from "./pod/container.ts"

export type Delays = Container.Delays

export const standard: Delays = { start: 1_000, stop: 1_000 }

/** What the kubelet remembers of a pod besides the API object. */
export interface Memory {
  readonly containers: Readonly<Record<string, Container.Memory>>
  /** Whether the Killing events have been recorded. */
  readonly isStopping: boolean
}

export const nothingKnown: Memory = { containers: {}, isStopping: false }

export type Status = NonNullable<Pod["status"]>

/** Write `status`, if there is one, keep `memory`, record `notes`, and look again at `wake` if nothing changes before. */
export interface Step {
  readonly status: Status | undefined
  /** The containers have stopped, so the object may be deleted. */
  readonly isRemovable: boolean
  /** Milliseconds since 1970. */
  readonly wake: number | undefined
  readonly memory: Memory
  readonly notes: ReadonlyArray<Container.Note>
}

/** A fault of the machine that affects a pod once. */
export type Fault =
  /** The container, or each one if none is named, ends now if it runs. */
  | { readonly _tag: "Crash"; readonly container: string | undefined; readonly exitCode: number }
  /** The pod is evicted: it fails for good. */
  | { readonly _tag: "Evict"; readonly message: string }

/** The input besides the pod and the time. */
export interface Input {
  readonly machine: Machine.Machine
  readonly delays: Delays
  readonly memory: Memory
  /** Called when the pod needs an address; undefined means that the network has none left, and the pod waits. */
  readonly address: () => string | undefined
  /** Images that cannot be pulled. */
  readonly isBad: (image: string) => boolean
  /** Why the kubelet rejects the pod; called once, before the pod starts. */
  readonly refusal?: ((pod: Pod) => Refusal | undefined) | undefined
  readonly fault?: Fault | undefined
}

export interface Refusal {
  readonly reason: string
  readonly message: string
}

const unchanged = (memory: Memory, wake?: number): Step => ({
  status: undefined,
  isRemovable: false,
  wake,
  memory,
  notes: []
})

export const next = (pod: Pod, input: Input, now: number): Step => {
  const { fault, machine, memory } = input
  if (pod.spec?.nodeName !== machine.name) return unchanged(memory)
  if (pod.metadata.deletionTimestamp !== undefined) return terminate(pod, input, now)
  if (Conditions.isTerminal(pod.status?.phase)) return unchanged(memory)
  if (fault?._tag === "Evict") return evicted(pod, input, fault.message, now)
  if (pod.status?.startTime === undefined) return admit(pod, input, now)
  const start = Date.parse(pod.status.startTime)
  return runPod(pod, input, Number.isNaN(start) ? now : start, now)
}

const admit = (pod: Pod, input: Input, now: number): Step => {
  const refusal = input.refusal?.(pod)
  if (refusal === undefined) return runPod(pod, input, startOf(now), now)
  const note: Container.Note = { type: "Warning", reason: refusal.reason, message: refusal.message }
  const status: Status = { ...pod.status, ...refusal, phase: "Failed", startTime: Machine.timestamp(now) }
  return { ...unchanged(input.memory), status, notes: [note] }
}

/** The API stores whole seconds, so later steps calculate with whole seconds. */
const startOf = (now: number): number => Math.floor(now / 1_000) * 1_000

type Policy = Container.Input["policy"]

const policyOf = (pod: Pod): Policy => {
  const policy = pod.spec?.restartPolicy
  return policy === "Never" || policy === "OnFailure" ? policy : "Always"
}

interface ContainerSteps {
  readonly initStatuses: ReadonlyArray<Container.Status>
  readonly statuses: ReadonlyArray<Container.Status>
  readonly ephemeralStatuses: ReadonlyArray<Container.Status>
  readonly memory: Memory
  readonly wakes: ReadonlyArray<number | undefined>
  readonly notes: ReadonlyArray<Container.Note>
  /** Every init container has succeeded or, if it is a sidecar, has started. */
  readonly isInitialized: boolean
  readonly hasFailedInit: boolean
}

/** One step of every container, in order; `start` is when the first of them may run. */
const stepContainers = (pod: Pod, input: Input, start: number, now: number): ContainerSteps => {
  const { delays, fault, isBad } = input
  const inits = pod.spec?.initContainers ?? []
  const wasInitialized =
    inits.length === 0 ||
    pod.status?.conditions?.some((one) => one.type === "Initialized" && one.status === "True") === true
  const idle = inits.length > 0 ? "PodInitializing" : "ContainerCreating"
  const memories: Record<string, Container.Memory> = {}
  const wakes: Array<number | undefined> = []
  const notes: Array<Container.Note> = []
  const step = (container: Container.Container, role: Behavior.Role, turn: number | undefined, policy: Policy) => {
    const before = statusesOf(pod, role).find(({ name }) => name === container.name)
    const memory = input.memory.containers[container.name] ?? {}
    const killed = exitOf(fault, container)
    const own = { pod, container, before, memory, turn, policy, role, delays, killed }
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
    const status = step(container, Requests.isSidecar(container) ? "sidecar" : "init", turn, policy)
    if (turn !== undefined) turn = nextTurn(container, status)
    if (wasInitialized) turn ??= start
    if (!Requests.isSidecar(container) && (status.state?.terminated?.exitCode ?? 0) !== 0) hasFailedInit = true
    return status
  })
  const isInitialized = wasInitialized || turn !== undefined
  const statuses = (pod.spec?.containers ?? []).map((container) => step(container, "app", turn, policyOf(pod)))
  const ephemeralStatuses = (pod.spec?.ephemeralContainers ?? []).map((container) =>
    step(container, "ephemeral", start, "Never")
  )
  const memory = { ...input.memory, containers: memories }
  return { initStatuses, statuses, ephemeralStatuses, memory, wakes, notes, isInitialized, hasFailedInit }
}

const statusesOf = ({ status }: Pod, role: Behavior.Role): ReadonlyArray<Container.Status> => {
  if (role === "app") return status?.containerStatuses ?? []
  return (role === "ephemeral" ? status?.ephemeralContainerStatuses : status?.initContainerStatuses) ?? []
}

/** The exit code with which a fault ends the container now. */
const exitOf = (fault: Fault | undefined, { name }: Container.Container): number | undefined =>
  fault?._tag === "Crash" && (fault.container ?? name) === name ? fault.exitCode : undefined

/** Since when the next container may run; undefined while this one holds it up. */
const nextTurn = (container: Container.Container, { started, state }: Container.Status): number | undefined => {
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

const runPod = (pod: Pod, input: Input, start: number, now: number): Step => {
  const deadline = pod.spec?.activeDeadlineSeconds
  const due = deadline === undefined ? undefined : start + deadline * 1_000
  if (due !== undefined && due <= now) return deadlineExceeded(pod, input, start, now)
  const sandbox = start + input.delays.start
  const hasSandbox = sandbox <= now
  const address = hasSandbox ? addressOf(pod, input) : undefined
  if (hasSandbox && address === undefined) return unchanged(input.memory, now + Math.max(1_000, input.delays.start))
  const steps = stepContainers(pod, input, start, now)
  const phase = Conditions.phase({ ...steps, restartPolicy: policyOf(pod) })
  const settled = (statuses: ReadonlyArray<Container.Status>) =>
    Conditions.isTerminal(phase) ? statuses.map((one) => endIfRunning(one, 0, now)) : statuses
  const initStatuses = settled(steps.initStatuses)
  const ephemeralStatuses = settled(steps.ephemeralStatuses)
  const parts = { ...steps, initStatuses, ephemeralStatuses, phase, hasSandbox, address, start }
  const status = statusOf(pod, input.machine, parts, now)
  const isNew = pod.status === undefined || isStatusChanged(status, pod.status)
  const wake = Container.earliest([...steps.wakes, due, hasSandbox ? undefined : sandbox])
  return {
    status: isNew ? status : undefined,
    isRemovable: false,
    wake: Conditions.isTerminal(phase) ? undefined : wake,
    memory: steps.memory,
    notes: steps.notes
  }
}

const addressOf = (pod: Pod, { address, machine }: Input): string | undefined =>
  pod.status?.podIP ?? (pod.spec?.hostNetwork === true ? Machine.address(machine) : address())

interface StatusParts {
  readonly phase: Conditions.Phase
  readonly initStatuses: ReadonlyArray<Container.Status>
  readonly statuses: ReadonlyArray<Container.Status>
  readonly ephemeralStatuses: ReadonlyArray<Container.Status>
  readonly isInitialized: boolean
  readonly hasSandbox: boolean
  readonly address: string | undefined
  readonly start: number
}

const statusOf = (pod: Pod, machine: Machine.Machine, parts: StatusParts, now: number): Status => ({
  ...pod.status,
  phase: parts.phase,
  hostIP: Machine.address(machine),
  hostIPs: [{ ip: Machine.address(machine) }],
  ...(parts.address === undefined ? {} : { podIP: parts.address, podIPs: [{ ip: parts.address }] }),
  startTime: pod.status?.startTime ?? Machine.timestamp(parts.start),
  qosClass: pod.status?.qosClass ?? Requests.qosClass(pod),
  conditions: Conditions.conditions(pod, parts, now),
  ...(parts.initStatuses.length === 0 ? {} : { initContainerStatuses: parts.initStatuses }),
  containerStatuses: parts.statuses,
  ...(parts.ephemeralStatuses.length === 0 ? {} : { ephemeralContainerStatuses: parts.ephemeralStatuses })
})

/**
 * Whether a status differs from the one before in fields that every server stores: an older server drops fields that it does not know, and
 * comparing them would write the status again and again.
 */
const isStatusChanged = (next: Status, before: Status): boolean =>
  next.phase !== before.phase ||
  next.podIP !== before.podIP ||
  next.startTime !== before.startTime ||
  !(next.conditions ?? []).every((one) => (before.conditions ?? []).some((other) => isSameCondition(one, other))) ||
  !areSameContainers(next.initContainerStatuses, before.initContainerStatuses) ||
  !areSameContainers(next.containerStatuses, before.containerStatuses) ||
  !areSameContainers(next.ephemeralContainerStatuses, before.ephemeralContainerStatuses)

const isSameCondition = (a: Conditions.Condition, b: Conditions.Condition): boolean =>
  a.type === b.type &&
  a.status === b.status &&
  (a.reason ?? "") === (b.reason ?? "") &&
  (a.message ?? "") === (b.message ?? "")

const areSameContainers = (a: Status["containerStatuses"] = [], b: Status["containerStatuses"] = []): boolean =>
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

const endIfRunning = (status: Container.Status, exitCode: number, now: number): Container.Status =>
  status.state?.running === undefined ? status : Container.ended(status, exitCode, now)

/** The status with every running container ended, all with this code. */
const withEndedContainers = (
  pod: Pod,
  input: Input,
  phase: "Succeeded" | "Failed",
  exitCode: number,
  now: number
): Status => {
  const settled = (role: Behavior.Role) => statusesOf(pod, role).map((one) => endIfRunning(one, exitCode, now))
  const start = Date.parse(String(pod.status?.startTime))
  const parts: StatusParts = {
    phase,
    initStatuses: settled("init"),
    statuses: settled("app"),
    ephemeralStatuses: settled("ephemeral"),
    isInitialized: pod.status?.conditions?.some((one) => one.type === "Initialized" && one.status === "True") === true,
    hasSandbox: false,
    address: pod.status?.podIP,
    start: Number.isNaN(start) ? startOf(now) : start
  }
  return statusOf(pod, input.machine, parts, now)
}

/** The exit code of a process that was killed (SIGKILL). */
const killed = 137

/** The exit code of a process that ended by SIGTERM. */
const terminated = 143

const deadlineExceeded = (pod: Pod, input: Input, start: number, now: number): Step => {
  const message = "Pod was active on the node longer than the specified deadline"
  const status = { ...withEndedContainers(pod, input, "Failed", killed, now), reason: "DeadlineExceeded", message }
  const notes: ReadonlyArray<Container.Note> = [{ type: "Normal", reason: "DeadlineExceeded", message }]
  return { ...unchanged(input.memory), status: { ...status, startTime: Machine.timestamp(start) }, notes }
}

/** As a kubelet does that is short of a resource. Source: kubelet eviction manager. */
const evicted = (pod: Pod, input: Input, message: string, now: number): Step => {
  const status = withEndedContainers(pod, input, "Failed", killed, now)
  const target: Conditions.Condition = {
    type: "DisruptionTarget",
    status: "True",
    reason: "TerminationByKubelet",
    message,
    lastTransitionTime: Machine.timestamp(now)
  }
  const conditions = [...(status.conditions ?? []).filter(({ type }) => type !== target.type), target]
  const notes: ReadonlyArray<Container.Note> = [{ type: "Warning", reason: "Evicted", message }]
  return { ...unchanged(input.memory), status: { ...status, reason: "Evicted", message, conditions }, notes }
}

const isRunning = ({ state }: Container.Status): boolean => state?.running !== undefined

/**
 * Containers stop within the grace period, or are killed at its end; then the status reports it, then the object is deleted. An object with
 * finalizers stays, and the kubelet is done with it.
 */
const terminate = (pod: Pod, input: Input, now: number): Step => {
  const { delays, memory } = input
  const grace = pod.metadata.deletionGracePeriodSeconds ?? 0
  const running = (["init", "app", "ephemeral"] as const).flatMap((role) => statusesOf(pod, role)).filter(isRunning)
  if (running.length === 0) {
    const isHeld = (pod.metadata.finalizers ?? []).length > 0
    // The finalizers' controllers need a final status, and this pod never started.
    if (isHeld && !Conditions.isTerminal(pod.status?.phase))
      return { ...unchanged(memory), status: withEndedContainers(pod, input, "Failed", killed, now) }
    return { ...unchanged(memory), isRemovable: grace > 0 || !isHeld }
  }
  const deletionTime = Date.parse(pod.metadata.deletionTimestamp ?? "")
  const deadline = Number.isNaN(deletionTime) ? now : deletionTime
  const stopped = deadline - grace * 1_000 + delays.stop
  const at = Math.min(stopped, deadline)
  const notes: ReadonlyArray<Container.Note> = memory.isStopping ? [] : running.map(killing)
  if (now < at) return { ...unchanged({ ...memory, isStopping: true }, at), notes }
  const failed = (pod.status?.containerStatuses ?? []).some(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0)
  // A server ends cleanly at SIGTERM; work that would have ended by itself is cut off.
  const code = stopped > deadline ? killed : policyOf(pod) === "Always" ? 0 : terminated
  const status = withEndedContainers(pod, input, failed || code !== 0 ? "Failed" : "Succeeded", code, now)
  return { ...unchanged({ ...memory, isStopping: true }), status, notes }
}

const killing = ({ name }: Container.Status): Container.Note => ({
  type: "Normal",
  reason: "Killing",
  message: `Stopping container ${name}`,
  fieldPath: `spec.containers{${name}}`
})
