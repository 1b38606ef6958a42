/**
 * Which nodes a DaemonSet's pods belong on, from the template and the node alone. Free resources, host ports and
 * cordons do not count, and daemon pods tolerate the taints for node problems, so that they keep running. Source:
 * pkg/controller/daemon: NodeShouldRunDaemonPod; daemon/util: AddOrUpdateDaemonPodTolerations.
 */
import * as NodeSelection from "../../../kube/nodeSelection.ts"
import type { DaemonSet, Node } from "../../../kube/resources.ts"
import * as Taints from "../../../kube/taints.ts"
import type { PodSpec } from "../pods.ts"
import * as Spec from "../spec.ts"

export interface Verdict {
  /** A missing pod is created. */
  readonly shouldRun: boolean
  /** An existing pod may stay. True wherever `shouldRun` is. */
  readonly mayStay: boolean
}

const welcome: Verdict = { shouldRun: true, mayStay: true }
const endured: Verdict = { shouldRun: false, mayStay: true }
const unwanted: Verdict = { shouldRun: false, mayStay: false }

/** Returns a function that judges one node after another for the DaemonSet. */
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

/**
 * The template's tolerations plus the standard ones. A toleration of the template that differs only by
 * `tolerationSeconds` is replaced.
 */
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
