/**
 * One pass over all nodes: sets the conditions of nodes that stopped reporting to Unknown, determines the state of each zone, and marks pods and
 * nodes accordingly. Any write may fail: what fails is retried in the next pass. A node whose status could not be determined does not count for its
 * zone. Source: pkg/controller/nodelifecycle: monitorNodeHealth.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as ApiError from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import type { Node } from "../../kube/resources.ts"
import * as Monotonic from "../../streams/monotonic.ts"
import * as Nodes from "../shared/nodes/node.ts"
import { apply, type Checked, enqueue } from "./apply.ts"
import type { Deps } from "./deps.ts"
import * as Health from "./health.ts"
import * as Metrics from "./metrics.ts"
import type { Settings, State } from "./state.ts"
import * as Zones from "./zones.ts"

/** The key of the eviction queue: no node can have that name. */
export const queueKey = "*queue"

/** Nodes worked on at once. */
const atOnce = 8
const tries = 5
const pause = "20 millis"

export const monitorNodeHealth = (deps: Deps, state: State, settings: Settings) =>
  Effect.gen(function* () {
    const now = Monotonic.millis(yield* Clock.Clock)
    const begun = now()
    const observed = state.time(begun)
    const nodes = deps.nodes.list()
    yield* recordMembership(deps, state, nodes)
    for (const zone of new Set(nodes.map(Zones.zoneOf))) yield* Metrics.known(zone)
    const { note, seconds, timed } = stopwatch(now, nodes.length)
    // Nearly all nodes report, and those are checked without an effect for each.
    const results: Array<Checked | undefined> = []
    const overdue: Array<{ readonly at: number; readonly node: Node; readonly wasReady: boolean }> = []
    let from = begun
    for (const [at, node] of nodes.entries()) {
      // From the last pass and not from the cache, which may already hold an earlier write of this pass whose response was lost.
      const wasReady = Nodes.isReady(state.checked.get(node.metadata.name))
      if (observe(deps, state, settings, { node, observed })) overdue.push({ at, node, wasReady })
      else results[at] = { node, isLost: wasReady && isUnreachable(node) }
      const until = now()
      note(at, until - from)
      from = until
    }
    const marking = ({ at, node, wasReady }: (typeof overdue)[number]) =>
      Effect.map(timed(at, markUnknown(deps, state, settings, { node, observed, wasReady })), (one) => {
        results[at] = one
      })
    yield* Effect.forEach(overdue, marking, { concurrency: atOnce, discard: true })
    const checked = results.filter((one) => one !== undefined)
    yield* assess(state, settings, checked, { now: now(), observed })
    const changing: Array<{ readonly at: number; readonly one: Checked }> = []
    for (const [at, one] of results.entries()) {
      if (one !== undefined && enqueue(state, one, now())) changing.push({ at, one })
    }
    yield* Effect.forEach(changing, ({ at, one }) => timed(at, apply(deps, state, one)), {
      concurrency: atOnce,
      discard: true
    })
    yield* Metrics.took(seconds, (now() - begun) / 1000)
    if (state.noExecuteQueue.next(now()) !== undefined) deps.queue.addUnsafe(queueKey)
  })

/** The time spent on each node of a pass, by its place in the list: for its check and for the writes that follow. */
const stopwatch = (now: () => number, nodes: number) => {
  const seconds = new Float64Array(nodes)
  const note = (at: number, millis: number): void => {
    seconds[at] = (seconds[at] ?? 0) + millis / 1000
  }
  const timed = <A, E, R>(at: number, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      const from = now()
      return Effect.ensuring(
        work,
        Effect.sync(() => note(at, now() - from))
      )
    })
  return { seconds, note, timed }
}

/** Records events for nodes added and removed since the last pass. */
const recordMembership = Effect.fnUntraced(function* ({ events }: Deps, state: State, nodes: ReadonlyArray<Node>) {
  const isKnown = ({ metadata: { name, uid } }: Node) => state.checked.get(name)?.metadata.uid === uid
  if (nodes.length === state.checked.size && nodes.every(isKnown)) return
  const uids = new Map(nodes.map(({ metadata }) => [metadata.name, metadata.uid]))
  for (const [name, node] of state.checked) {
    if (uids.get(name) === node.metadata.uid) continue
    for (const known of [state.checked, state.heartbeats, state.podsToMark]) known.delete(name)
    state.noExecuteQueue.remove(name)
    const message = `Node ${name} event: Removing Node ${name} from Controller`
    yield* events.normal(node, "RemovingNode", message)
  }
  for (const node of nodes) {
    const { name } = node.metadata
    if (state.checked.has(name)) continue
    state.checked.set(name, node)
    // The previous leader may have stopped before it marked the pods.
    if (isUnreachable(node)) state.podsToMark.add(name)
    yield* events.normal(node, "RegisteredNode", `Node ${name} event: Registered Node ${name} in Controller`)
  }
})

interface Observed {
  readonly node: Node
  /** Observed time, in milliseconds. */
  readonly observed: number
}

