/**
 * The phase and conditions of a pod, from the state of its containers. Conditions that others set are kept, and a condition keeps its
 * transition time until its status changes. Source: kubelet getPhase and status/generate.
 */
import type { Pod } from "../../kube/resources.ts"
import * as Machine from "../Machine.ts"
import type { Status } from "./container.ts"

export type Phase = "Pending" | "Running" | "Succeeded" | "Failed"

export type Condition = NonNullable<NonNullable<Pod["status"]>["conditions"]>[number]

/** The state of the containers. `statuses` are those that start after the init containers. */
export interface Containers {
  readonly restartPolicy: string
  readonly isInitialized: boolean
  readonly hasFailedInit: boolean
  readonly statuses: ReadonlyArray<Status>
}

export const phase = ({ hasFailedInit, isInitialized, restartPolicy, statuses }: Containers): Phase => {
  if (hasFailedInit && restartPolicy === "Never") return "Failed"
  if (!isInitialized) return "Pending"
  let running = 0
  let stopped = 0
  let succeeded = 0
  let waiting = 0
  for (const { lastState, state } of statuses) {
    if (state?.running !== undefined) running++
    else if (state?.terminated !== undefined) {
      stopped++
      if (state.terminated.exitCode === 0) succeeded++
    } else if (lastState?.terminated !== undefined) stopped++
    else waiting++
  }
  if (waiting > 0) return "Pending"
  if (running > 0) return "Running"
  if (restartPolicy === "Always" || stopped === 0) return stopped === 0 ? "Pending" : "Running"
  if (stopped === succeeded) return "Succeeded"
  return restartPolicy === "Never" ? "Failed" : "Running"
}

export const isTerminal = (phase: string | undefined): boolean => phase === "Succeeded" || phase === "Failed"

interface Facts {
  readonly phase: Phase
  readonly hasSandbox: boolean
  readonly isInitialized: boolean
  readonly initStatuses: ReadonlyArray<Status>
  readonly statuses: ReadonlyArray<Status>
}

interface Verdict {
  readonly holds: boolean
  readonly reason?: string | undefined
  readonly message?: string | undefined
}

const own = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"] as const

export const conditions = (pod: Pod, facts: Facts, now: number): ReadonlyArray<Condition> => {
  const before = pod.status?.conditions ?? []
  const containers = containersReady(facts)
  const verdicts: Readonly<Record<(typeof own)[number], Verdict>> = {
    PodReadyToStartContainers: { holds: facts.hasSandbox && !isTerminal(facts.phase) },
    Initialized: initialized(facts),
    Ready: containers.holds ? gates(pod, before) : containers,
    ContainersReady: containers,
    PodScheduled: { holds: true }
  }
  const kept = before.filter(({ type }) => !own.some((one) => one === type))
  return [...own.map((type) => entry(type, verdicts[type], before, now)), ...kept]
}

const entry = (type: string, verdict: Verdict, before: ReadonlyArray<Condition>, now: number): Condition => {
  const status = verdict.holds ? "True" : "False"
  const known = before.find((one) => one.type === type)
  const since = known?.status === status ? known.lastTransitionTime : undefined
  return {
    type,
    status,
    // null, as the API writes "never"; the model class does not allow it.
    lastProbeTime: null as unknown as string,
    lastTransitionTime: since ?? Machine.timestamp(now),
    ...(verdict.reason === undefined ? {} : { reason: verdict.reason }),
    ...(verdict.message === undefined ? {} : { message: verdict.message })
  }
}

const named = (statuses: ReadonlyArray<Status>): string => `[${statuses.map(({ name }) => name).join(" ")}]`

const initialized = ({ initStatuses, isInitialized, phase }: Facts): Verdict => {
  if (isInitialized) return { holds: true, reason: phase === "Succeeded" ? "PodCompleted" : undefined }
  const open = initStatuses.filter(({ started, state }) => state?.terminated?.exitCode !== 0 && started !== true)
  return {
    holds: false,
    reason: "ContainersNotInitialized",
    message: `containers with incomplete status: ${named(open)}`
  }
}

const containersReady = ({ initStatuses, phase, statuses }: Facts): Verdict => {
  if (phase === "Succeeded") return { holds: false, reason: "PodCompleted" }
  if (phase === "Failed") return { holds: false, reason: "PodFailed" }
  // Init containers that run on are sidecars.
  const sidecars = initStatuses.filter(({ state }) => state?.running !== undefined)
  const unready = [...sidecars, ...statuses].filter(({ ready }) => !ready)
  return unready.length === 0
    ? { holds: true }
    : { holds: false, reason: "ContainersNotReady", message: `containers with unready status: ${named(unready)}` }
}

const gates = (pod: Pod, conditions: ReadonlyArray<Condition>): Verdict => {
  const messages = (pod.spec?.readinessGates ?? []).flatMap(({ conditionType }) => {
    const found = conditions.find(({ type }) => type === conditionType)
    if (found === undefined) return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`]
    return found.status === "True"
      ? []
      : [`the status of pod readiness gate "${conditionType}" is not "True", but ${found.status}`]
  })
  return messages.length === 0
    ? { holds: true }
    : { holds: false, reason: "ReadinessGatesNotReady", message: messages.join(", ") }
}
