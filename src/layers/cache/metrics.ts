/**
 * The metrics of a cache: for each kind whether it has synced, how many objects it has, and the time since its last event; how often and
 * why the full state was read again; how long keys waited for their own writes. They are read from the informers at each scrape. A metric
 * registry shows one cache: the last one made.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Resource from "../../kube/Resource.ts"
import * as Monotonic from "../../streams/monotonic.ts"
import { Durations, registrar } from "../../streams/reconcile/counters.ts"
import type { Counters } from "./informer/report.ts"
import type { InformerStatus } from "./Informer.ts"

const gauge = (name: string, description: string) => Metric.gauge(name, { description })

const synced = gauge("informer_synced", "1 when all informers of the kind have synced, by kind")
const objects = gauge("informer_objects", "Objects that the informers of the kind keep, by kind")
const silence = gauge("informer_last_event_age_seconds", "Time since the last event of the kind")
const versions = gauge(
  "informer_store_resource_version",
  "The last 15 digits of how far the informer of a kind is; of several, of the one that is behind"
)
const relists = Metric.counter("informer_relists_total", {
  description: "Times that the full state of a kind was read again, by reason",
  incremental: true
})
const failures = Metric.counter("informer_failures_total", {
  description: "Failures of the lists and watches of a kind, by kind",
  incremental: true
})

/** Source: client-go's request latency. */
const waitBounds = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60]
const readWait = Metric.histogram("cache_read_wait_seconds", {
  description: "How long keys waited until the cache had seen what was written for them",
  boundaries: waitBounds
})

export interface CacheMetrics {
  /** Adds the series of a kind. */
  readonly track: (resource: Resource.Any) => void
  /** Those of an informer of the kind. */
  readonly countersOf: (resource: Resource.Any) => Counters
  /** Wraps the callback of a wait, to measure the wait. */
  readonly waiting: (done: (reached: boolean) => void) => (reached: boolean) => void
}

/** The name of the program's informers in metrics. Source: client-go's `InformerName`. */
export const InformerName = Context.Reference<string>("effect-controller-manager/InformerName", {
  defaultValue: () => "effect-controller-manager"
})

/** For tests of informers without metrics. */
export const none: Counters = { relisted: () => undefined, failed: () => undefined }

export const make = (status: () => ReadonlyArray<InformerStatus>): Effect.Effect<CacheMetrics> =>
  Effect.contextWith((context: Context.Context<never>) =>
    Clock.clockWith((clock) => Effect.sync(() => makeUnsafe(status, context, clock)))
  )

const makeUnsafe = (
  status: () => ReadonlyArray<InformerStatus>,
  context: Context.Context<never>,
  clock: Clock.Clock
): CacheMetrics => {
  const { counter, gauge, histogram } = registrar(context)
  const now = Monotonic.millis(clock)
  const waits = new Durations(waitBounds)
  histogram(readWait, {}, () => waits.state())
  /** When each kind was added; wall clock, milliseconds. */
  const kinds = new Map<string, number>()
  const reasons = new Map<string, number>()
  const failed = new Map<string, number>()
  const relisted = (reason: string, times = 1): void => {
    const known = reasons.get(reason)
    reasons.set(reason, (known ?? 0) + times)
    if (known === undefined) counter(relists, { reason }, () => reasons.get(reason) ?? 0)
  }
  for (const reason of ["Gone", "Timeout", "ServerError", "Network", "Defect"]) relisted(reason, 0)
  const of = (kind: string) => status().filter((one) => one.resource === kind && one.subscribers > 0)
  const name = Context.get(context, InformerName)
  const track = (resource: Resource.Any): void => {
    const kind = Resource.qualifiedName(resource)
    if (kinds.has(kind)) return
    const since = clock.currentTimeMillisUnsafe()
    kinds.set(kind, since)
    gauge(synced, { kind }, () => (of(kind).every((one) => one.synced) ? 1 : 0))
    const { group, plural, version } = resource
    gauge(versions, { name, group, version, resource: plural }, () =>
      Math.min(...of(kind).map((one) => lastDigits(one.resourceVersion)))
    )
    counter(failures, { kind }, () => failed.get(kind) ?? 0)
    gauge(objects, { kind }, () => of(kind).reduce((sum, one) => sum + one.objects, 0))
    gauge(silence, { kind }, () => {
      const last = of(kind).map((one) => one.lastEventAt ?? since)
      return last.length === 0 ? 0 : Math.max(0, clock.currentTimeMillisUnsafe() - Math.min(...last)) / 1000
    })
  }
  return {
    track,
    countersOf: (resource) => {
      const kind = Resource.qualifiedName(resource)
      return {
        relisted: (reason) => relisted(reason),
        failed: () => void failed.set(kind, (failed.get(kind) ?? 0) + 1)
      }
    },
    waiting: (done) => {
      const from = now()
      return (reached) => {
        waits.observe(now() - from)
        done(reached)
      }
    }
  }
}

/** The last 15 digits, which a double represents exactly; 0 before the first sync. Source: client-go threadSafeMap. */
const lastDigits = (version = "0"): number => Number(version.slice(-15))