/** Records the heartbeats of a node. True: it has not reported for too long, and its conditions do not show that. */
const observe = (
  { leases }: Pick<Deps, "leases">,
  state: State,
  settings: Settings,
  { node, observed }: Observed
): boolean => {
  const { name } = node.metadata
  const before = state.heartbeats.get(name)
  const heartbeats = Health.observe(before, node, leases.get(Key.make("kube-node-lease", name)), observed)
  if (heartbeats !== before) state.heartbeats.set(name, heartbeats)
  state.checked.set(name, node)
  return Health.isOverdue(node, heartbeats, settings, observed) && !isUnreachable(node)
}

/** Sets the conditions of an overdue node to Unknown, unless the server has a node that reports. */
const markUnknown = Effect.fnUntraced(function* (
  deps: Deps,
  state: State,
  settings: Settings,
  { node, observed, wasReady }: Observed & { readonly wasReady: boolean }
): Effect.fn.Return<Checked | undefined> {
  const { name } = node.metadata
  let current = node
  for (let left = tries; ; left--) {
    const conditions = observe(deps, state, settings, { node: current, observed })
      ? Health.unknownConditions(current, yield* Clock.currentTimeMillis)
      : undefined
    if (conditions === undefined) return { node: current, isLost: wasReady && isUnreachable(current) }
    const after = { ...current, status: { ...current.status, conditions } }
    const written = yield* Effect.result(deps.updateStatus(after))
    if (written._tag === "Success") {
      recordWrite(state, written.success)
      return { node: written.success, isLost: wasReady }
    }
    // These errors do not go away within milliseconds.
    const isFinal = left === 1 || ApiError.hasReason(written.failure, "Forbidden", "LeaderFenced")
    if (isFinal) return yield* undecided(node, written.failure)
    yield* Effect.sleep(pause)
    const found = yield* Effect.result(deps.live(name))
    if (found._tag === "Failure") return yield* undecided(node, found.failure)
    if (found.success.metadata.uid !== node.metadata.uid) return undefined
    current = found.success
  }
})

const isUnreachable = (node: Node): boolean => Nodes.readyCondition(node)?.status === "Unknown"

/** This loop's own status write is not a heartbeat. */
const recordWrite = ({ checked, heartbeats }: State, node: Node): void => {
  const { name } = node.metadata
  const before = heartbeats.get(name)
  const heartbeat = Nodes.readyCondition(node)?.lastHeartbeatTime ?? ""
  if (before !== undefined) heartbeats.set(name, { ...before, heartbeat })
  checked.set(name, node)
}

const undecided = (node: Node, error: ApiError.ApiError): Effect.Effect<undefined> =>
  ApiError.hasReason(error, "NotFound")
    ? Effect.undefined
    : Effect.as(
        Effect.annotateLogs(Effect.logWarning(`Cannot mark a node as not reporting: ${error.message}`), {
          node: node.metadata.name
        }),
        undefined
      )

/** Determines the states of the zones and their eviction rates. */
const assess = Effect.fnUntraced(function* (
  state: State,
  settings: Settings,
  checked: ReadonlyArray<Checked>,
  { now, observed }: { readonly now: number; readonly observed: number }
) {
  const zones = new Map<string, Zones.Count>()
  for (const { node } of checked) {
    if (!Zones.counts(node)) continue
    const zone = Zones.zoneOf(node)
    const { notReady, ready } = zones.get(zone) ?? { ready: 0, notReady: 0 }
    zones.set(zone, Nodes.isReady(node) ? { ready: ready + 1, notReady } : { ready, notReady: notReady + 1 })
  }
  const before = state.states
  const transition = Zones.transition(before, zones, settings)
  state.states = transition.states
  for (const zone of before.keys()) {
    if (transition.states.has(zone)) continue
    state.noExecuteQueue.drop(zone)
    yield* Metrics.observed(zone, { ready: 0, notReady: 0 })
  }
  for (const [zone, rate] of transition.rates) state.noExecuteQueue.setRate(zone, rate, now)
  if (transition.mode === "Left")
    for (const [name, heartbeats] of state.heartbeats) state.heartbeats.set(name, { ...heartbeats, at: observed })
  for (const [zone, count] of zones) yield* Metrics.observed(zone, count)
  yield* logTransitions(before, transition)
})

const logTransitions = Effect.fnUntraced(function* (before: Zones.States, { mode, rates, states }: Zones.Transition) {
  if (mode === "Entered") yield* Effect.logWarning("No node is ready: evictions are stopped until one is")
  if (mode === "Left") yield* Effect.logInfo("Some nodes are ready again: all grace periods start again")
  for (const [zone, state] of states) {
    if ((before.get(zone) ?? "Normal") === state) continue
    const facts = { zone: Zones.shown(zone), state, nodesPerSecond: rates.get(zone) }
    yield* Effect.annotateLogs(Effect.logInfo("The state of a zone has changed"), facts)
  }
})
