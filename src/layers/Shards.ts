/**
 * The shards that this process holds. Without this service, which is the default, one process does all the work of a controller. This file has the
 * contract; `manager/shards/HeldShards` provides it on Effect Cluster.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Term } from "./Leadership.ts"

/** A shard, as long as this process holds its lock. */
export interface Shard {
  /** From 1 to the number of shards. */
  readonly number: number
  /** The time in which the lock is proven. Writes for its keys are fenced by it. */
  readonly term: Term
}

export interface Shards {
  /** How many shards there are, in all processes together. */
  readonly count: number
  /**
   * Does the work for each shard that this process holds now or will hold, in a scope of its own, until the scope of the caller closes. When a shard moves,
   * its scope is closed first, and its lock is released after that. The work must not wait: the scope is what lasts.
   */
  readonly each: (
    work: (shard: Shard) => Effect.Effect<void, never, Scope.Scope>
  ) => Effect.Effect<void, never, Scope.Scope>
}

/** Whether a controller works only on the leader. `isDivided`: the work is divided into shards. */
export const isLed = (
  { needsLeader, sharded }: { readonly needsLeader: boolean; readonly sharded?: boolean | undefined },
  isDivided: boolean
): boolean => needsLeader && !(isDivided && sharded === true)

/** Undefined: the work is not divided. */
export const Shards = Context.Reference<Shards | undefined>("effect-controller-manager/Shards", {
  defaultValue: () => undefined
})
