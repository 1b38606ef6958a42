/**
 * The figures of controllers, informers and elections as the console's page gets them. They are taken when a stream asks for them, at most once a
 * second for all streams together; without a page nothing is computed.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Resource from "../../kube/Resource.ts"
import type { InformerStatus } from "../../layers/Cache.ts"
import { fencedWrites } from "../../layers/fence.ts"
import * as Monotonic from "../../streams/monotonic.ts"
import * as LoopMetrics from "../../streams/reconcile/loopMetrics.ts"
import type { LoopSnapshot } from "../../streams/reconcile/loopSnapshot.ts"
import * as Controllers from "../debug/controllers.ts"
import * as Informers from "../debug/informers.ts"
import { oneLine } from "../debug/page.ts"
import * as Seen from "../debug/seen.ts"
import { short } from "./cluster.ts"
import type * as Protocol from "./protocol.ts"

/** The types of messages with figures, in the order in which they are sent. */
export const types = ["controllers", "informers", "leadership"] as const

export interface Sample {
  /** Wall clock, milliseconds. */
  readonly at: number
  /** The JSON of each message without type and time: two are equal if nothing has changed. */
  readonly bodies: Readonly<Record<(typeof types)[number], string>>
}

/** Milliseconds for which a sample is the latest one. */
const validity = 950

/** The most rows of informers. */
const rows = 1000

/** The latest sample, for any number of streams; each call uses the services of the caller of `make`. */
export const make = (options: Controllers.Selected): Effect.Effect<Effect.Effect<Sample>> =>
  Effect.contextWith((context) =>
    Effect.map(Clock.Clock, (clock) => {
      const now = Monotonic.millis(clock)
      const durations = new Map<string, Metric.HistogramState>()
      const sizes = new Sizes(now)
      let latest: Sample | undefined
      let taken = 0
      const take = Effect.gen(function* () {
        const at = yield* Clock.currentTimeMillis
        const controllers = yield* controllersOf(options, durations, at)
        const informers = sizes.measured([...(yield* Seen.status)].sort(Informers.inTrouble).slice(0, rows))
        const groups = (yield* Seen.leaders).map(groupOf)
        const { count } = yield* Metric.value(fencedWrites)
        const sample: Sample = {
          at,
          bodies: {
            controllers: JSON.stringify({ controllers, disabled: options.disabled }),
            informers: JSON.stringify({ informers }),
            leadership: JSON.stringify({ groups, fencedWrites: count })
          }
        }
        latest = sample
        taken = now()
        return sample
      })
      return Effect.provideContext(
        Effect.suspend(() => (latest !== undefined && now() - taken < validity ? Effect.succeed(latest) : take)),
        context
      )
    })
  )

const groupOf = ({
  controllers,
  identity,
  leader,
  leads,
  lease,
  terms: { count, lastError, renewals, since, transitions },
  validFor
}: Effect.Success<typeof Seen.leaders>[number]): Protocol.LeaderGroup => ({
  lease,
  identity,
  leader: leader === null ? null : short(leader),
  leads,
  validFor: finite(validFor),
  terms: count,
  since: since ?? null,
  transitions: transitions ?? null,
  renewals: renewals.map(({ at, isRenewed, took }) => ({
    at: Math.round(at),
    took: Math.round(took * 10) / 10,
    isRenewed
  })),
  lastError: lastError === undefined ? null : { message: oneLine(lastError.message), at: Math.round(lastError.at) },
  controllers
})

const finite = (millis: number | undefined): number | null =>
  millis === undefined || !Number.isFinite(millis) ? null : Math.round(millis)

const controllersOf = Effect.fnUntraced(function* (
  { controllers }: Controllers.Selected,
  durations: Map<string, Metric.HistogramState>,
  at: number
) {
  const all = yield* Seen.seenOf(controllers, Controllers.limit)
  return yield* Effect.forEach(all, (seen) =>
    Effect.map(LoopMetrics.of(seen.controller.name), (metrics): Protocol.Controller => {
      const { controller, snapshot } = seen
      const { name } = controller
      const [before, now] = [durations.get(name), metrics.durations()]
      durations.set(name, now)
      const queue = Controllers.queueOf(snapshot)
      return {
        name,
        ...(controller.for === undefined ? {} : { resource: Resource.qualifiedName(controller.for) }),
        ...Controllers.standing(seen),
        workers: snapshot.workers,
        active: snapshot.active,
        queue,
        oldest: queue.ready === 0 ? null : Math.round(metrics.waited()),
        runs: now.count,
        failures: metrics.failures(),
        p50: quantile(0.5, now, before),
        p99: quantile(0.99, now, before),
        lastError: errorOf(snapshot),
        reads: controller.reads.map(Resource.qualifiedName),
        keys: keysOf(snapshot, at)
      }
    })
  )
})

