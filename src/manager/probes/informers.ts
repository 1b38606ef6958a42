/**
 * Health checks of informers, from their status. Readiness: every kind has synced and its watch works; otherwise the failure names the kind and the
 * server's last error. Liveness: every informer still makes attempts; an unreachable server does not fail it.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Cache, InformerStatus } from "../../layers/Cache.ts"
import type { Check, Probe } from "../../layers/Health.ts"

/**
 * Milliseconds without an event and without an attempt after which an informer counts as dead: a working watch has bookmarks or a timeout within
 * that time.
 */
export const deadAfter = 600_000

/** Tolerated failures in a row: watches end or are rejected now and then and are reopened within seconds. */
const tolerated = 2

/** Milliseconds after which an attempt that has not failed counts as successful. */
const tryTakes = 15_000

/** The checks of a cache. `syncTimeout`: after it, the liveness check has a remark for each kind that has not synced. */
export const checks = (
  cache: Pick<Cache["Service"], "status">,
  syncTimeout: Duration.Duration
): ReadonlyArray<{ readonly probe: Probe; readonly check: Check }> => [
  { probe: "readiness", check: { name: "informer-sync", run: judged(cache, unsynced) } },
  {
    probe: "liveness",
    check: {
      name: "informers",
      run: judged(cache, dead),
      remark: judged(cache, late(Duration.toMillis(syncTimeout)))
    }
  }
]

type Judge = (informers: ReadonlyArray<InformerStatus>, now: number) => string | undefined

const judged = ({ status }: Pick<Cache["Service"], "status">, judge: Judge) =>
  Effect.flatMap(status, (informers) => Effect.map(Clock.currentTimeMillis, (now) => judge(informers, now)))

/** Undefined if all kinds have synced and are watched. `now`: wall clock, milliseconds. */
export const unsynced: Judge = (informers, now) => {
  const waiting = informers.filter(
    (informer) => informer.subscribers > 0 && (!informer.synced || isBehind(informer, now))
  )
  return waiting.length === 0 ? undefined : waiting.map(describe).join("; ")
}

/** Kinds that have not synced in time, as a remark of the liveness check: a restart would not help. */
export const late =
  (limit: number): Judge =>
  (informers, now) => {
    const overdue = informers.filter((one) => one.subscribers > 0 && !one.synced && now - one.startedAt >= limit)
    return overdue.length === 0
      ? undefined
      : `after ${Duration.format(Duration.millis(limit))}: ${overdue.map(describe).join("; ")}`
  }

/**
 * The store is stale because the informer has failed several times in a row. After the server is back, a kind without changes has no events, so an
 * attempt that does not fail within `tryTakes` ends this state.
 */
const isBehind = ({ attempts, lastError }: InformerStatus, now: number): boolean =>
  attempts > tolerated && lastError !== undefined && now < lastError.at + lastError.retryIn + tryTakes

/** Undefined if every informer has had an event or an attempt recently. `now`: wall clock, milliseconds. */
export const dead: Judge = (informers, now) => {
  const silent = informers.filter((informer) => {
    const sign = lastSign(informer)
    return informer.subscribers > 0 && sign !== undefined && now - sign > deadAfter
  })
  if (silent.length === 0) return undefined
  const minutes = deadAfter / 60_000
  return `${silent.map((informer) => informer.resource).join(", ")}: no event and no try for more than ${minutes} minutes`
}

/** The last event or the next attempt; wall clock, milliseconds. Undefined before the first. */
const lastSign = ({ lastError, lastEventAt }: InformerStatus): number | undefined => {
  if (lastError === undefined) return lastEventAt
  return Math.max(lastEventAt ?? 0, lastError.at + lastError.retryIn)
}

const describe = ({ attempts, lastError, resource, selection, synced }: InformerStatus): string => {
  const what = synced ? "not up to date" : "not synced"
  const where = selection.namespace === undefined ? "" : ` in namespace ${selection.namespace}`
  if (lastError === undefined) return `${resource}${where} not synced yet`
  const times = attempts === 0 ? "" : attempts === 1 ? ", failed once" : `, failed ${attempts} times in a row`
  return `${resource}${where} ${what}${times}: ${lastError.message}`
}
