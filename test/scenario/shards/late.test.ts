/** What counts as a write without the lock; the scenario of this folder uses this check. */
import { assert, describe, it } from "@effect/vitest"
import * as ShardHash from "../../../src/kube/shardHash.ts"
import type { Write } from "../leadership/audit.ts"
import * as Harness from "./harness.ts"

/** A write of a config map that was accepted at once, at the time that is its revision unless `more` has another. */
const write = (user: string, revision: number, more: Partial<Write> = {}): Write => ({
  user,
  verb: "patch",
  resource: "configmaps",
  namespace: "shop",
  name: "one",
  revision,
  received: revision * 1000,
  completed: revision * 1000 + 10,
  ...more
})

const shard = ShardHash.shardOf("shop", Harness.shards)

const lock = (user: string, revision: number, number = shard) =>
  write(user, revision, {
    verb: "update",
    resource: "leases",
    namespace: "default",
    name: `copier-shards-shard-default-${number}`
  })

/** `a` has the lock, `b` takes it with revision 10, and then that of another shard. */
const locks = [lock("b", 10), lock("a", 1), lock("b", 15, (shard % Harness.shards) + 1)]

const late = (...writes: ReadonlyArray<Write>) => Harness.late([...writes, ...locks])

describe("the check of the audit log for writes without the lock", () => {
  it("finds a write of a replica that had the lock before, or has it later", () => {
    const wrong = [write("b", 5), write("a", 11), write("c", 20)]
    assert.deepStrictEqual(late(write("a", 2), ...wrong, write("b", 12)), wrong)
  })

  it("ignores a write that changed nothing", () => {
    assert.deepStrictEqual(late(write("b", 3, { received: 16_000, completed: 16_010 })), [])
  })
})
