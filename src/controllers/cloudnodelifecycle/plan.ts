/**
 * What follows for a node from what its cloud says of the machine: a total function. A machine that nobody could be asked about is there.
 * Source: spec G.4.4, cloud-provider's node lifecycle controller.
 */
import type { Node } from "../../kube/resources.ts"
import * as Nodes from "../shared/nodes/node.ts"

const shutdown = { key: "node.cloudprovider.kubernetes.io/shutdown", effect: "NoSchedule" } as const

/** Whether the cloud has to be asked: the node is not ready. */
export const isInDoubt = (node: Node): boolean => Nodes.readyCondition(node)?.status !== "True"

/** `gone`: the cloud is sure that there is no such machine. `off`: it is there and switched off. */
export type Word = "gone" | "off" | "there"

/** The taints with the one that says that the machine is off, or without it; undefined if they are right. */
export const taints = (node: Node, word: Word): ReadonlyArray<Nodes.Taint> | undefined => {
  if (word === "off") return Nodes.changed(node, { add: [shutdown] })
  return isInDoubt(node) ? undefined : Nodes.changed(node, { remove: [shutdown] })
}
