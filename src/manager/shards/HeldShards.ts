/**
 * The shards that this process holds, from Effect Cluster. It publishes no event when a shard arrives or leaves, but it starts singletons on shards that it
 * has acquired, and waits for their end before it releases a lock. So there is one singleton for each shard, under a name that the hash of Effect Cluster
 * puts there: it opens a term while the lock is proven, and a scope in it for each work.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as EntityId from "effect/cluster/EntityId"
import * as MessageStorage from "effect/cluster/MessageStorage"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import * as Runners from "effect/cluster/Runners"
import * as Sharding from "effect/cluster/Sharding"
import * as ShardingConfig from "effect/cluster/ShardingConfig"
import { LeaderLost } from "../../layers/Leadership.ts"
import { type Shard, Shards } from "../../layers/Shards.ts"
import * as Monotonic from "../../streams/monotonic.ts"
import * as LeaseRunnerStorage from "./LeaseRunnerStorage.ts"

/** Something that is done for each held shard. */
interface Work {
  readonly run: (shard: Shard) => Effect.Effect<void, never, Scope.Scope>
  /** The scopes in which it is being done, by the number of the shard. */
  readonly scopes: Map<number, Scope.Closeable>
}

interface Held {
  readonly shard: Shard
  readonly scope: Scope.Scope
}

/** The group of Effect Cluster's shards. */
const group = "default"

const lockOf = (number: number): string => `${group}:${number}`

const metrics = {
  held: Metric.gauge("sharding_shards_held", { description: "Shards whose objects this replica reconciles" }),
  unowned: Metric.gauge("sharding_shards_unowned", {
    description: "Shards that no replica holds, as this replica sees it"
  }),
  unownedSeconds: Metric.counter("sharding_unowned_seconds_total", {
    description: "Seconds for which shards had no replica, of all shards together, as this replica has seen it",
    incremental: true
  }),
  handoffs: Metric.counter("sharding_handoffs_total", {
    description: "Moves of a shard from one replica to another, as this replica has seen it",
    incremental: true
  })
}

/** How often the holders of shards are counted; in memory. */
const counting = Duration.seconds(1)

/** How long no runner must have joined before the shards are divided anew: several that start at the same time are one change. */
const quiet = "5 seconds"

/** How often a lock that is held but not proven is looked at again: its runner has not renewed its Lease for some time. */
const interval = "100 millis"

