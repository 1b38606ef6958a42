/**
 * The keys of a controller that this process reconciles when its work is divided into shards. Keys of other shards are dropped before the queue, and once
 * more before a run, because a shard may have moved meanwhile. When a shard arrives, the keys of its objects are added from the stores. When it leaves, no
 * further run of its keys starts, and those in flight end before the lock is released. A run has the term of its shard, which fences its writes.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import * as Key from "../../kube/Key.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import * as ShardHash from "../../kube/shardHash.ts"
import type { KeyedQueue } from "../../streams/queue/KeyedQueue.ts"
import type { Outcome } from "../../streams/reconcile/Reconcile.ts"
import type { Delta } from "../../streams/store/Store.ts"
import type { Cache } from "../Cache.ts"
import { CurrentTerm } from "../Leadership.ts"
import type { Shard, Shards } from "../Shards.ts"
import * as Shutdown from "../Shutdown.ts"

/** Which text of a key determines its shard. */
export type ShardBy<A> = "namespace" | "key" | ((object: A) => string)

/** How the work of a controller is divided among replicas. */
export interface Divided<in A> {
  /**
   * Divides the objects of the `for` kind among replicas, in a program that runs with `--sharding`: by their namespace, by their key, or by a text that a
   * function derives from an object. Each text belongs to one shard, and each shard to one replica at a time. The text must not change as long as the
   * object exists. Default: the leader reconciles all objects. Without `--sharding` it has no effect.
   */
  readonly shardBy?: ShardBy<A> | undefined
  /**
   * True: a reconcile reads no objects of other namespaces than that of its key; cluster-scoped kinds do not matter. It goes with
   * `shardBy: "namespace"`, and allows `--sharding-cache=own`, by which each replica lists, watches and stores only the namespaces of its shards. Default false.
   */
  readonly staysInNamespace?: boolean | undefined
}

export interface Options {
  readonly shards: Shards
  readonly shardBy: ShardBy<KubeObject>
  /** The object of a key, as the cache has it. */
  readonly get: (key: Key.Key) => KubeObject | undefined
  readonly cache: Pick<Cache["Service"], "holdShard" | "isPendingUnsafe">
}

export interface Shares {
  /** To be called before the keys of a change of the controller's own kind are added: the shard of a deleted object is known only from it. */
  readonly seen: (delta: Delta<KubeObject>) => void
  /** The queue, to which only keys of held shards can be added. */
  readonly restrict: (queue: KeyedQueue) => KeyedQueue
  /** A run of a key; it does nothing if the shard of the key is not held. */
  readonly run: <E, R>(
    key: Key.Key,
    reconcile: Effect.Effect<Outcome | void, E, R>
  ) => Effect.Effect<Outcome | void, E, R>
  /**
   * Follows the shards until the scope closes. `replay` adds the keys of all objects that are there and for which the function returns true; it is called
   * after shards have arrived, once for all that arrived at the same time.
   */
  readonly follow: (
    replay: (isNew: (key: Key.Key) => boolean) => Effect.Effect<void>
  ) => Effect.Effect<void, never, Scope.Scope>
}

/** A shard with its runs in flight. */
interface Share {
  readonly shard: Shard
  running: number
  /** Open if and only if nothing runs. */
  readonly idle: Latch.Latch
  /** Done when runs in flight must end. */
  readonly over: Deferred.Deferred<void>
}

/** How long runs in flight may take when their shard moves to another process, in milliseconds. */
const patience = 10_000

export const make = ({ cache, get, shardBy, shards }: Options): Shares => {
  const held = new Map<number, Share>()
  /** The shards of objects that are gone and have not been reconciled since. */
  const gone = new Map<Key.Key, number>()
  const hash = (text: string): number => ShardHash.shardOf(text, shards.count)
  const shardOf = (key: Key.Key): number | undefined => {
    if (shardBy === "key") return hash(key)
    if (shardBy === "namespace") return hash(Key.parse(key).namespace ?? "")
    const object = get(key)
    return object === undefined ? gone.get(key) : hash(shardBy(object))
  }
  /** None while the objects of its namespace are being read, as it would seem that there are none. They add their keys when they have been read. */
  const shareOf = (key: Key.Key): Share | undefined => {
    const number = shardOf(key)
    const share = number === undefined ? undefined : held.get(number)
    return share === undefined || cache.isPendingUnsafe(Key.parse(key).namespace ?? "") ? undefined : share
  }
  const has = (key: Key.Key): boolean => shareOf(key) !== undefined

  const close = Effect.fnUntraced(function* (share: Share) {
    held.delete(share.shard.number)
    const limit = yield* Shutdown.atMost("drain", patience)
    const lost = Effect.asVoid(share.shard.term.lost)
    if (share.shard.term.isValidUnsafe()) {
      yield* Effect.raceAllFirst([share.idle.await, lost, Effect.sleep(limit)])
    }
    yield* Deferred.succeed(share.over, undefined)
    yield* share.idle.await
    for (const [key, number] of gone) if (number === share.shard.number) gone.delete(key)
  })

  return {
    seen: (delta) => {
      if (typeof shardBy !== "function") return
      const key = Key.of(delta.object)
      const number = hash(shardBy(delta.object))
      if (delta._tag === "Deleted" && held.has(number)) gone.set(key, number)
      else gone.delete(key)
    },
    restrict: (queue) => ({
      ...queue,
      addUnsafe: (key, priority, cause) => {
        if (has(key)) queue.addUnsafe(key, priority, cause)
      },
      addAllUnsafe: (keys, priority, cause) => {
        for (const key of keys) if (has(key)) queue.addUnsafe(key, priority, cause)
      },
      addWithUnsafe: (key, options) => (has(key) ? queue.addWithUnsafe(key, options) : undefined),
      add: (key, options) => Effect.suspend(() => (has(key) ? queue.add(key, options) : Effect.void))
    }),
    run: (key, reconcile) =>
      Effect.suspend(() => {
        const share = shareOf(key)
        if (share === undefined) return Effect.void
        share.running++
        share.idle.closeUnsafe()
        return Effect.raceFirst(reconcile, Deferred.await(share.over)).pipe(
          Effect.provideService(CurrentTerm, share.shard.term),
          Effect.tap((outcome) =>
            Effect.sync(() => {
              if (outcome?._tag !== "After") gone.delete(key)
            })
          ),
          Effect.ensuring(
            Effect.sync(() => {
              if (--share.running === 0) share.idle.openUnsafe()
            })
          )
        )
      }),
    follow: Effect.fnUntraced(function* (replay) {
      let arrived = new Set<Share>()
      const someArrived = Latch.makeUnsafe(false)
      const arrive = (shard: Shard) =>
        Effect.acquireRelease(
          Effect.sync(() => {
            const share = { shard, running: 0, idle: Latch.makeUnsafe(true), over: Deferred.makeUnsafe<void>() }
            held.set(shard.number, share)
            arrived.add(share)
            someArrived.openUnsafe()
            return share
          }),
          close
        )
      // Its objects leave the cache after its runs have ended.
      yield* shards.each((shard) => Effect.asVoid(Effect.andThen(cache.holdShard(shard.number), arrive(shard))))
      const next = Effect.gen(function* () {
        yield* someArrived.await
        someArrived.closeUnsafe()
        const now = arrived
        arrived = new Set()
        yield* replay((key) => {
          const share = shareOf(key)
          return share !== undefined && now.has(share)
        })
      })
      yield* Effect.forkScoped(Effect.forever(next))
    })
  }
}
