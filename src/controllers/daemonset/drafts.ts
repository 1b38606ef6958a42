/**
 * The body of a daemon: the template, with the tolerations of every daemon, the marks of its revision, and an affinity that only its
 * node satisfies. The scheduler binds it like any other pod. Source: spec E.3.
 */
import type { Draft } from "../../kube/Meta.ts"
import { DaemonSet, type Pod } from "../../kube/resources.ts"
import * as History from "../shared/revisions/history.ts"
import * as PodControl from "../shared/workload/podControl.ts"
import * as Eligibility from "./plan/eligibility.ts"
import type { PodSpec } from "./pods.ts"
import * as Spec from "./spec.ts"

/** Makes bodies for any number of nodes of one DaemonSet. */
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

/** What the template requires of nodes was asked before; what it prefers, and what it says of other pods, stays. */
const pinned = (affinity: PodSpec["affinity"], node: string): NonNullable<PodSpec["affinity"]> => ({
  ...affinity,
  nodeAffinity: {
    ...affinity?.nodeAffinity,
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: [node] }] }]
    }
  }
})
