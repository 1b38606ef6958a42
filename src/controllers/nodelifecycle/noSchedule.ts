/**
 * What is reconciled for a single node or pod as soon as it changes: NoSchedule taints, deprecated labels, and the Ready condition of a pod bound to
 * a node that is not ready. Source: pkg/controller/nodelifecycle: doNoScheduleTaintingPass, reconcileNodeLabels.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Key from "../../kube/Key.ts"
import * as Reconcile from "../../streams/reconcile/Reconcile.ts"
import * as Nodes from "../shared/nodes/node.ts"
import * as Pods from "./pods.ts"
import type { Deps } from "./deps.ts"
import { isDown, type State } from "./state.ts"
import * as Taints from "./taints.ts"

export const node = (deps: Deps) =>
  Effect.fnUntraced(function* (key: Key.Key) {
    const found = deps.nodes.get(key)
    if (found === undefined) return Reconcile.done
    const now = yield* Clock.currentTimeMillis
    let written: Nodes.Change = {}
    const wrote = yield* Nodes.change(deps, found, (current) => {
      written = { taints: Taints.scheduling(current, now), labels: Taints.labels(current) }
      return written.taints === undefined && written.labels === undefined ? undefined : written
    })
    if (!wrote) return Reconcile.done
    const { labels, taints } = written
    const names = taints?.map(({ effect, key: name }) => `${name}:${effect}`).join()
    const facts = { node: key, ...(names === undefined ? {} : { taints: names }), ...labels }
    // Labels are mirrored once for each node; taints affect scheduling.
    const log = taints === undefined ? Effect.logDebug : Effect.logInfo
    yield* Effect.annotateLogs(log("Set taints and labels of a node from its conditions"), facts)
    return Reconcile.done
  })

export const pod = (deps: Deps, state: State) =>
  Effect.fnUntraced(function* (key: Key.Key) {
    const found = deps.pods.get(key)
    if (found === undefined || !isDown(state, found.spec?.nodeName ?? "")) return Reconcile.done
    return (yield* Pods.markNotReady(deps, found)) ? Reconcile.done : Reconcile.after("1 second")
  })
