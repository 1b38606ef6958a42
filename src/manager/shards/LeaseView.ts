/**
 * The Leases of a cluster of runners as one watch delivers them, and since when each has been unchanged on this process' monotonic clock. Because one
 * watch delivers all of them in the order of their versions, a lock is never seen before the Lease of the runner that took it.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Lease } from "../../kube/resources.ts"
import { Cache } from "../../layers/Cache.ts"
import * as Monotonic from "../../streams/monotonic.ts"
import * as Records from "./records.ts"

/** A Lease as it was seen last. */
export interface Seen {
  readonly lease: Lease
  /** Since when (monotonic milliseconds) its record has been the same. */
  readonly since: number
  /** It was deleted while it had a holder, who may not know that yet. */
  readonly isDeleted: boolean
}

export interface LeaseView {
  /** Waits until all Leases have been received once. */
  readonly synced: Effect.Effect<void>
  /** By name. A Lease that was deleted while it had a holder stays until another one has its name, or it is forgotten. */
  readonly get: (name: string) => Seen | undefined
  readonly runners: () => ReadonlyArray<Seen>
  /** By the uid of the Lease. */
  readonly runner: (uid: string) => Seen | undefined
  /** Whether the runner with this uid has left, or was retired, as this process has seen it. */
  readonly isRetired: (uid: string) => boolean
  /** The locks that the runner with this uid has. */
  readonly locksOf: (uid: string) => ReadonlyArray<Lease>
  readonly forget: (one: Seen) => void
}

/** How many runners that are gone are remembered. One that is forgotten only makes others wait longer for its locks. */
const remembered = 4096

/** Watches for as long as the scope is open. */
export const make = Effect.fnUntraced(function* (namespace: string, cluster: string) {
  const cache = yield* Cache
  const now = Monotonic.millis(yield* Clock.Clock)
  const all = new Map<string, Seen>()
  /** By uid: a runner may have come back under its name while its earlier Lease is still of interest. */
  const runners = new Map<string, Seen>()
  /** Runners that are gone, by uid. */
  const retired = new Set<string>()
  const retire = (uid: string): void => {
    runners.delete(uid)
    retired.add(uid)
    const [oldest = uid] = retired
    if (retired.size > remembered) retired.delete(oldest)
  }
  const selection = { namespace, labelSelector: `${Records.clusterLabel}=${cluster}` }
  const informer = yield* cache.subscribe(Lease, { selection })
  yield* informer.onDeltas((deltas) => {
    for (const { _tag, object: lease } of deltas) {
      const { name, uid = "" } = lease.metadata
      const before = all.get(name)
      const isSame = before?.lease.metadata.uid === uid && record(before.lease) === record(lease)
      const isDeleted = _tag === "Deleted"
      const seen = { lease, since: isSame ? before.since : now(), isDeleted }
      const isRunner = Records.roleOf(lease) === "runner"
      if (isDeleted && Records.holderOf(lease) === "") {
        all.delete(name)
        if (isRunner) retire(uid)
      } else {
        all.set(name, seen)
        if (isRunner) runners.set(uid, seen)
      }
    }
  })
  const view: LeaseView = {
    synced: informer.synced,
    get: (name) => all.get(name),
    runners: () => [...runners.values()],
    runner: (uid) => runners.get(uid),
    isRetired: (uid) => retired.has(uid),
    locksOf: (uid) =>
      [...all.values()].flatMap(({ isDeleted, lease }) =>
        !isDeleted && Records.lockedBy(lease) === uid ? [lease] : []
      ),
    forget: ({ lease: { metadata } }) => {
      retire(metadata.uid ?? "")
      if (all.get(metadata.name)?.lease.metadata.uid === metadata.uid) all.delete(metadata.name)
    }
  }
  return view
})

/** What a renewal changes. Labels and annotations do not count: someone else may change them while the runner is dead. */
const record = (lease: Lease): string => JSON.stringify(lease.spec ?? {})
