/** Nodes and pods as the console shows them: only named fields, so that nothing else of an object leaves the process. Pure. */
import * as Key from "../../kube/Key.ts"
import { isReady } from "../../kube/pod.ts"
import type { Node, Pod } from "../../kube/resources.ts"
import type * as Protocol from "./protocol.ts"

/** A text of an object, truncated. */
export const short = (text: string): string => (text.length <= 256 ? text : `${text.slice(0, 256)}…`)

export const nodeOf = ({ metadata, spec, status }: Node): Protocol.Node => ({
  name: metadata.name,
  ready: status?.conditions?.find(({ type }) => type === "Ready")?.status === "True",
  schedulable: spec?.unschedulable !== true
})

export const podOf = (pod: Pod): Protocol.Pod => {
  const { metadata, spec, status } = pod
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true)
  const reason = reasonOf(pod)
  return {
    key: Key.of(pod),
    node: spec?.nodeName ?? null,
    phase: short(status?.phase ?? "Pending"),
    ready: isReady(pod),
    reason: reason === undefined ? null : short(reason),
    owner: owner === undefined ? null : short(`${owner.kind}/${owner.name}`),
    deleting: metadata.deletionTimestamp !== undefined
  }
}

/** Of the pod, or of its first container that waits or has ended with an error. */
const reasonOf = ({ status }: Pod): string | undefined => {
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  return (
    status?.reason ??
    containers.flatMap(({ state }) => state?.waiting?.reason ?? [])[0] ??
    containers.flatMap(({ state }) => (state?.terminated?.exitCode === 0 ? [] : (state?.terminated?.reason ?? [])))[0]
  )
}
