/** The locks of shards: how this process takes and frees them, and how it repairs what differs from what it knows. */
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import * as ApiError from "../../kube/ApiError.ts"
import { Lease } from "../../kube/resources.ts"
import type * as LeaseView from "./LeaseView.ts"
import type { Membership } from "./membership.ts"
import * as Records from "./records.ts"
import { registered, type Self, type Shared } from "./shared.ts"

/** How many Leases of shards are written at once. */
const concurrency = 16

export const make = Effect.fnUntraced(function* (shared: Shared, { announce, leave, retire }: Membership) {
  const { callTimeout, client, interval, isOld, isOver, name, namespace, now, time, view } = shared
  /** Locks are taken and freed by one caller at a time; renewals do not wait for that. */
  const moving = yield* Semaphore.make(1)

  /** Whether no process works under this Lease any more. */
  const isGone = (one: LeaseView.Seen | undefined) =>
    one !== undefined && isOver(one) ? retire(one) : Effect.succeed(false)

  const isAbsent = (shard: string): boolean => view.get(Records.shardName(name, shard))?.isDeleted !== false

  /** Which other runners have a lock by their own Leases, as the server has them now. */
  const claims = Effect.fnUntraced(function* ({ uid: own }: Self) {
    const { items } = yield* client.list(Lease, { namespace, labelSelector: Records.runnersOf(name), ...callTimeout })
    return (shard: string): ReadonlyArray<string> =>
      items.flatMap((one) => {
        const { uid = "" } = one.metadata
        return uid !== own && Records.hasLock(one, shard) ? [uid] : []
      })
  })

  /** Whether this runner has the lock afterwards. A conflict means that someone was faster. `claimedBy`: the uids of other runners that have it. */
  const lock = Effect.fnUntraced(function* (
    mine: Self,
    shard: string,
    claimedBy: (shard: string) => ReadonlyArray<string>
  ) {
    if (mine.locks.has(shard)) return true
    const seen = view.get(Records.shardName(name, shard))
    const uid = seen === undefined ? undefined : Records.lockedBy(seen.lease)
    const holder = uid === undefined || uid === mine.uid ? undefined : view.runner(uid)
    if (holder !== undefined && !(yield* isGone(holder))) return false
    // A runner that this process has neither seen nor seen leave: a person may have deleted its Lease just now.
    const isUnknown = holder === undefined && uid !== undefined && uid !== mine.uid && !view.isRetired(uid)
    if (seen !== undefined && isUnknown && !isOld(seen)) return false
    for (const claimant of isAbsent(shard) ? claimedBy(shard) : []) {
      if (claimant !== holder?.lease.metadata.uid && !(yield* isGone(view.runner(claimant)))) return false
    }
    const lease = Records.lockLease(name, namespace, shard, mine, seen?.lease, time())
    const stored = yield* (
      seen === undefined || seen.isDeleted
        ? client.create(Lease, Records.renewable(lease), callTimeout)
        : client.update(Lease, lease, callTimeout)
    ).pipe(
      Effect.catchIf(
        (error) => ApiError.hasReason(error, "Conflict", "AlreadyExists", "NotFound"),
        () => Effect.succeed(undefined)
      )
    )
    if (stored === undefined || shared.self !== mine) return false
    mine.locks.set(shard, stored)
    return true
  })

  /**
   * Several locks; the Lease of their runner names them afterwards. Where the Lease of a lock is absent, a person may have deleted it, and this process may
   * not have seen who had it. So the Leases of the runners are read first, which is not needed otherwise. One write that fails costs one lock, and a slow
   * server gives some of them before Effect Cluster stops to wait: it asks for the others again. Locks of which it does not get to know are forgotten, so
   * that they are freed.
   */
  const acquire = (mine: Self, shards: ReadonlyArray<string>) => {
    const before = new Set(mine.locks.keys())
    const failures: Array<ApiError.ApiError> = []
    return Effect.gen(function* () {
      const claimedBy = shards.some((shard) => !before.has(shard) && isAbsent(shard)) ? yield* claims(mine) : () => []
      const until = now() + interval / 3
      const attempt = (shard: string) =>
        Effect.suspend(() => (now() < until ? lock(mine, shard, claimedBy) : Effect.succeed(before.has(shard)))).pipe(
          Effect.catch((error) =>
            Effect.as(
              Effect.sync(() => failures.push(error)),
              false
            )
          )
        )
      const locked = yield* Effect.filter(shards, attempt, { concurrency })
      const [failure] = failures
      if (locked.length === 0 && failure !== undefined) return yield* failure
      if (mine.locks.size > before.size) yield* announce(mine)
      return locked
    }).pipe(
      Effect.onError(() =>
        Effect.sync(() => {
          for (const shard of mine.locks.keys()) if (!before.has(shard)) mine.locks.delete(shard)
        })
      )
    )
  }

  const unlock = Effect.fnUntraced(function* (mine: Self, shard: string) {
    const lease = mine.locks.get(shard)
    if (lease === undefined) return
    mine.locks.delete(shard)
    yield* client.update(Lease, Records.freed(lease), callTimeout).pipe(
      Effect.catchIf(
        (error) => ApiError.hasReason(error, "Conflict", "NotFound"),
        () => free(mine, lease)
      )
    )
  })

  /** Frees a lock if the server has it as this runner's. One that someone has deleted is created, so that others see that it is free. */
  const free = (mine: Self, lease: Lease) =>
    Effect.gen(function* () {
      const stored = yield* ApiError.unlessGone(
        client.get(Lease, { namespace, name: lease.metadata.name }, callTimeout)
      )
      if (stored !== undefined && Records.lockedBy(stored) !== mine.uid) return
      yield* stored === undefined
        ? client.create(Lease, Records.freed(Records.renewable(lease)), callTimeout)
        : client.update(Lease, Records.freed(stored), callTimeout)
    }).pipe(Effect.retry({ while: (error) => ApiError.hasReason(error, "Conflict", "AlreadyExists"), times: 5 }))

  /**
   * What the Leases say and what this runner knows may differ: a response that was lost leaves a lock that it does not know of and that no other runner may
   * take while it is alive, and a person may delete the Lease of a lock that it has.
   */
  const reconcileLocks = Effect.suspend(() => {
    const mine = shared.self
    if (mine === undefined) return Effect.void
    const known = new Set([...mine.locks.values()].map(({ metadata }) => metadata.name))
    const unknown = view.locksOf(mine.uid).filter(({ metadata }) => !known.has(metadata.name))
    const missing = [...mine.locks].filter(([, { metadata }]) => view.get(metadata.name)?.isDeleted === true)
    const repairs = [
      ...unknown.map((lease) => free(mine, lease)),
      ...missing.map(([shard, lease]) => restore(mine, shard, lease))
    ]
    return Effect.forEach(repairs, (repair) => Effect.ignore(repair), { concurrency, discard: true })
  })

  /** Creates the Lease of a lock again. If someone was faster, the lock is theirs. */
  const restore = (mine: Self, shard: string, lease: Lease) =>
    client.create(Lease, Records.renewable(lease), callTimeout).pipe(
      Effect.map((stored) => void mine.locks.set(shard, stored)),
      Effect.catchIf(
        (error) => ApiError.hasReason(error, "AlreadyExists"),
        () => Effect.sync(() => void mine.locks.delete(shard))
      )
    )

  return {
    acquire: (address: string, shards: ReadonlyArray<string>) => {
      const mine = registered(shared, address)
      if (mine === undefined) return Effect.succeed([])
      return moving.withPermits(1)(Effect.suspend(() => acquire(mine, shards)))
    },
    release: (address: string, shard: string) => {
      const mine = registered(shared, address)
      return mine === undefined ? Effect.void : moving.withPermits(1)(unlock(mine, shard))
    },
    releaseAll: (address: string) => {
      const mine = registered(shared, address)
      if (mine === undefined) return Effect.void
      if (mine.isLeaving) return leave(mine)
      const all = Effect.suspend(() =>
        Effect.forEach([...mine.locks.keys()], (shard) => unlock(mine, shard), { concurrency, discard: true })
      )
      return moving.withPermits(1)(all)
    },
    /** Not while locks are being taken or freed. */
    repair: moving.withPermitsIfAvailable(1)(reconcileLocks)
  }
})
