/**
 * Which nodes a DaemonSet's pods belong on: a function of the template and the node, nothing else. Room, ports and cordons do not count;
 * pods tolerate what a node says of itself when it is in trouble, so that its daemons stay. Source: spec E.2, E.3.
 */
import * as NodeSelection from "../../../kube/nodeSelection.ts"
import type { DaemonSet, Node } from "../../../kube/resources.ts"
import * as Taints from "../../../kube/taints.ts"
import type { PodSpec } from "../pods.ts"
import * as Spec from "../spec.ts"

export interface Verdict {
  /** A pod that is missing there is made. */
  readonly shouldRun: boolean
  /** A pod that is there may stay. True wherever one should run. */
  readonly mayStay: boolean
}

const welcome: Verdict = { shouldRun: true, mayStay: true }
const endured: Verdict = { shouldRun: false, mayStay: true }
const unwanted: Verdict = { shouldRun: false, mayStay: false }

/** Asks of many nodes what is asked of one DaemonSet. */
export const judge = (set: DaemonSet): ((node: Node) => Verdict) => {
  const spec = Spec.templateOf(set).spec
  const tolerations = tolerationsOf(spec)
  return (node) => {
    const { nodeName } = spec ?? {}
    if (nodeName !== undefined && nodeName !== "" && nodeName !== node.metadata.name) return unwanted
    if (!NodeSelection.isWanted(spec, node)) return unwanted
    const taints = node.spec?.taints ?? []
    if (Taints.untolerated(tolerations, taints, ["NoSchedule", "NoExecute"]) === undefined) return welcome
    return Taints.untolerated(tolerations, taints, ["NoExecute"]) === undefined ? endured : unwanted
  }
}

const exists = (name: string, effect: string): Taints.Toleration => ({
  key: `node.kubernetes.io/${name}`,
  operator: "Exists",
  effect
})

const always = [
  exists("not-ready", "NoExecute"),
  exists("unreachable", "NoExecute"),
  exists("disk-pressure", "NoSchedule"),
  exists("memory-pressure", "NoSchedule"),
  exists("pid-pressure", "NoSchedule"),
  exists("unschedulable", "NoSchedule")
]

const ofHostNetwork = exists("network-unavailable", "NoSchedule")

/** The template's tolerations and those of every daemon. One of the template that says the same with a time limit is replaced. */
export const tolerationsOf = (spec: PodSpec | undefined): ReadonlyArray<Taints.Toleration> => {
  let tolerations: ReadonlyArray<Taints.Toleration> = spec?.tolerations ?? []
  for (const one of spec?.hostNetwork === true ? [...always, ofHostNetwork] : always)
    tolerations = tolerations.some((other) => saysTheSame(other, one))
      ? tolerations.map((other) => (saysTheSame(other, one) ? one : other))
      : [...tolerations, one]
  return tolerations
}

const saysTheSame = (a: Taints.Toleration, b: Taints.Toleration): boolean =>
  a.key === b.key && a.effect === b.effect && a.operator === b.operator && (a.value ?? "") === (b.value ?? "")
