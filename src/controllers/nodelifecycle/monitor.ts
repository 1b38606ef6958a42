/**
 * One look at all nodes: who was heard of, who was not and is said to be Unknown, how ill each zone is, and what follows for each node and its
 * pods. What is decided is decided elsewhere in this folder; here are the writes, which may fail between any two: what is not done now is
 * done at the next look. A node that could not be judged does not count. Source: pkg/controller/nodelifecycle: monitorNodeHealth.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as ApiError from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import type { Node } from "../../kube/resources.ts"
import * as Monotonic from "../../streams/monotonic.ts"
import * as Nodes from "../shared/nodes/node.ts"
import * as Health from "./health.ts"
import * as Metrics from "./metrics.ts"
import * as Pods from "./pods.ts"
import type { Books, Ports, Settings } from "./deps.ts"
import * as Taints from "./taints.ts"
import * as Zones from "./zones.ts"

/** Asked for when nodes stand in a line: no node can have that name. */
export const linesKey = "*lines"

/** Nodes worked on at once. */
const atOnce = 8
const tries = 5
const pause = "20 millis"

interface Judged {
  readonly node: Node
  /** It was ready until this look. */
  readonly isLost: boolean
}

export const look = (ports: Ports, books: Books, settings: Settings) => {
  const judge = judging(ports, books, settings)
  const follow = following(ports, books)
  return Effect.gen(function* () {
    const now = Monotonic.millis(yield* Clock.Clock)
    const begun = now()
    const observed = books.time(begun)
    const nodes = ports.nodes.list()
    yield* greet(ports, books, nodes)
    for (const zone of new Set(nodes.map(Zones.zoneOf))) yield* Metrics.known(zone)
    const { millis, timed } = stopwatch(now)
    const judged = (yield* Effect.forEach(nodes, (node) => timed(node, judge(node, observed)), {
      concurrency: atOnce
    })).filter((one) => one !== undefined)
    yield* assess(books, settings, judged, { now: now(), observed })
    yield* Effect.forEach(judged, (one) => timed(one.node, follow(one, now)), { concurrency: atOnce, discard: true })
    yield* Metrics.took(millis.values(), now() - begun)
    if (books.lines.next(now()) !== undefined) ports.queue.addUnsafe(linesKey)
  })
}

/** How long each node was worked on, in milliseconds: it is judged, and when all are judged it is dealt with. */
const stopwatch = (now: () => number) => {
  const millis = new Map<string, number>()
  const timed = <A, E, R>({ metadata: { name } }: Node, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      const from = now()
      const stop = Effect.sync(() => void millis.set(name, (millis.get(name) ?? 0) + now() - from))
      return Effect.ensuring(work, stop)
    })
  return { millis, timed }
}

/** Tells of nodes that have come and gone since the last look. */
const greet = Effect.fnUntraced(function* ({ events }: Ports, books: Books, nodes: ReadonlyArray<Node>) {
  const uids = new Map(nodes.map(({ metadata }) => [metadata.name, metadata.uid]))
  for (const [name, node] of books.judged) {
    if (uids.get(name) === node.metadata.uid) continue
    for (const book of [books.judged, books.seen, books.owed]) book.delete(name)
    books.lines.remove(name)
    const message = `Node ${name} event: Removing Node ${name} from Controller`
    yield* events.normal(node, "RemovingNode", message)
  }
  for (const node of nodes) {
    const { name } = node.metadata
    if (books.judged.has(name)) continue
    books.judged.set(name, node)
    // Whoever looked before may not have come to an end.
    if (isUnheard(node)) books.owed.add(name)
    yield* events.normal(node, "RegisteredNode", `Node ${name} event: Registered Node ${name} in Controller`)
  }
})

const judging = (ports: Ports, books: Books, settings: Settings) =>
  Effect.fnUntraced(function* (node: Node, observed: number): Effect.fn.Return<Judged | undefined> {
    const { name } = node.metadata
    const lease = ports.leases.get(Key.make("kube-node-lease", name))
    // By the last look and not by this one: a write whose answer was lost is found done.
    const wasReady = isReady(books.judged.get(name))
    const see = (one: Node): boolean => {
      const seen = Health.observe(books.seen.get(name), one, lease, observed)
      books.seen.set(name, seen)
      books.judged.set(name, one)
      return Health.isSilent(one, seen, settings, observed)
    }
    let current = node
    for (let left = tries; ; left--) {
      const conditions = see(current) ? Health.unheard(current, yield* Clock.currentTimeMillis) : undefined
      if (conditions === undefined) return { node: current, isLost: wasReady && isUnheard(current) }
      const after = { ...current, status: { ...current.status, conditions } }
      const written = yield* Effect.result(ports.updateStatus(after))
      if (written._tag === "Success") {
        remember(books, written.success)
        return { node: written.success, isLost: wasReady }
      }
      // Rights do not come within milliseconds.
      const isHopeless = left === 1 || ApiError.hasReason(written.failure, "Forbidden", "LeaderFenced")
      if (isHopeless) return yield* undecided(node, written.failure)
      yield* Effect.sleep(pause)
      const found = yield* Effect.result(ports.live(name))
      if (found._tag === "Failure") return yield* undecided(node, found.failure)
      if (found.success.metadata.uid !== node.metadata.uid) return undefined
      current = found.success
    }
  })

