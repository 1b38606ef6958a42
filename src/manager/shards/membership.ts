/**
 * The runners: how this process registers, renews its Lease and leaves, which others there are, and what becomes of those that are gone.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Semaphore from "effect/Semaphore"
import * as ApiError from "../../kube/ApiError.ts"
import * as Patch from "../../kube/Patch.ts"
import { Lease } from "../../kube/resources.ts"
import type * as LeaseView from "./LeaseView.ts"
import * as Records from "./records.ts"
import { ClusterConfigError, registered, type Self, type Shared, StorageFailure } from "./shared.ts"

export const make = Effect.fnUntraced(function* (shared: Shared) {
  const { callTimeout, client, interval, isOver, name, namespace, now, renewed, view } = shared
  /** Registering, renewing and leaving write one Lease, one after the other. */
  const oneAtATime = yield* Semaphore.make(1)

  /**
   * Ends the Lease of a runner as it was seen: it loses its holder, and then it is deleted. False: it has been renewed. A Lease that
   * disappears with a holder was not ended in this way, so its runner may still work.
   */
  const retire = (one: LeaseView.Seen) =>
    Effect.gen(function* () {
      const { metadata } = one.lease
      const target = { namespace, name: metadata.name }
      if (!one.isDeleted) {
        if (Records.holderOf(one.lease) !== "") yield* client.update(Lease, Records.freed(one.lease), callTimeout)
        yield* client.delete(Lease, target, { preconditions: { uid: metadata.uid }, ...callTimeout })
      }
      view.forget(one)
      return true
    }).pipe(
      Effect.catchIf(
        (error) => ApiError.hasReason(error, "NotFound", "Conflict"),
        (error) => Effect.succeed(ApiError.hasReason(error, "NotFound"))
      )
    )

  /** Gives this runner a machine id, in the Lease of the cluster. */
  const join = (uid: string) =>
    Effect.gen(function* () {
      const stored = yield* ApiError.unlessGone(client.get(Lease, { namespace, name }, callTimeout))
      const there = yield* client.list(Lease, { namespace, labelSelector: Records.runnersOf(name), ...callTimeout })
      const uids = new Set(there.items.map(({ metadata }) => metadata.uid))
      const { machines = {}, shards = shared.shards } = stored === undefined ? {} : Records.clusterOf(stored)
      const isAlone = there.items.every(({ metadata }) => metadata.uid === uid)
      if (shards !== shared.shards && !isAlone) return yield* differs(shards)
      const wanted = { machines, shards: shared.shards }
      const next = Records.withMachine(wanted, uid, (one) => uids.has(one))
      if (next === undefined) {
        const message = `the cluster of runners ${namespace}/${name} has ${Records.machineIds} runners, and no machine id is left`
        return yield* new ClusterConfigError({ message })
      }
      const lease = Records.clusterLease(name, namespace, next.record, stored)
      yield* stored === undefined ? client.create(Lease, lease, callTimeout) : client.update(Lease, lease, callTimeout)
      return next.id
    }).pipe(
      Effect.retry({
        while: (error) => error._tag === "ApiError" && ApiError.hasReason(error, "Conflict", "AlreadyExists"),
        times: 100
      })
    )

  const differs = (shards: number) =>
    new ClusterConfigError({
      message: `the runners of ${namespace}/${name} have ${shards} shards and this one has ${shared.shards}: stop them all before you change the number`
    })

  /** Another number of shards is refused as soon as a runner renews its Lease. Runners that are gone prevent nothing. */
  const checkShards = Effect.gen(function* () {
    const stored = view.get(name)
    const shards = stored === undefined ? undefined : Records.clusterOf(stored.lease).shards
    if (shards === undefined || shards === shared.shards) return
    const first = new Map(view.runners().map(({ lease, since }) => [lease.metadata.uid, since]))
    while (view.runners().some((one) => !isOver(one))) {
      const isAlive = view.runners().some(({ lease, since }) => first.get(lease.metadata.uid) !== since)
      if (isAlive) return yield* differs(shards)
      yield* Effect.sleep("1 second")
    }
    yield* Effect.forEach(view.runners(), retire, { discard: true })
  })

  const register = Effect.fnUntraced(function* (address: string, runner: string, healthy: boolean) {
    yield* view.synced
    const mine = registered(shared, address)
    if (mine?.isLeaving === true) yield* leave(mine)
    const before = view.get(Records.runnerName(name, address))
    if (mine !== undefined && before?.lease.metadata.uid === mine.uid) return yield* join(mine.uid)
    if (before !== undefined && !(isOver(before) && (yield* retire(before)))) {
      const message = `an earlier process with the address ${address} may still run: waiting until its Lease ${namespace}/${before.lease.metadata.name} expires`
      return yield* new StorageFailure({ message })
    }
    const sentAt = now()
    const draft = Records.runnerLease(name, namespace, { address, runner, healthy }, renewed())
    const lease = yield* client.create(Lease, draft, callTimeout)
    const uid = lease.metadata.uid ?? ""
    const id = yield* join(uid).pipe(
      Effect.onError(() => Effect.ignore(retire({ lease, since: sentAt, isDeleted: false })))
    )
    shared.self = { address, uid, lease, sentAt, locks: new Map(), isLeaving: false }
    return id
  })

  /** Writes the record of this runner again; false: it has been deleted, and all locks are gone with it. */
  const renew = Effect.fnUntraced(function* (mine: Self) {
    const attempt = Effect.suspend(() => {
      const sentAt = now()
      const kept = { ...mine.lease, spec: { ...mine.lease.spec, ...renewed() } }
      const runner = mine.isLeaving ? Records.leaving(kept) : kept
      const lease = Records.withLocks(runner, mine.locks.keys())
      return Effect.map(client.update(Lease, lease, callTimeout), (stored) => ({ stored, sentAt }))
    })
    const stored = yield* attempt.pipe(
      Effect.catchIf(
        (error) => ApiError.hasReason(error, "Conflict"),
        () =>
          Effect.flatMap(client.get(Lease, { namespace, name: mine.lease.metadata.name }, callTimeout), (lease) => {
            if (lease.metadata.uid !== mine.uid || Records.holderOf(lease) !== mine.address)
              return Effect.succeed(undefined)
            mine.lease = lease
            return attempt
          })
      ),
      Effect.catchIf(
        (error) => ApiError.hasReason(error, "NotFound"),
        () => Effect.succeed(undefined)
      )
    )
    if (stored === undefined || stored.stored.metadata.uid !== mine.uid) {
      if (shared.self === mine) shared.self = undefined
      return false
    }
    mine.lease = stored.stored
    mine.sentAt = stored.sentAt
    return true
  })

  /**
   * A server that does not respond for a moment must not cost the locks: while they are proven for longer than until the next renewal, they
   * are kept.
   */
  const refresh = Effect.fnUntraced(function* (address: string, shards: ReadonlyArray<string>) {
    const mine = registered(shared, address)
    if (mine === undefined) return []
    const isThere = yield* renew(mine).pipe(
      Effect.retry({ schedule: Schedule.spaced("500 millis"), while: ApiError.isTransient }),
      Effect.timeoutOption(interval / 2),
      Effect.flatMap((result) => {
        if (Option.isSome(result)) return Effect.succeed(result.value)
        if (now() + interval < shared.provenUntil(mine)) return Effect.succeed(true)
        return new StorageFailure({ message: `the Lease of runner ${address} could not be renewed in time` })
      })
    )
    return isThere ? shards.filter((shard) => mine.locks.has(shard)) : []
  })

  /**
   * Effect Cluster unregisters a runner before its entities end. The others divide the shards among themselves from now on, but each lock is this runner's
   * until it is released. The next renewal does it if this one fails.
   */
  const unregister = Effect.fnUntraced(function* (address: string) {
    const mine = registered(shared, address)
    if (mine === undefined) return
    mine.isLeaving = true
    yield* renew(mine)
  })

  /** Ends this registration, and all its locks with it. Others may write into the Lease until it has ended: whether its runner is healthy. */
  const leave = (mine: Self) =>
    Effect.gen(function* () {
      if (shared.self === mine) shared.self = undefined
      let lease: Lease | undefined = mine.lease
      while (lease?.metadata.uid === mine.uid && !(yield* retire({ lease, since: 0, isDeleted: false })))
        lease = yield* ApiError.unlessGone(
          client.get(Lease, { namespace, name: mine.lease.metadata.name }, callTimeout)
        )
    })

  /** The Lease of a runner that has expired is deleted by the first process that sees it. */
  const getRunners = Effect.gen(function* () {
    yield* view.synced
    const all = view.runners()
    yield* Effect.forEach(all.filter(isOver), (one) => Effect.ignore(retire(one)), { discard: true })
    return all.flatMap((one): ReadonlyArray<readonly [string, boolean]> => {
      const record = one.isDeleted ? undefined : Records.runnerOf(one.lease)
      return record === undefined ? [] : [[record.runner, record.healthy && !isOver(one)]]
    })
  })

  const find = (address: string): LeaseView.Seen | undefined => view.get(Records.runnerName(name, address))

  const setRunnerHealth = (address: string, healthy: boolean) =>
    Effect.suspend(() => {
      const seen = find(address)
      // An expired Lease says by itself that its runner is not healthy.
      if (seen === undefined || isOver(seen) || Records.runnerOf(seen.lease)?.healthy === healthy) return Effect.void
      const target = { namespace, name: seen.lease.metadata.name }
      return Effect.asVoid(
        ApiError.unlessGone(client.patch(Lease, target, Patch.merge(Records.healthyPatch(healthy)), callTimeout))
      )
    })

  return {
    /** Writes into the Lease of this runner which locks it has. The next renewal does it if this fails. */
    announce: (mine: Self) => Effect.ignore(oneAtATime.withPermits(1)(renew(mine))),
    checkShards,
    getRunners,
    isAlive: (address: string): boolean => {
      const seen = find(address)
      return seen !== undefined && !isOver(seen)
    },
    leave: (mine: Self) => oneAtATime.withPermits(1)(leave(mine)),
    refresh: (address: string, shards: ReadonlyArray<string>) => oneAtATime.withPermits(1)(refresh(address, shards)),
    register: (address: string, runner: string, healthy: boolean) =>
      oneAtATime.withPermits(1)(register(address, runner, healthy)),
    retire,
    setRunnerHealth,
    unregister: (address: string) => oneAtATime.withPermits(1)(unregister(address))
  }
})

/** See {@link make}. */
export type Membership = Effect.Success<ReturnType<typeof make>>
