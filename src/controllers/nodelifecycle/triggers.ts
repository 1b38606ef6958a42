/**
 * Which changes are worked on before the next look: nodes whose taints or labels are not as their conditions and labels have it, and pods that
 * have just come to a node that is not ready. Whether there is anything to write is told from the object alone. Source: spec G.4.2.
 */
import * as Key from "../../kube/Key.ts"
import type { Node, Pod } from "../../kube/resources.ts"
import type * as Trigger from "../../streams/store/trigger.ts"
import * as Nodes from "../shared/nodes/node.ts"
import type { Books } from "./books.ts"
import * as Taints from "./taints.ts"

const none: ReadonlyArray<Key.Key> = []

export const node: Trigger.Trigger<Node> = ({ _tag, object }) =>
  _tag !== "Deleted" && (Taints.scheduling(object, 0) !== undefined || Taints.labels(object) !== undefined)
    ? [Key.of(object)]
    : none

export const pod =
  (books: Books): Trigger.Trigger<Pod> =>
  (delta) => {
    const { object } = delta
    const name = object.spec?.nodeName
    if (delta._tag === "Deleted" || name === undefined) return none
    if (delta._tag === "Updated" && delta.previous.spec?.nodeName === name) return none
    return isDown(books, name) ? [Key.of(object)] : none
  }

/** Whether the last look found a node that says that it is not ready, or of which nobody hears. */
export const isDown = ({ judged }: Books, name: string): boolean => {
  const node = judged.get(name)
  const status = node === undefined ? undefined : Nodes.readyCondition(node)?.status
  return status === "False" || status === "Unknown"
}
