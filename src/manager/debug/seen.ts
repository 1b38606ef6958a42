/**
 * What the debug pages and the console read of the running program: loops, states, informers and elections. Nothing is kept; the state stays in its
 * component, and costs something only when it is read.
 */
import * as Effect from "effect/Effect"
import type { InformerStatus } from "../../layers/Cache.ts"
import { type Group, Inspection } from "../../layers/Inspection.ts"
import * as LoopMetrics from "../../streams/reconcile/loopMetrics.ts"
import { States } from "../runnables/states.ts"
import type * as Controllers from "./controllers.ts"

const groups = Effect.flatMap(Inspection, (inspection) => inspection.groups.all)

/** The watches of all informers. */
export const status: Effect.Effect<ReadonlyArray<InformerStatus>> = Effect.gen(function* () {
  const all = yield* (yield* Inspection).informers.all
  return (yield* Effect.all(all)).flat()
})

/** In the order in which they start; `keys`: the most keys of each controller. */
export const seenOf = Effect.fnUntraced(function* (controllers: ReadonlyArray<Controllers.Controller>, keys: number) {
  const states = (yield* States).all()
  const all = yield* status
  const led = yield* groups
  const ordered = [...controllers].sort((a, b) => Number(b.startFirst === true) - Number(a.startFirst === true))
  /** The last one of each group so far that the next one has to wait for. */
  const last = new Map<Group | undefined, string>()
  return yield* Effect.forEach(ordered, (controller) =>
    Effect.gen(function* () {
      const { name, startFirst } = controller
      const metrics = yield* LoopMetrics.of(name)
      const group = led.find(({ controllers }) => controllers.includes(name))
      const state = states.get(name)
      const seen: Controllers.Seen = {
        controller,
        snapshot: metrics.look(keys),
        state,
        awaited: yield* awaited(group),
        after: last.get(group),
        informers: all
      }
      if (state?._tag !== "Skipped" && (state?._tag !== "Waiting" || startFirst === true)) last.set(group, name)
      return seen
    })
  )
})

const awaited = Effect.fnUntraced(function* (group: Group | undefined) {
  if (group === undefined || (yield* group.leadership.provenFor) !== undefined) return undefined
  return { lease: leaseOf(group) ?? "", leader: yield* group.leadership.leader }
})

const leaseOf = ({ leadership: { lease } }: Group): string | undefined =>
  lease === undefined ? undefined : `${lease.namespace}/${lease.name}`

/** Each group of controllers that lead together, with its lease, our identity, the leader, and for how long we provably lead. */
export const leaders = Effect.flatMap(groups, (all) =>
  Effect.forEach(all, (group) =>
    Effect.gen(function* () {
      const { controllers, leadership } = group
      const lease = leaseOf(group)
      const validFor = yield* leadership.provenFor
      return {
        lease: lease ?? null,
        identity: lease === undefined ? null : leadership.identity,
        leader: lease === undefined ? null : ((yield* leadership.leader) ?? null),
        leads: validFor !== undefined,
        /** Milliseconds. Infinite without an election, because nothing can expire; undefined while another process leads. */
        validFor,
        terms: yield* leadership.terms,
        controllers
      }
    })
  )
)