const errorOf = ({ failure }: LoopSnapshot): Protocol.LastError | null => {
  if (failure === undefined) return null
  const { at, key } = failure
  return { message: Controllers.messageOf(failure), ...(key === undefined ? {} : { key }), at }
}

/** Wall-clock times are computed from durations; to a tenth of a second they are the same each time. */
const instant = (at: number): number => Math.round(at / 100) * 100

const keysOf = ({ queues, running }: LoopSnapshot, at: number): ReadonlyArray<Protocol.QueuedKey> => [
  ...running.map(({ key, millis }) => ({ state: "running" as const, key, since: instant(at - millis) })),
  ...queues.flatMap(({ next }) =>
    next.map(({ key, priority, readyFor }) => ({
      state: "ready" as const,
      key,
      priority,
      since: instant(at - readyFor)
    }))
  ),
  ...queues.flatMap(({ delayed }) =>
    delayed.map(({ after, dueIn, failures, key }) => ({
      state: "delayed" as const,
      key,
      due: instant(at + dueIn),
      failures,
      ...(after === undefined ? {} : { error: oneLine(after) })
    }))
  )
]

/**
 * The duration in milliseconds that a share `q` of the runs between two states did not exceed, linear inside a bucket; null without runs. Source:
 * Prometheus, `histogram_quantile`.
 */
export const quantile = (
  q: number,
  now: Metric.HistogramState,
  before: Metric.HistogramState | undefined
): number | null => {
  const count = now.count - (before?.count ?? 0)
  if (count <= 0) return null
  const rank = q * count
  let [low, below] = [0, 0]
  for (const [slot, [bound, total]] of now.buckets.entries()) {
    const upTo = total - (before?.buckets[slot]?.[1] ?? 0)
    if (upTo >= rank) return Math.round((low + ((bound - low) * (rank - below)) / (upTo - below)) * 1e4) / 10
    low = bound
    below = upTo
  }
  // Longer than the last bound.
  return low * 1000
}

/** Estimating a size reads many objects, so each sample measures a few informers, those first whose size is the oldest. */
class Sizes {
  private readonly known = new Map<string, { readonly bytes: number; readonly at: number; readonly version: unknown }>()
  private readonly now: () => number

  constructor(now: () => number) {
    this.now = now
  }

  measured(informers: ReadonlyArray<InformerStatus>): ReadonlyArray<Protocol.Informer> {
    const now = this.now()
    const all = informers.map((one) => ({ one, id: JSON.stringify([one.id, one.selection]) }))
    const ids = new Set(all.map(({ id }) => id))
    for (const id of this.known.keys()) if (!ids.has(id)) this.known.delete(id)
    const stale = all.filter(({ id, one }) => this.isStale(id, one, now))
    const oldest = (id: string) => this.known.get(id)?.at ?? -Infinity
    for (const { id, one } of stale.sort((a, b) => oldest(a.id) - oldest(b.id)).slice(0, mostMeasured)) {
      this.known.set(id, { bytes: one.bytesUnsafe(), at: now, version: one.resourceVersion })
    }
    return all.map(({ id, one }) => informerOf(one, this.known.get(id)?.bytes ?? null))
  }

  private isStale(id: string, { resourceVersion }: InformerStatus, now: number): boolean {
    const known = this.known.get(id)
    return known === undefined || (known.version !== resourceVersion && now - known.at >= interval)
  }
}

/** Measurements of one sample, and milliseconds between two of one informer. */
const mostMeasured = 16
const interval = 10_000

const informerOf = (one: InformerStatus, bytes: number | null): Protocol.Informer => ({
  kind: one.resource,
  scope: Informers.scopeOf(one),
  synced: one.synced,
  objects: one.objects,
  bytes,
  lastEventAt: one.lastEventAt ?? null,
  failuresInARow: one.attempts,
  failures: one.failures,
  relists: one.relists,
  lastError:
    one.lastError === undefined
      ? null
      : {
          message: oneLine(one.lastError.message),
          at: one.lastError.at,
          retryIn: one.lastError.retryIn === undefined ? null : Math.round(one.lastError.retryIn)
        },
  subscribers: one.subscribers
})
