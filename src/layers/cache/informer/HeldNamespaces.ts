/**
 * Of the namespaces that a cache may have, those of the shards that are held. Several controllers hold a shard at the same time; its namespaces leave the
 * cache when the last one has released it.
 */
import * as ShardHash from "../../../kube/shardHash.ts"
import type { NamespaceChange, Namespaces } from "./Namespaces.ts"

export interface HeldNamespaces {
  /** Namespaces that the cache may have from now on, or no longer. */
  readonly change: Namespaces["change"]
  /** Selects the namespaces of a shard, until the returned function is called. */
  readonly hold: (shard: number) => () => void
}

/** `count`: of the shards. */
export const make = (namespaces: Pick<Namespaces, "change">, count: number): HeldNamespaces => {
  const known = new Map<number, Set<string>>()
  const holders = new Map<number, number>()
  const select = (shard: number, isSelected: boolean): void =>
    namespaces.change(Array.from(known.get(shard) ?? [], (namespace) => ({ namespace, isSelected })))
  /** Whether the change is one of a held shard. */
  const note = ({ isSelected, namespace }: NamespaceChange): boolean => {
    const shard = ShardHash.shardOf(namespace, count)
    const of = known.get(shard) ?? new Set()
    known.set(shard, of)
    if (isSelected) of.add(namespace)
    else of.delete(namespace)
    return holders.has(shard)
  }
  return {
    change: (changes) => namespaces.change(changes.filter(note)),
    hold: (shard) => {
      const before = holders.get(shard) ?? 0
      holders.set(shard, before + 1)
      if (before === 0) select(shard, true)
      return () => {
        const left = (holders.get(shard) ?? 1) - 1
        if (left > 0) return void holders.set(shard, left)
        holders.delete(shard)
        select(shard, false)
      }
    }
  }
}
