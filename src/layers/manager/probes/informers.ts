/**
 * What the probes say of informers, from their status alone. Readiness: has every kind synced; and if not, which, and what
 * the server said last. Liveness: does every informer still try; a server that is away makes nobody dead.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Cache, InformerStatus } from "../../Cache.ts"
import type { Check, Probe } from "../../Health.ts"

/** Milliseconds without a word from the server and without a try: no watch that lives is silent for so long. */
export const deadAfter = 600_000

/** For whoever runs controllers on a cache. */
export const checks = (
  cache: Pick<Cache["Service"], "status">
): ReadonlyArray<{ readonly probe: Probe; readonly check: Check }> => [
  { probe: "readiness", check: { name: "informer-sync", run: Effect.map(cache.status, unsynced) } },
  {
    probe: "liveness",
    check: {
      name: "informers",
      run: Effect.flatMap(cache.status, (status) => Effect.map(Clock.currentTimeMillis, (now) => dead(status, now)))
    }
  }
]

/** Undefined when all kinds have synced. */
export const unsynced = (informers: ReadonlyArray<InformerStatus>): string | undefined => {
  const waiting = informers.filter((informer) => informer.subscribers > 0 && !informer.synced)
  return waiting.length === 0 ? undefined : waiting.map(describe).join("; ")
}

/** Undefined while every informer has heard something or tried something lately. `now`: wall clock, milliseconds. */
export const dead = (informers: ReadonlyArray<InformerStatus>, now: number): string | undefined => {
  const silent = informers.filter((informer) => {
    const sign = lastSign(informer)
    return informer.subscribers > 0 && sign !== undefined && now - sign > deadAfter
  })
  if (silent.length === 0) return undefined
  const minutes = deadAfter / 60_000
  return `${silent.map((informer) => informer.resource).join(", ")}: no event and no try for more than ${minutes} minutes`
}

/** When it last heard from the server or will have tried again; wall clock, milliseconds. Undefined before the first time. */
const lastSign = ({ lastError, lastEventAt }: InformerStatus): number | undefined => {
  if (lastError === undefined) return lastEventAt
  return Math.max(lastEventAt ?? 0, lastError.at + lastError.retryIn)
}

const describe = ({ attempts, lastError, resource, selection }: InformerStatus): string => {
  const where = selection.namespace === undefined ? "" : ` in namespace ${selection.namespace}`
  if (lastError === undefined) return `${resource}${where} not synced yet`
  const times = attempts === 1 ? "once" : `${attempts} times in a row`
  return `${resource}${where} not synced, failed ${times}: ${lastError.message}`
}
