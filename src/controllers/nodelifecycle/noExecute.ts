/**
 * Lets through who is first in the lines of the zones: its node gets the taint that drives pods away. A write that fails leaves the node in
 * its place. Answers with when somebody may be next. Source: pkg/controller/nodelifecycle: doNoExecuteTaintingPass.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Monotonic from "../../streams/monotonic.ts"
import * as Reconcile from "../../streams/reconcile/Reconcile.ts"
import * as Nodes from "../shared/nodes/node.ts"
import * as Metrics from "./metrics.ts"
import { type Books, latest, type Ports } from "./deps.ts"
import * as Taints from "./taints.ts"
import * as Zones from "./zones.ts"

export const giveUp = (ports: Ports, books: Books) =>
  Effect.gen(function* () {
    const now = Monotonic.millis(yield* Clock.Clock)
    if (Zones.isDisrupted(books.states)) return Reconcile.done
    yield* Effect.forEach(books.lines.take(now()), (name) => one(ports, books, name), { discard: true })
    const next = books.lines.next(now())
    return next === undefined ? Reconcile.done : Reconcile.after(Math.max(next, grid))
  })

/** Milliseconds: the reference looks at its lines ten times a second. */
const grid = 100

const one = Effect.fnUntraced(function* (ports: Ports, books: Books, name: string) {
  const node = latest(books, ports, name)
  if (node === undefined) return books.lines.remove(name)
  const wallclock = yield* Clock.currentTimeMillis
  const wrote = yield* Effect.result(Nodes.write(ports, node, (current) => Taints.givenUp(current, wallclock)))
  if (wrote._tag === "Failure") {
    return yield* Effect.annotateLogs(Effect.logWarning(`Cannot taint a node: ${wrote.failure.message}`), {
      node: name
    })
  }
  books.lines.remove(name)
  if (!wrote.success) return
  const zone = Zones.zoneOf(node)
  yield* Metrics.gaveUp(zone)
  yield* Effect.annotateLogs(Effect.logInfo("A node is given up: its pods are to leave"), {
    node: name,
    zone: Zones.shown(zone)
  })
})
