/**
 * The hash that assigns texts to shards. It is part of what all replicas must agree on, also while they are being replaced by a newer version, so it never
 * changes: FNV-1a with 32 bits, and the last step of MurmurHash3, without which names that differ only in their last letters would be in the same shard.
 * Source: draft-eastlake-fnv-21 section 2; MurmurHash3 fmix32.
 */

const encoder = new TextEncoder()

/** The hash of a text in UTF-8: 32 bits, unsigned. */
export const of = (text: string): number => {
  let hash = 0x811c9dc5
  for (const byte of encoder.encode(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** The shard of a text, from 1 to `count`: each has an equal range of hashes. */
export const shardOf = (text: string, count: number): number => Math.floor((of(text) * count) / 0x1_0000_0000) + 1
