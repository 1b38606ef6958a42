/**
 * Evaluates `successPolicy`, by which an indexed Job can succeed before all of its indexes have, and `podFailurePolicy`, which says what a failed
 * pod means for its Job. The first matching rule decides. Without a policy or a matching rule a failure counts. Source: pkg/controller/job:
 * matchSuccessPolicy, matchPodFailurePolicy.
 */
import type { Job, Pod } from "../../../kube/resources.ts"
import * as Pods from "../pods.ts"
import * as Spec from "../spec.ts"
import * as Indexes from "./indexes.ts"

export type Action = "FailJob" | "FailIndex" | "Ignore" | "Count"

export interface Match {
  /** Undefined if no rule matched. */
  readonly action: Action | undefined
  /** Whether the failure counts towards the backoff limits. */
  readonly counts: boolean
  /** The message of the Job's condition; only with `FailJob`. */
  readonly message: string | undefined
}

const unmatched: Match = { action: undefined, counts: true, message: undefined }

type Rule = NonNullable<NonNullable<Job["spec"]>["podFailurePolicy"]>["rules"][number]
type ExitCodes = NonNullable<Rule["onExitCodes"]>
type PodStatus = Pod["status"]

export const match = (job: Job, pod: Pod): Match => {
  for (const [index, rule] of (job.spec?.podFailurePolicy?.rules ?? []).entries()) {
    const reason = cause(rule, pod)
    if (reason === undefined) continue
    switch (rule.action) {
      case "FailJob":
        return { action: "FailJob", counts: true, message: `${reason} matching FailJob rule at index ${index}` }
      case "Ignore":
        return { action: "Ignore", counts: false, message: undefined }
      case "FailIndex":
      case "Count":
        return { action: rule.action, counts: true, message: undefined }
    }
  }
  return unmatched
}

/** The message of the first failed pod that a FailJob rule matches; undefined if there is none. */
export const failJobMessage = (job: Job, pods: ReadonlyArray<Pod>): string | undefined => {
  if (job.spec?.podFailurePolicy === undefined) return undefined
  for (const pod of pods) {
    const message = Pods.hasFailed(pod, job) ? match(job, pod).message : undefined
    if (message !== undefined) return message
  }
  return undefined
}

/** The part of the message that names what the rule matched; undefined if it does not match. */
const cause = ({ onExitCodes, onPodConditions }: Rule, pod: Pod): string | undefined => {
  const name = `${pod.metadata.namespace}/${pod.metadata.name}`
  if (onExitCodes !== undefined) {
    const exit = matchingExit(pod.status, onExitCodes)
    return exit && `Container ${exit.container} for pod ${name} failed with exit code ${exit.code}`
  }
  const condition = pod.status?.conditions?.find(({ status, type }) =>
    // The server defaults the status of a pattern to True.
    onPodConditions?.some((pattern) => pattern.type === type && (pattern.status ?? "True") === status)
  )
  return condition && `Pod ${name} has condition ${condition.type}`
}

const matchingExit = (status: PodStatus, { containerName, operator, values }: ExitCodes) => {
  for (const { name, state } of [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])]) {
    const code = state?.terminated?.exitCode
    if (code === undefined || code === 0 || (containerName !== undefined && containerName !== name)) continue
    if ((operator === "In" && values.includes(code)) || (operator === "NotIn" && !values.includes(code)))
      return { container: name, code }
  }
  return undefined
}

/** The position of the first rule that is met; undefined without one. */
export const matchedSuccess = (job: Job, succeeded: Indexes.Indexes): number | undefined => {
  if (succeeded.length === 0) return undefined
  const position = (job.spec?.successPolicy?.rules ?? []).findIndex(({ succeededCount, succeededIndexes }) => {
    if (succeededIndexes === undefined) return succeededCount !== undefined && Indexes.size(succeeded) >= succeededCount
    // Indexes outside the Job's completions cannot succeed, so they are not required.
    const wanted = Indexes.parse(succeededIndexes, Spec.indexCount(job))
    const enough = Math.min(succeededCount ?? Infinity, Indexes.size(wanted))
    return wanted.length > 0 && Indexes.common(wanted, succeeded) >= enough
  })
  return position === -1 ? undefined : position
}
