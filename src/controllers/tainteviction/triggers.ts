/**
 * Which changes can change the decision for a pod: its node's taints, its tolerations, its node, and its deletion. For pods of nodes without taints
 * only the node is read. Source: pkg/controller/tainteviction.
 */
import * as Key from "../../kube/Key.ts"
import type { Node, Pod } from "../../kube/resources.ts"
import type { Readable } from "../../streams/store/Store.ts"
import type * as Trigger from "../../streams/store/trigger.ts"
import * as Nodes from "../shared/nodes/node.ts"
import * as Plan from "./plan.ts"

const none: ReadonlyArray<Key.Key> = []

const text = (value: unknown): string => JSON.stringify(value ?? [])

/** All pods of the node; if it has no NoExecute taints, only those with a scheduled eviction. */
export const node =
  (pods: Readable<Pod>, evictions: Plan.Evictions): Trigger.Trigger<Node> =>
  (delta) => {
    if (delta._tag === "Deleted") return none
    const taints = Plan.noExecuteTaints(delta.object)
    if (delta._tag === "Updated" && text(Plan.noExecuteTaints(delta.previous)) === text(taints)) return none
    if (taints.length === 0 && evictions.size === 0) return none
    const keys = pods.keysByIndex(Nodes.byNode.name, delta.object.metadata.name)
    return taints.length === 0 ? keys.filter((key) => evictions.has(key)) : keys
  }

export const pod =
  (nodes: Readable<Node>, evictions: Plan.Evictions): Trigger.Trigger<Pod> =>
  (delta) => {
    const { object } = delta
    const key = Key.of(object)
    if (!evictions.has(key)) {
      const name = object.spec?.nodeName
      const found = delta._tag === "Deleted" || name === undefined ? undefined : nodes.get(name)
      if (found === undefined || Plan.noExecuteTaints(found).length === 0) return none
    }
    if (delta._tag === "Updated" && isAlike(delta.previous, object)) return none
    return [key]
  }

const isAlike = (a: Pod, b: Pod): boolean =>
  a.metadata.uid === b.metadata.uid &&
  a.spec?.nodeName === b.spec?.nodeName &&
  text(a.spec?.tolerations) === text(b.spec?.tolerations)
