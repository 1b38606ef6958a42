/**
 * Adds the NoExecute taint to the next node of each zone's queue. A node whose write fails stays in the queue. Returns when the next node may be
 * tainted. Source: pkg/controller/nodelifecycle: doNoExecuteTaintingPass.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Monotonic from "../../streams/monotonic.ts"
import * as Reconcile from "../../streams/reconcile/Reconcile.ts"
import * as Nodes from "../shared/nodes/node.ts"
import * as Metrics from "./metrics.ts"
import type { Deps } from "./deps.ts"
import { latest, type State } from "./state.ts"
import * as Taints from "./taints.ts"
import * as Zones from "./zones.ts"

export const taintNoExecute = (deps: Deps, state: State) =>
  Effect.gen(function* () {
    const now = Monotonic.millis(yield* Clock.Clock)
    if (Zones.isDisrupted(state.states)) return Reconcile.done
    yield* Effect.forEach(state.noExecuteQueue.take(now()), (name) => one(deps, state, name), { discard: true })
    const next = state.noExecuteQueue.next(now())
    return next === undefined ? Reconcile.done : Reconcile.after(Math.max(next, grid))
  })

/** Milliseconds: the upstream controller polls its queues ten times a second. */
const grid = 100

const one = Effect.fnUntraced(function* (deps: Deps, state: State, name: string) {
  const node = latest(state, deps, name)
  if (node === undefined) return state.noExecuteQueue.remove(name)
  const wallclock = yield* Clock.currentTimeMillis
  const wrote = yield* Effect.result(
    Nodes.write(deps, node, (current) => Taints.withNoExecuteTaint(current, wallclock))
  )
  if (wrote._tag === "Failure") {
    return yield* Effect.annotateLogs(Effect.logWarning(`Cannot taint a node: ${wrote.failure.message}`), {
      node: name
    })
  }
  state.noExecuteQueue.remove(name)
  if (!wrote.success) return
  const zone = Zones.zoneOf(node)
  yield* Metrics.evicted(zone)
  yield* Effect.annotateLogs(Effect.logInfo("Tainted a node that is not ready with NoExecute"), {
    node: name,
    zone: Zones.shown(zone)
  })
})
