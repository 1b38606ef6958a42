/** The namespaces of held shards, against their definition: known, and their shard is held at least once. */
import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as ShardHash from "../../../../src/kube/shardHash.ts"
import * as HeldNamespaces from "../../../../src/layers/cache/informer/HeldNamespaces.ts"
import { checkProperty, int, oneOf } from "../../../support/property.ts"

const count = 3

const steps = Arbitrary.array(
  Arbitrary.all({ act: oneOf("enter", "leave", "hold", "hold", "release"), of: int(0, 5) }),
  { maxLength: 30 }
)

describe("held namespaces", () => {
  checkProperty("are those that are known and whose shard is held", steps, (script) => {
    const selected = new Set<string>()
    const known = new Set<string>()
    const holds: Array<{ readonly shard: number; readonly release: () => void }> = []
    const held = HeldNamespaces.make(
      {
        change: (changes) => {
          for (const { isSelected, namespace } of changes) {
            if (isSelected) selected.add(namespace)
            else selected.delete(namespace)
          }
        }
      },
      count
    )
    for (const { act, of } of script) {
      const namespace = `shop-${of}`
      const shard = (of % count) + 1
      if (act === "enter" || act === "leave") {
        const isSelected = act === "enter"
        if (isSelected) known.add(namespace)
        else known.delete(namespace)
        held.change([{ namespace, isSelected }])
      } else if (act === "hold") holds.push({ shard, release: held.hold(shard) })
      else holds.splice(of % Math.max(1, holds.length), 1)[0]?.release()
      const isHeld = (name: string) => holds.some((one) => one.shard === ShardHash.shardOf(name, count))
      const wanted = [...known].filter(isHeld)
      if (wanted.length !== selected.size || !wanted.every((name) => selected.has(name))) return false
    }
    return true
  })
})
