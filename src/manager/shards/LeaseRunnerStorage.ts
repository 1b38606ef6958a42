/**
 * Effect Cluster's `RunnerStorage` on Leases, so that any application of Effect Cluster can use a Kubernetes cluster in place of a database: runners,
 * their health, and the locks of shards. Nothing here is expensive at rest: a runner renews one Lease, and all Leases are read by one watch. States,
 * invariants and rejected alternatives: docs/design/sharding.md.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { PersistenceError } from "effect/cluster/ClusterError"
import * as RunnerHealth from "effect/cluster/RunnerHealth"
import * as RunnerStorage from "effect/cluster/RunnerStorage"
import type { ShardingConfig } from "effect/cluster/ShardingConfig"
import type { ApiError } from "../../kube/ApiError.ts"
import * as NameSyntax from "../../kube/nameSyntax.ts"
import type { Cache } from "../../layers/Cache.ts"
import type { KubeClient } from "../../layers/KubeClient.ts"
import * as Locks from "./locks.ts"
import * as Membership from "./membership.ts"
import * as Records from "./records.ts"
import * as Shared from "./shared.ts"

/** Where the Leases are. */
export interface Options {
  /** Their namespace. */
  readonly namespace: string
  /** The name of the cluster of runners: the prefix of all names, and a label. At most 63 characters, as in the name of a Service. */
  readonly name: string
}

export { ClusterConfigError } from "./shared.ts"

/** The locks of shards, which are written as `group:number`. Both functions read memory only, and need no message that may be late. */
export class ShardLocks extends Context.Service<
  ShardLocks,
  {
    /** Until when (milliseconds of the monotonic clock) this process certainly holds the lock of a shard; undefined without one. */
    readonly provenUntilUnsafe: (shard: string) => number | undefined
    /** The address of the runner that holds the lock of a shard, as this process sees it; undefined while no runner that renews its Lease does. */
    readonly holderUnsafe: (shard: string) => string | undefined
  }
>()("effect-controller-manager/ShardLocks") {}

/**
 * Stores runners and locks as Leases. The expiration of a lock, the interval of renewals and the number of shards are those of `ShardingConfig`. Fails
 * when the runners that are there have another number of shards. Needs the rights to get, list, watch, create, update, patch and delete Leases.
 * `RunnerHealth` follows the Leases of runners, so nothing else has to be provided for it. An application with sockets:
 *
 * ```ts
 * const cluster = SocketRunner.layer.pipe(
 *   Layer.provide([NodeClusterSocket.layerSocketServer, NodeClusterSocket.layerClientProtocol]),
 *   Layer.provide([LeaseRunnerStorage.layer({ namespace: "default", name: "counters" }), MessageStorage.layerNoop]),
 *   Layer.provide([kubernetes, RpcSerialization.layerSchemaBinary()]),
 *   Layer.provideMerge(ShardingConfig.layerFromEnv())
 * )
 * ```
 *
 * `kubernetes` provides `Cache` and `KubeClient`. `examples/entities` is the whole program.
 */
export const layer = (
  options: Options
): Layer.Layer<
  RunnerStorage.RunnerStorage | RunnerHealth.RunnerHealth | ShardLocks,
  Shared.ClusterConfigError | ApiError,
  Cache | KubeClient | ShardingConfig
> => Layer.effectContext(make(options))

const make = Effect.fnUntraced(function* ({ name, namespace }: Options) {
  const [nameError] = NameSyntax.dnsLabel(name)
  if (nameError !== undefined) {
    const message = `the name of the cluster of runners, "${name}": ${nameError}`
    return yield* new Shared.ClusterConfigError({ message })
  }
  const shared = yield* Shared.make(namespace, name)
  const members = yield* Membership.make(shared)
  const locks = yield* Locks.make(shared, members)
  yield* shared.view.synced
  yield* members.checkShards

  const persisted = <A, E>(effect: Effect.Effect<A, E>) => PersistenceError.refail(effect)
  const storage = RunnerStorage.makeEncoded({
    getRunners: persisted(Effect.tap(members.getRunners, () => locks.repair)),
    register: (address, runner, healthy) => persisted(members.register(address, runner, healthy)),
    unregister: (address) => persisted(members.unregister(address)),
    setRunnerHealth: (address, healthy) => persisted(members.setRunnerHealth(address, healthy)),
    acquire: (address, shards) => persisted(locks.acquire(address, shards)),
    refresh: (address, shards) => persisted(members.refresh(address, shards)),
    release: (address, shard) => persisted(locks.release(address, shard)),
    releaseAll: (address) => persisted(locks.releaseAll(address))
  })
  const isAlive: RunnerHealth.RunnerHealth["Service"]["isAlive"] = ({ host, port }) =>
    Effect.sync(() => members.isAlive(`${host}:${port}`))
  const provenUntilUnsafe = (shard: string): number | undefined =>
    shared.self?.locks.has(shard) === true ? shared.provenUntil(shared.self) : undefined
  const holderUnsafe = (shard: string): string | undefined => {
    const lock = shared.view.get(Records.shardName(name, shard))?.lease
    const runner = shared.view.runner((lock && Records.lockedBy(lock)) ?? "")
    return runner === undefined || shared.isOver(runner) ? undefined : Records.holderOf(runner.lease)
  }
  return Context.make(RunnerStorage.RunnerStorage, storage).pipe(
    Context.add(RunnerHealth.RunnerHealth, RunnerHealth.RunnerHealth.of({ isAlive })),
    Context.add(ShardLocks, ShardLocks.of({ holderUnsafe, provenUntilUnsafe }))
  )
})