const isReady = (node: Node | undefined): boolean => node !== undefined && Nodes.readyCondition(node)?.status === "True"

const isUnheard = (node: Node): boolean => Nodes.readyCondition(node)?.status === "Unknown"

/** What this loop says of a node is no sign of life. */
const remember = ({ judged, seen }: Books, node: Node): void => {
  const { name } = node.metadata
  const before = seen.get(name)
  const heartbeat = Nodes.readyCondition(node)?.lastHeartbeatTime ?? ""
  if (before !== undefined) seen.set(name, { ...before, heartbeat })
  judged.set(name, node)
}

const undecided = (node: Node, error: ApiError.ApiError): Effect.Effect<undefined> =>
  ApiError.hasReason(error, "NotFound")
    ? Effect.undefined
    : Effect.as(
        Effect.annotateLogs(Effect.logWarning(`Cannot say that a node is not heard of: ${error.message}`), {
          node: node.metadata.name
        }),
        undefined
      )

/** What the zones are now, and what follows for all of them. */
const assess = Effect.fnUntraced(function* (
  books: Books,
  settings: Settings,
  judged: ReadonlyArray<Judged>,
  { now, observed }: { readonly now: number; readonly observed: number }
) {
  const zones = new Map<string, Zones.Count>()
  for (const { node } of judged) {
    if (!Zones.counts(node)) continue
    const zone = Zones.zoneOf(node)
    const { notReady, ready } = zones.get(zone) ?? { ready: 0, notReady: 0 }
    zones.set(zone, isReady(node) ? { ready: ready + 1, notReady } : { ready, notReady: notReady + 1 })
  }
  const before = books.states
  const turn = Zones.turn(before, zones, settings)
  books.states = turn.states
  for (const zone of before.keys()) {
    if (turn.states.has(zone)) continue
    books.lines.drop(zone)
    yield* Metrics.looked(zone, { ready: 0, notReady: 0 })
  }
  for (const [zone, rate] of turn.rates) books.lines.setRate(zone, rate, now)
  if (turn.mode === "Left") for (const [name, seen] of books.seen) books.seen.set(name, { ...seen, at: observed })
  for (const [zone, count] of zones) yield* Metrics.looked(zone, count)
  yield* tell(before, turn)
})

const tell = Effect.fnUntraced(function* (before: Zones.States, { mode, rates, states }: Zones.Turn) {
  if (mode === "Entered") yield* Effect.logWarning("No node is ready: nobody is evicted until one is")
  if (mode === "Left") yield* Effect.logInfo("Some nodes are ready again: the others get their whole time anew")
  for (const [zone, state] of states) {
    if ((before.get(zone) ?? "Normal") === state) continue
    const facts = { zone: Zones.shown(zone), state, nodesPerSecond: rates.get(zone) }
    yield* Effect.annotateLogs(Effect.logInfo("A zone is in another state"), facts)
  }
})

const following = (ports: Ports, books: Books) =>
  Effect.fnUntraced(
    function* ({ isLost, node }: Judged, now: () => number) {
      const { name } = node.metadata
      const fate = Taints.fateOf(node, Zones.isDisrupted(books.states))
      if (fate === "Wait") books.lines.add(Zones.zoneOf(node), name, now())
      else books.lines.remove(name)
      if (isLost) {
        books.owed.add(name)
        yield* ports.events.normal(node, "NodeNotReady", `Node ${name} status is now: NodeNotReady`)
        yield* Effect.annotateLogs(Effect.logInfo("A node was not heard of for too long"), { node: name })
      }
      if (isReady(node)) books.owed.delete(name)
      if (books.owed.has(name)) yield* mark(ports, books, name)
      if (fate !== "Spare" && fate !== "Swap") return
      const wallclock = yield* Clock.currentTimeMillis
      const isDisrupted = Zones.isDisrupted(books.states)
      const wrote = yield* Nodes.write(ports, node, (one) => {
        const still = Taints.fateOf(one, isDisrupted)
        return still === "Spare" ? Taints.spared(one) : still === "Swap" ? Taints.givenUp(one, wallclock) : undefined
      })
      if (wrote && fate === "Spare") {
        const why = isDisrupted ? "A node keeps its pods, because no node is ready" : "A node is well again"
        yield* Effect.annotateLogs(Effect.logInfo(why), { node: name })
      }
    },
    (effect, { node }) =>
      Effect.catch(effect, (error) =>
        Effect.annotateLogs(Effect.logWarning(`Cannot change the taints of a node: ${error.message}`), {
          node: node.metadata.name
        })
      )
  )

const mark = Effect.fnUntraced(function* (ports: Ports, books: Books, name: string) {
  const pods = ports.pods.byIndex(Nodes.byNode.name, name)
  const said = yield* Effect.forEach(pods, (pod) => Pods.mark(ports, pod))
  if (said.every((one) => one)) books.owed.delete(name)
})
