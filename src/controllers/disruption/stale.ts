/**
 * Stale DisruptionTarget conditions: if the pod is not deleted within two minutes, the condition is set to False.
 * Conditions that the kubelet set are left. Pure. Source: pkg/controller/disruption: syncStalePodDisruption.
 */
import * as Patch from "../../kube/Patch.ts"
import * as PodState from "../../kube/pod.ts"
import type { Pod } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"

/** Milliseconds. */
export const timeout = 120_000

const type = "DisruptionTarget"

/**
 * When the condition becomes stale, in milliseconds since 1970; undefined if the pod is being deleted, terminal or
 * without the condition.
 */
export const due = (pod: Pod): number | undefined => {
  if (pod.metadata.deletionTimestamp !== undefined || PodState.isTerminal(pod)) return undefined
  const condition = pod.status?.conditions?.find((one) => one.type === type)
  if (condition?.status !== "True" || condition.reason === "TerminationByKubelet") return undefined
  return (Time.parse(condition.lastTransitionTime) ?? -Infinity) + timeout
}

/** Sets the condition to False, on the pod's current resourceVersion only. */
export const reset = ({ metadata: { generation, resourceVersion, uid } }: Pod, now: number): Patch.Patch =>
  Patch.strategic({
    metadata: { uid, resourceVersion },
    status: {
      conditions: [
        {
          type,
          status: "False",
          reason: null,
          message: null,
          lastTransitionTime: Time.format(now),
          ...(generation === undefined ? {} : { observedGeneration: generation })
        }
      ]
    }
  })
