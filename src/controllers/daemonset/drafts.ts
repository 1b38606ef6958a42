/**
 * The daemon pod to create: the template with the standard tolerations, the revision labels, and a node affinity that
 * only the target node satisfies. The scheduler binds it like any other pod. Source: pkg/controller/daemon/util:
 * CreatePodTemplate, ReplaceDaemonSetPodNodeNameNodeAffinity.
 */
import type { Draft } from "../../kube/Meta.ts"
import { DaemonSet, type Pod } from "../../kube/resources.ts"
import * as History from "../shared/revisions/history.ts"
import * as PodControl from "../shared/workload/podControl.ts"
import * as Eligibility from "./plan/eligibility.ts"
import type { PodSpec } from "./pods.ts"
import * as Spec from "./spec.ts"

/** Returns a function that makes the pod for a node. */
export const make = (set: DaemonSet, hash: string): ((node: string) => Draft<Pod>) => {
  const template = Spec.templateOf(set)
  const generation = Spec.templateGeneration(set)
  const tolerations = [...Eligibility.tolerationsOf(template.spec)]
  const body = PodControl.draft(DaemonSet, set, {
    ...template,
    metadata: {
      ...template.metadata,
      labels: {
        ...template.metadata?.labels,
        ...(generation === undefined ? {} : { [Spec.generationLabel]: generation }),
        ...(hash === "" ? {} : { [History.hashLabel]: hash })
      }
    }
  })
  const spec: PodSpec = { ...(template.spec ?? { containers: [] }), tolerations }
  return (node) => ({ ...body, spec: { ...spec, affinity: pinned(spec.affinity, node) } })
}

/**
 * The template's required node affinity was evaluated by `Eligibility`; preferred node affinity and pod affinity stay.
 */
const pinned = (affinity: PodSpec["affinity"], node: string): NonNullable<PodSpec["affinity"]> => ({
  ...affinity,
  nodeAffinity: {
    ...affinity?.nodeAffinity,
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: [node] }] }]
    }
  }
})
