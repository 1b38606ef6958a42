/** Workloads that end: Job and CronJob. */
import { condition, lastProbeTime } from "./meta.ts"
import type { Descriptions } from "./meta.ts"

const indexes = "numbers and ranges in ascending order, such as 1,3-5,7"

export const jobs: Descriptions = {
  Job: {
    "": "Runs pods until enough of them have succeeded, and replaces those that fail within limits. After it has ended, it and its pods stay until they are deleted."
  },
  JobSpec: {
    "": "What to run, how often, and what to do about failures. In an existing Job most fields cannot be changed; parallelism, suspend, activeDeadlineSeconds, backoffLimit and ttlSecondsAfterFinished can.",
    activeDeadlineSeconds:
      "Seconds that the Job may run from its start, all retries included. Then its pods are stopped and it fails with reason DeadlineExceeded. While it is suspended the time does not count. Unset: no limit.",
    backoffLimit:
      "How many pods may fail before the Job fails. Pods are created again after 10 s, 20 s, 40 s … up to 10 minutes. Default: 6; no limit if backoffLimitPerIndex is set.",
    backoffLimitPerIndex:
      "How many pods of an index may fail before that index fails; the other indexes continue. Only with completionMode Indexed and restartPolicy Never. Cannot be changed in an existing Job.",
    completionMode:
      "NonIndexed (default): any completions pods must succeed. Indexed: there is one pod for each number from 0 to completions - 1, in the variable JOB_COMPLETION_INDEX, and each must succeed. Cannot be changed in an existing Job.",
    completions:
      "How many pods must succeed. Unset together with parallelism: 1. Unset with parallelism set: the Job is complete when one pod has succeeded and all have ended. With completionMode Indexed it can be changed together with parallelism; otherwise it cannot be changed in an existing Job.",
    managedBy:
      "The controller that runs the Job, as a name with the prefix of a domain. Unset or kubernetes.io/job-controller: the Job controller of Kubernetes. Cannot be changed in an existing Job.",
    manualSelector: "Whether you choose the selector and the labels yourself. Default: false; leave it unset.",
    maxFailedIndexes:
      "How many indexes may fail before the Job fails and the others are stopped. Only with backoffLimitPerIndex. Unset: all are tried.",
    parallelism: "How many pods may run at the same time. Default: 1. 0 stops all pods.",
    podFailurePolicy:
      "How certain failures are treated, by exit code or condition: fail the Job at once, do not count, or count. Only with restartPolicy Never. Cannot be changed in an existing Job.",
    podReplacementPolicy:
      "When a pod is replaced: TerminatingOrFailed, also while it is still ending (default), or Failed, only when it has ended (the only value with podFailurePolicy).",
    selector:
      "Selects the pods of the Job. Set by the server with a label that is unique to the Job. Cannot be changed in an existing Job.",
    successPolicy:
      "When the Job counts as succeeded although not all indexes have. Only with completionMode Indexed. Cannot be changed in an existing Job.",
    suspend:
      "Whether the Job is stopped: running pods are deleted and none are created. False again continues it, with startTime reset. Default: false.",
    template:
      "What the pods are made from. restartPolicy must be Never or OnFailure. Can be changed only in parts, while the Job is suspended.",
    ttlSecondsAfterFinished:
      "Seconds after its end until the Job and its pods are deleted. 0: at once. Unset: it is not deleted."
  },
  JobTemplateSpec: {
    "": "What Jobs are made from.",
    metadata: "Labels and annotations of each Job.",
    spec: "The specification of each Job."
  },
  PodFailurePolicy: {
    "": "How failures of pods are treated.",
    rules:
      "The rules, at most 20. The first that matches a failed pod counts; without a match the failure counts towards backoffLimit."
  },
  PodFailurePolicyRule: {
    "": "An action for failures of a certain kind. Exactly one of onExitCodes and onPodConditions is set.",
    action:
      "FailJob: the Job fails and all its pods are stopped. FailIndex: the index fails without retries. Ignore: the pod is replaced and not counted. Count: it counts towards backoffLimit, as without a rule.",
    onExitCodes: "Matches exit codes of containers.",
    onPodConditions: "Matches if the pod has one of these conditions."
  },
  PodFailurePolicyOnExitCodesRequirement: {
    "": "A set of exit codes; 0 never matches.",
    containerName: "The container. Unset: any container.",
    operator: "In: the code is one of values. NotIn: it is none of them.",
    values: "The exit codes, in ascending order, 1 to 255 of them."
  },
  PodFailurePolicyOnPodConditionsPattern: {
    "": "A condition of a pod.",
    status: "The status that it must have. Default: True.",
    type: "The type of the condition, such as DisruptionTarget for pods that were evicted."
  },
  SuccessPolicy: {
    "": "When a Job counts as succeeded early.",
    rules: "The rules, at most 20. When one is met, the Job succeeds and the pods that still run are stopped."
  },
  SuccessPolicyRule: {
    "": "Indexes that must have succeeded. At least one field is set.",
    succeededCount: "How many indexes, of succeededIndexes if it is set, must have succeeded.",
    succeededIndexes: `The indexes that count: ${indexes}. Without succeededCount all of them must have succeeded.`
  },
  JobStatus: {
    "": "What was last observed of the Job.",
    active: "Pods that are pending or running and are not being deleted.",
    completedIndexes: `With completionMode Indexed: the indexes that have succeeded, as ${indexes}.`,
    completionTime: "When the Job completed. Unset if it failed or has not ended.",
    conditions:
      "Complete or Failed when the Job has ended; before that SuccessCriteriaMet or FailureTarget while pods are being stopped; Suspended.",
    failed: "Pods that have failed. It never decreases.",
    failedIndexes: `With backoffLimitPerIndex: the indexes that have failed, as ${indexes}.`,
    ready: "Active pods that are ready.",
    startTime: "When the controller first acted on the Job; set again when a suspended Job continues.",
    succeeded: "Pods that have succeeded.",
    terminating: "Pods that are being deleted and have not ended yet.",
    uncountedTerminatedPods: "Pods that have ended and are not yet part of succeeded and failed."
  },
  JobCondition: {
    ...condition("Complete, Failed, Suspended, SuccessCriteriaMet or FailureTarget"),
    lastProbeTime
  },
  UncountedTerminatedPods: {
    "": "The uids of pods that have ended and are not counted yet, so that each is counted exactly once.",
    failed: "The uids of failed pods.",
    succeeded: "The uids of succeeded pods."
  },
  CronJob: {
    "": "Creates Jobs at the times of a schedule. A Job may in rare cases be created twice or not at all, so it should be harmless to repeat."
  },
  CronJobSpec: {
    "": "When Jobs are created, and what they are made from.",
    concurrencyPolicy:
      "What happens at a scheduled time if the previous Job still runs: Allow (default) runs both, Forbid skips the new one, Replace deletes the old one.",
    failedJobsHistoryLimit: "How many failed Jobs are kept. Default: 1.",
    jobTemplate: "What the Jobs are made from. A change affects only Jobs created later.",
    schedule:
      "Times in the format of cron: minute, hour, day of month, month, day of week. For example '*/5 * * * *' for every 5 minutes, or '@daily'. A prefix TZ= or CRON_TZ= is not allowed: use timeZone.",
    startingDeadlineSeconds:
      "Seconds after a scheduled time in which the Job may still be created if the controller was late. Later it counts as missed. Unset: no limit, but after more than 100 missed times the latest is started and an event warns.",
    successfulJobsHistoryLimit: "How many Jobs that completed are kept. Default: 3.",
    suspend: "Whether no new Jobs are created. Running Jobs continue. Default: false.",
    timeZone: "The time zone of schedule, such as Europe/Berlin. Unset: that of the controller manager."
  },
  CronJobStatus: {
    "": "What was last observed of the Jobs.",
    active: "The Jobs that are running.",
    lastScheduleTime: "The last time at which a Job was created by the schedule.",
    lastSuccessfulTime: "When a Job last completed."
  }
}