const make = Effect.gen(function* () {
  const sharding = yield* Sharding.Sharding
  const locks = yield* LeaseRunnerStorage.ShardLocks
  const { shardsPerGroup: count } = yield* ShardingConfig.ShardingConfig
  const now = Monotonic.millis(yield* Clock.Clock)
  const works = new Set<Work>()
  const held = new Map<number, Held>()

  /** Once for each work and term, although both a new work and a new term open what is missing. */
  const open = ({ run, scopes }: Work, { scope, shard }: Held): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (scopes.has(shard.number)) return Effect.void
      const own = Scope.forkUnsafe(scope)
      scopes.set(shard.number, own)
      const forget = Effect.sync(() => void scopes.delete(shard.number))
      return Effect.andThen(Scope.addFinalizer(own, forget), Scope.provide(run(shard), own))
    })

  const each: Shards["each"] = (run) =>
    Effect.contextWith((caller: Context.Context<Scope.Scope>) => {
      // The work belongs to the caller, with its services, annotations and limits; only its scope is that of the shard.
      const own = (shard: Shard) =>
        Effect.updateContext(run(shard), (inner: Context.Context<Scope.Scope>) =>
          Context.add(caller, Scope.Scope, Context.get(inner, Scope.Scope))
        )
      const work: Work = { run: own, scopes: new Map() }
      const begin = Effect.suspend(() => {
        works.add(work)
        return Effect.forEach([...held.values()], (one) => open(work, one), { discard: true })
      })
      const end = Effect.suspend(() => {
        works.delete(work)
        const closing = [...work.scopes.values()].map((scope) => Scope.close(scope, Exit.void))
        return Effect.all(closing, { concurrency: "unbounded", discard: true })
      })
      return Effect.acquireRelease(begin, () => end)
    })

  /** Milliseconds for which the lock of a shard is still proven. */
  const provenFor = (shard: string): number => (locks.provenUntilUnsafe(shard) ?? -Infinity) - now()

  /** One term of a shard, from when its lock is proven until it is not. */
  const term = Effect.fnUntraced(function* (number: number) {
    const shard = lockOf(number)
    while (provenFor(shard) <= 0) yield* Effect.sleep(interval)
    const lost = Deferred.makeUnsafe<LeaderLost>()
    /** A renewal that arrives after the end does not revive a term. */
    const isValidUnsafe = (): boolean => {
      if (Deferred.isDoneUnsafe(lost)) return false
      if (provenFor(shard) > 0) return true
      end("NotRenewed", `the lock of shard ${shard} was not renewed in time`)
      return false
    }
    const end = (reason: LeaderLost["reason"], message: string) =>
      Deferred.doneUnsafe(lost, Effect.succeed(new LeaderLost({ reason, message })))
    // From before the works until they have ended: a lock may expire while they end.
    yield* Effect.forkScoped(
      Effect.whileLoop({
        while: isValidUnsafe,
        body: () => Effect.sleep(Math.ceil(provenFor(shard))),
        step: () => {}
      })
    )
    // Works end side by side, and with them the runs of all controllers.
    const scope = yield* Effect.acquireRelease(Scope.make("parallel"), (one, exit) =>
      Effect.ensuring(
        Scope.close(one, exit),
        Effect.sync(() => end("Released", `shard ${shard} was released`))
      )
    )
    const one: Held = { shard: { number, term: { lost: Deferred.await(lost), isValidUnsafe } }, scope }
    yield* Effect.acquireRelease(
      Effect.sync(() => held.set(number, one)),
      () => Effect.sync(() => held.delete(number))
    )
    yield* Effect.forEach([...works], (work) => open(work, one), { discard: true })
    yield* Deferred.await(lost)
  }, Effect.scoped)

  const holders = new Map<number, string>()
  const watchHolders = Effect.gen(function* () {
    let [handoffs, unowned] = [0, 0]
    for (let number = 1; number <= count; number++) {
      const holder = locks.holderUnsafe(lockOf(number))
      if (holder === undefined) unowned++
      else {
        if ((holders.get(number) ?? holder) !== holder) handoffs++
        holders.set(number, holder)
      }
    }
    yield* Metric.update(metrics.held, held.size)
    yield* Metric.update(metrics.unowned, unowned)
    yield* Metric.update(metrics.unownedSeconds, unowned * Duration.toSeconds(counting))
    yield* Metric.update(metrics.handoffs, handoffs)
    yield* Effect.sleep(counting)
  })
  yield* Effect.forkScoped(Effect.forever(watchHolders))
  yield* Effect.forEach(
    names(count, (name) => sharding.getShardId(EntityId.make(name), group).id),
    ([number, name]) => sharding.registerSingleton(name, Effect.forever(term(number))),
    { discard: true }
  )
  return { count, each } satisfies Shards
})

/** A name for each shard, that belongs to this shard. */
const names = (count: number, shardOf: (name: string) => number): ReadonlyMap<number, string> => {
  const found = new Map<number, string>()
  for (let index = 0; found.size < count; index++) {
    const name = `shard-${index}`
    const number = shardOf(name)
    if (!found.has(number)) found.set(number, name)
  }
  return found
}

/** Provides `Shards` from Effect Cluster's sharding on Leases. */
export const layer: Layer.Layer<
  never,
  never,
  Sharding.Sharding | LeaseRunnerStorage.ShardLocks | ShardingConfig.ShardingConfig
> = Layer.effect(Shards, make)

/** The runners, and this one among them. */
export interface Options extends LeaseRunnerStorage.Options {
  /** Of this process; no other has the same. */
  readonly address: string
  /** The same for all runners. */
  readonly shards: number
  /** The time without a renewal after which others take the shards of a runner. */
  readonly expiration: Duration.Duration
}

/** The same with all that it needs: Leases store who holds what, and no messages are sent between runners. */
export const layerLeases = ({ address, expiration, shards, ...where }: Options) =>
  layer.pipe(
    Layer.provide(Sharding.layer),
    Layer.provide(Runners.layerNoop),
    Layer.provide(MessageStorage.layerNoop),
    Layer.provide(LeaseRunnerStorage.layer(where)),
    Layer.provide(
      ShardingConfig.layer({
        runnerAddress: Option.some(RunnerAddress.make(address, 0)),
        shardsPerGroup: shards,
        shardLockExpiration: expiration,
        shardLockRefreshInterval: Duration.divideUnsafe(expiration, 3),
        // Read from memory, so it costs no request.
        refreshAssignmentsInterval: "1 second",
        runnerHealthCheckInterval: "5 seconds",
        runnerJoinDebounce: quiet
      })
    )
  )
