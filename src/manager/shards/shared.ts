/**
 * What the parts of the storage share: the client, the Leases as they are seen, the times, and the registration of this process.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { ShardingConfig } from "effect/cluster/ShardingConfig"
import type { Lease } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"
import { KubeClient } from "../../layers/KubeClient.ts"
import * as Monotonic from "../../streams/monotonic.ts"
import * as LeaseView from "./LeaseView.ts"
import * as Records from "./records.ts"

/** This runner must not take part; the message is one sentence for the user. */
export class ClusterConfigError extends Data.TaggedError("ClusterConfigError")<{ readonly message: string }> {}

/** The storage cannot do now what was asked of it; Effect Cluster asks again. */
export class StorageFailure extends Data.TaggedError("StorageFailure")<{ readonly message: string }> {}

/** The registration of this process. */
export interface Self {
  readonly address: string
  readonly uid: string
  /** As stored last; its version is what the next write is based on. */
  lease: Lease
  /** When (monotonic milliseconds) the last successful renewal was sent. */
  sentAt: number
  /** The Leases of the shards that this process has locked, as stored last. */
  readonly locks: Map<string, Lease>
  /** It is not a runner any more, and keeps its locks until its work has ended. */
  isLeaving: boolean
}

/** Watches the Leases for as long as the scope is open. */
export const make = Effect.fnUntraced(function* (namespace: string, name: string) {
  const config = yield* ShardingConfig
  const clock = yield* Clock.Clock
  const now = Monotonic.millis(clock)
  const expiration = Duration.toMillis(Duration.fromInputUnsafe(config.shardLockExpiration))
  const refreshInterval = Duration.toMillis(Duration.fromInputUnsafe(config.shardLockRefreshInterval))
  const interval = Math.min(refreshInterval, expiration / 3)
  let stamp = 0
  /** Differs from all before, even if the wall clock stands still or is set back. */
  const time = (): string => Time.micro((stamp = Math.max(clock.currentTimeMillisUnsafe() * 1000, stamp + 1)))
  /** Whether a record has been the same for as long as a lock of a runner of this cluster is valid. */
  const isOld = ({ since }: LeaseView.Seen): boolean => now() >= since + expiration
  const isExpired = ({ lease, since }: LeaseView.Seen): boolean =>
    now() >= since + Math.max(1, lease.spec?.leaseDurationSeconds ?? 0) * 1000
  return {
    namespace,
    name,
    client: yield* KubeClient,
    view: yield* LeaseView.make(namespace, name),
    shards: config.shardsPerGroup,
    /** Milliseconds between two renewals. */
    interval,
    now,
    time,
    callTimeout: { timeout: Duration.millis(Math.max(1000, interval / 2)), retries: 0 },
    /** The part of a runner's record that a renewal changes. */
    renewed: () => ({ leaseDurationSeconds: Math.ceil(expiration / 1000), renewTime: time() }),
    /** No process works under this Lease any more, or none will once it is retired. */
    isOver: (one: LeaseView.Seen): boolean => Records.holderOf(one.lease) === "" || isExpired(one),
    isOld,
    /** Until when (monotonic milliseconds) the locks of a registration are proven. */
    provenUntil: (one: Self): number => one.sentAt + (expiration * 2) / 3,
    /** Undefined while this process is not registered. */
    self: undefined as Self | undefined
  }
})

/** See {@link make}. */
export type Shared = Effect.Success<ReturnType<typeof make>>

/** The registration under this address. */
export const registered = ({ self }: Shared, address: string): Self | undefined =>
  self?.address === address ? self : undefined
