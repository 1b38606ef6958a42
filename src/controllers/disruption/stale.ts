/**
 * Pods that were told to go and stay: after two minutes their condition `DisruptionTarget` says False again. What a kubelet said of its own pods holds
 * for as long as it takes. Pure and total. Source: spec G.9, disruption stalePodDisruptionTimeout.
 */
import * as Patch from "../../kube/Patch.ts"
import * as PodState from "../../kube/pod.ts"
import type { Pod } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"

/** Milliseconds. */
export const timeout = 120_000

const type = "DisruptionTarget"

/** When the pod should have gone by, in milliseconds since 1970; undefined if it goes, or was never told to. */
export const due = (pod: Pod): number | undefined => {
  if (pod.metadata.deletionTimestamp !== undefined || PodState.isTerminal(pod)) return undefined
  const condition = pod.status?.conditions?.find((one) => one.type === type)
  if (condition?.status !== "True" || condition.reason === "TerminationByKubelet") return undefined
  return (Time.parse(condition.lastTransitionTime) ?? -Infinity) + timeout
}

/** Takes it back, on that pod in that state and on no other. */
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
