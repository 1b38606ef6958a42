/**
 * Applies the decisions about a node that a pass has checked: queues it for its NoExecute taint, or writes its taints, and marks its pods as not
 * ready. A failure is logged, and the next pass tries again. Source: pkg/controller/nodelifecycle: processTaintBaseEviction.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Node } from "../../kube/resources.ts"
import * as Nodes from "../shared/nodes/node.ts"
import type { Deps } from "./deps.ts"
import * as Pods from "./pods.ts"
import type { State } from "./state.ts"
import * as Taints from "./taints.ts"
import * as Zones from "./zones.ts"

/** A node as the pass has left it. */
export interface Checked {
  readonly node: Node
  /** The node became unreachable in this pass. */
  readonly isLost: boolean
}

/** Queues the node for its NoExecute taint, or removes it from the queue. True: there is something to apply. */
export const enqueue = (state: State, { isLost, node }: Checked, now: number): boolean => {
  const { name } = node.metadata
  const action = Taints.taintActionOf(node, Zones.isDisrupted(state.states))
  if (action === "Enqueue") state.noExecuteQueue.add(Zones.zoneOf(node), name, now)
  else state.noExecuteQueue.remove(name)
  return isLost || action === "Remove" || action === "Swap" || state.podsToMark.has(name)
}

export const apply = Effect.fnUntraced(
  function* (deps: Deps, state: State, { isLost, node }: Checked) {
    const { name } = node.metadata
    const action = Taints.taintActionOf(node, Zones.isDisrupted(state.states))
    if (isLost) {
      state.podsToMark.add(name)
      yield* deps.events.normal(node, "NodeNotReady", `Node ${name} status is now: NodeNotReady`)
      yield* Effect.annotateLogs(Effect.logInfo("A node has not reported for too long"), { node: name })
    }
    if (Nodes.isReady(node)) state.podsToMark.delete(name)
    if (state.podsToMark.has(name)) yield* markNotReady(deps, state, name)
    if (action !== "Remove" && action !== "Swap") return
    const wallclock = yield* Clock.currentTimeMillis
    const isDisrupted = Zones.isDisrupted(state.states)
    const wrote = yield* Nodes.write(deps, node, (one) => {
      const still = Taints.taintActionOf(one, isDisrupted)
      return still === "Remove"
        ? Taints.withoutNoExecuteTaint(one)
        : still === "Swap"
          ? Taints.withNoExecuteTaint(one, wallclock)
          : undefined
    })
    if (wrote && action === "Remove") {
      const why = isDisrupted
        ? "Removed the NoExecute taints of a node, because no node is ready"
        : "Removed the NoExecute taints of a node that is ready again"
      yield* Effect.annotateLogs(Effect.logInfo(why), { node: name })
    }
  },
  (effect, _deps, _state, { node }) =>
    Effect.catch(effect, (error) =>
      Effect.annotateLogs(Effect.logWarning(`Cannot change the taints of a node: ${error.message}`), {
        node: node.metadata.name
      })
    )
)

const markNotReady = Effect.fnUntraced(function* (deps: Deps, state: State, name: string) {
  const pods = deps.pods.byIndex(Nodes.byNode.name, name)
  const marked = yield* Effect.forEach(pods, (pod) => Pods.markNotReady(deps, pod))
  if (marked.every((one) => one)) state.podsToMark.delete(name)
})
