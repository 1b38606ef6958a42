/** The hash of shards: its values never change, and it spreads similar names evenly. */
import { assert, describe, it } from "@effect/vitest"
import * as ShardHash from "../../src/kube/shardHash.ts"

/** The definition in whole numbers of any size. */
const defined = (text: string): number => {
  const mask = 0xffff_ffffn
  let hash = 0x811c9dc5n
  for (const byte of Buffer.from(text)) hash = ((hash ^ BigInt(byte)) * 0x01000193n) & mask
  hash = ((hash ^ (hash >> 16n)) * 0x85ebca6bn) & mask
  hash = ((hash ^ (hash >> 13n)) * 0xc2b2ae35n) & mask
  return Number(hash ^ (hash >> 16n))
}

const numbered = Array.from({ length: 6400 }, (_, index) => `shop-${index}`)

describe("the hash of shards", () => {
  it("is as defined, for texts of any letters", () => {
    for (const text of ["", "a", "default", "kube-system/web", "Ärger", "\u{1f600}", ...numbered]) {
      assert.strictEqual(ShardHash.of(text), defined(text), text)
    }
  })

  it("is the same in all versions", () => {
    assert.deepStrictEqual(
      ["", "default", "kube-system"].map((text) => ShardHash.of(text)),
      [2872998923, 3803620652, 1187216651]
    )
  })

  it("spreads names that differ only in their last letters", () => {
    const sizes = new Map<number, number>()
    for (const name of numbered) {
      const shard = ShardHash.shardOf(name, 64)
      sizes.set(shard, (sizes.get(shard) ?? 0) + 1)
    }
    assert.deepStrictEqual([Math.min(...sizes.keys()), Math.max(...sizes.keys()), sizes.size], [1, 64, 64])
    // Binomial with a mean of 100 and a standard deviation of 10.
    for (const [shard, size] of sizes) assert.isTrue(size > 50 && size < 150, `shard ${shard}: ${size}`)
  })
})
