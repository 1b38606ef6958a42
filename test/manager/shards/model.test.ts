/**
 * Locks of shards under random operations in virtual time: runners that join, leave, die and come back, processes that are stopped, connections that are cut
 * and responses that are lost, and people who edit and delete Leases. At no moment two runners have proof of one shard, and when all is well again each
 * shard can be had.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { Lease } from "../../../src/kube/resources.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { checkSequences } from "../../support/property.ts"
import { runs, seed } from "../../support/runs.ts"
import * as Fleet from "./fleet.ts"

const members = 2
const shards = [1, 2]
const options = { shardsPerGroup: shards.length }

const Operation = Schema.Struct({
  act: Schema.Literals([
    ...(["take", "give", "wait", "nap", "nap", "outage", "stop", "wake", "cut", "heal"] as const),
    ...(["lose", "kill", "unregister", "leave", "join", "edit", "delete"] as const)
  ]),
  who: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: members - 1 })),
  shard: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: shards.length - 1 })),
  seconds: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 20 }))
})

const sequences = Arbitrary.schema(Schema.Array(Operation).check(Schema.isMinLength(2), Schema.isMaxLength(16)))

type Sequence = typeof sequences extends Arbitrary.Arbitrary<infer A> ? A : never

const seconds = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1e9)

const run = Effect.fnUntraced(function* (sequence: Sequence) {
  const violations: Array<string> = []
  const client = yield* KubeClient
  const fleet: Array<Fleet.Member | undefined> = []
  /** All want all, so that whoever loses a shard loses it to another. */
  const wanted = Array.from({ length: members }, () => new Set<number>(shards))
  const go = (effect: Effect.Effect<unknown, unknown>) =>
    Effect.andThen(Effect.forkScoped(Effect.ignore(effect)), Fleet.settle)
  const check = (after: string) =>
    Effect.map(Clock.monotonicTimeNanos, (nanos) => {
      const now = Number(nanos) / 1e6
      for (const id of shards) {
        const sure = fleet.filter((one) => (one?.locks.provenUntilUnsafe(`default:${id}`) ?? 0) > now)
        if (sure.length > 1) {
          violations.push(
            `shard ${id} is proven by ${sure.map((one) => one?.address.port).join(" and ")} after ${after}`
          )
        }
      }
    })
  /** What Effect Cluster does all the time. */
  const tick = Effect.gen(function* () {
    yield* TestClock.adjust("1 second")
    yield* Fleet.settle
    const now = Math.round(yield* seconds)
    for (const [who, one] of fleet.entries()) {
      if (one === undefined) continue
      if (now % 3 === 0) yield* go(one.storage.getRunners)
      if (now % 10 === who) {
        yield* go(one.storage.refresh(one.address, shards.map(Fleet.shard)))
      }
      if (now % 10 === who + 4) yield* go(one.register)
      const ids = [...(wanted[who] ?? [])].map(Fleet.shard)
      if (ids.length > 0) yield* go(one.storage.acquire(one.address, ids))
    }
    yield* check("a second")
  })
  const ticks = (count: number) => Effect.forEach(Array.from({ length: count }), () => tick, { discard: true })
  const begin = Effect.fnUntraced(function* (who: number) {
    const member = yield* Fleet.start(1000 + who, options)
    fleet[who] = member
    yield* go(member.register)
  })
  for (let who = 0; who < members; who++) yield* begin(who)

  for (const { act, seconds: length, shard, who } of sequence) {
    const one = fleet[who]
    const id = shards[shard] ?? 1
    if (act === "wait") {
      yield* ticks(length)
    } else if (act === "edit" || act === "delete") {
      const { items } = yield* client.list(Lease, { namespace: Fleet.where.namespace })
      const target = items[(who * 7 + shard) % Math.max(1, items.length)]?.metadata
      if (target !== undefined) {
        const at = { namespace: Fleet.where.namespace, name: target.name }
        yield* act === "edit"
          ? client.patch(Lease, at, Patch.merge({ metadata: { labels: { edited: String(length) } } }))
          : client.delete(Lease, at)
      }
      yield* Fleet.settle
    } else if (one === undefined) {
      if (act === "join") yield* begin(who)
    } else if (act === "take") {
      wanted[who]?.add(id)
      yield* go(one.storage.acquire(one.address, [Fleet.shard(id)]))
    } else if (act === "give") {
      wanted[who]?.delete(id)
      yield* go(one.storage.release(one.address, Fleet.shard(id)))
    } else if (act === "nap") {
      // About as long as a lock is valid: a little less, or more.
      one.gate.awake.closeUnsafe()
      yield* ticks(15 + 2 * length)
      one.gate.awake.openUnsafe()
      yield* Fleet.settle
    } else if (act === "outage") {
      one.gate.isCut = true
      yield* ticks(15 + 2 * length)
      one.gate.isCut = false
    } else if (act === "stop") {
      one.gate.awake.closeUnsafe()
    } else if (act === "wake") {
      one.gate.awake.openUnsafe()
      yield* Fleet.settle
    } else if (act === "cut" || act === "heal") {
      one.gate.isCut = act === "cut"
    } else if (act === "lose") {
      one.gate.loses = true
    } else if (act === "kill") {
      fleet[who] = undefined
      yield* Effect.forkScoped(one.kill)
      yield* Fleet.settle
    } else if (act === "unregister") {
      yield* go(one.storage.unregister(one.address))
    } else if (act === "leave") {
      yield* go(Effect.andThen(one.storage.unregister(one.address), one.storage.releaseAll(one.address)))
    }
    yield* check(act)
  }

  // All is well again: the first runner can have every shard within one expiration and a few seconds.
  for (const [who, one] of fleet.entries()) {
    if (one === undefined) {
      yield* begin(who)
      continue
    }
    one.gate.isCut = false
    one.gate.loses = false
    one.gate.awake.openUnsafe()
    yield* Fleet.settle
  }
  yield* ticks(12)
  for (const [who, one] of fleet.entries()) {
    wanted[who]?.clear()
    if (one !== undefined) yield* go(one.storage.releaseAll(one.address))
  }
  for (const id of shards) wanted[0]?.add(id)
  yield* ticks(100)
  const now = (yield* seconds) * 1000
  for (const id of shards) {
    if ((fleet[0]?.locks.provenUntilUnsafe(`default:${id}`) ?? 0) <= now) {
      violations.push(`runner 1000 cannot have shard ${id}`)
    }
  }
  return violations
}, Effect.scoped)

describe("locks of shards", () => {
  checkSequences(
    "are proven by at most one runner, and can be had when all is well",
    sequences,
    (sequence) => Effect.provide(run(sequence), Fleet.server),
    { runs: runs(60), maxShrinks: 50, seed }
  )

  it.effect("pass to another runner when theirs dies, once its Lease has expired", () =>
    Effect.gen(function* () {
      const [a, b] = [yield* Fleet.start(1, options), yield* Fleet.start(2, options)]
      assert.isTrue(yield* a.register)
      assert.isTrue(yield* b.register)
      assert.lengthOf(yield* a.storage.acquire(a.address, shards.map(Fleet.shard)), shards.length)
      yield* Fleet.settle
      assert.deepStrictEqual(yield* b.storage.acquire(b.address, shards.map(Fleet.shard)), [])
      yield* a.kill
      yield* TestClock.adjust("34 seconds")
      yield* b.storage.refresh(b.address, [])
      assert.deepStrictEqual(yield* b.storage.acquire(b.address, shards.map(Fleet.shard)), [])
      yield* TestClock.adjust("1 second")
      assert.lengthOf(yield* b.storage.acquire(b.address, shards.map(Fleet.shard)), shards.length)
    }).pipe(Effect.scoped, Effect.provide(Fleet.server))
  )

  it.effect(
    "stay with their runner when a person deletes their Lease, also for one that has not seen which runner that is",
    () =>
      Effect.gen(function* () {
        const client = yield* KubeClient
        const [a, b] = [yield* Fleet.start(1, options), yield* Fleet.start(2, options)]
        assert.isTrue(yield* a.register)
        assert.isTrue(yield* b.register)
        yield* Fleet.settle
        a.gate.isCut = true
        assert.lengthOf(yield* b.storage.acquire(b.address, [Fleet.shard(1)]), 1)
        for (let at = 0; at < 45; at += 5) {
          yield* TestClock.adjust("5 seconds")
          yield* b.storage.refresh(b.address, [Fleet.shard(1)])
          yield* b.storage.getRunners
        }
        // Its requests pass again, and its watch has not been opened again.
        a.gate.isCut = false
        assert.deepStrictEqual(yield* a.storage.refresh(a.address, []), [])
        assert.isTrue(yield* a.register)
        yield* client.delete(Lease, {
          namespace: Fleet.where.namespace,
          name: `${Fleet.where.name}-shard-default-1`
        })
        assert.deepStrictEqual(yield* a.storage.acquire(a.address, [Fleet.shard(1)]), [])
      }).pipe(Effect.scoped, Effect.provide(Fleet.server))
  )

  it.effect("stay with their runner when a person deletes its Lease, also for a process that starts after that", () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      const a = yield* Fleet.start(1, options)
      assert.isTrue(yield* a.register)
      assert.lengthOf(yield* a.storage.acquire(a.address, [Fleet.shard(1)]), 1)
      yield* Fleet.settle
      a.gate.isCut = true
      const { items } = yield* client.list(Lease, { namespace: Fleet.where.namespace })
      const name = items.find(({ metadata }) => metadata.name.includes("-runner-"))?.metadata.name ?? ""
      yield* client.delete(Lease, { namespace: Fleet.where.namespace, name })
      const b = yield* Fleet.start(2, options)
      assert.isTrue(yield* b.register)
      const millis = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1e6)
      const provenUntil = a.locks.provenUntilUnsafe("default:1") ?? Infinity
      let taken: ReadonlyArray<unknown> = []
      for (let second = 0; second < 60 && taken.length === 0; second++) {
        taken = yield* b.storage.acquire(b.address, [Fleet.shard(1)])
        if (taken.length > 0) assert.isAbove(yield* millis, provenUntil)
        yield* TestClock.adjust("1 second")
        yield* b.storage.refresh(b.address, [])
      }
      assert.lengthOf(taken, 1)
    }).pipe(Effect.scoped, Effect.provide(Fleet.server))
  )

  it.effect("are free at once when their runner leaves, also if another one writes into its Lease meanwhile", () =>
    Effect.gen(function* () {
      const [a, b] = [yield* Fleet.start(1, options), yield* Fleet.start(2, options)]
      assert.isTrue(yield* a.register)
      assert.isTrue(yield* b.register)
      assert.lengthOf(yield* a.storage.acquire(a.address, [Fleet.shard(1)]), 1)
      yield* a.storage.unregister(a.address)
      yield* Fleet.settle
      yield* b.storage.setRunnerHealth(a.address, false)
      yield* a.storage.releaseAll(a.address)
      yield* Fleet.settle
      assert.lengthOf(yield* b.storage.acquire(b.address, [Fleet.shard(1)]), 1)
    }).pipe(Effect.scoped, Effect.provide(Fleet.server))
  )

  it.effect("of a process that was stopped are not proven when it wakes, and it cannot renew them", () =>
    Effect.gen(function* () {
      const [a, b] = [yield* Fleet.start(1, options), yield* Fleet.start(2, options)]
      assert.isTrue(yield* a.register)
      assert.isTrue(yield* b.register)
      yield* a.storage.acquire(a.address, [Fleet.shard(1)])
      yield* Fleet.settle
      a.gate.awake.closeUnsafe()
      for (let at = 0; at < 60; at += 5) {
        yield* TestClock.adjust("5 seconds")
        yield* b.storage.refresh(b.address, [])
        yield* b.storage.acquire(b.address, [Fleet.shard(1)])
        yield* Fleet.settle
      }
      const now = (yield* seconds) * 1000
      assert.isAbove(b.locks.provenUntilUnsafe("default:1") ?? 0, now)
      assert.isBelow(a.locks.provenUntilUnsafe("default:1") ?? 0, now)
      a.gate.awake.openUnsafe()
      yield* Fleet.settle
      assert.deepStrictEqual(yield* a.storage.refresh(a.address, [Fleet.shard(1)]), [])
      assert.isUndefined(a.locks.provenUntilUnsafe("default:1"))
      assert.isTrue(yield* a.register)
    }).pipe(Effect.scoped, Effect.provide(Fleet.server))
  )

  const two = Effect.gen(function* () {
    const [a, b] = [yield* Fleet.start(1, options), yield* Fleet.start(2, options)]
    assert.isTrue(yield* a.register)
    assert.isTrue(yield* b.register)
    return [a, b] as const
  })

  for (const [what, pattern] of [
    ["its runner", /-runner-.*-1/],
    ["a lock", /-shard-/]
  ] as const) {
    it.effect(`stay with their runner when a person deletes the Lease of ${what}, until it would have expired`, () =>
      Effect.gen(function* () {
        const client = yield* KubeClient
        const [a, b] = yield* two
        assert.lengthOf(yield* a.storage.acquire(a.address, [Fleet.shard(1)]), 1)
        const { namespace } = Fleet.where
        const { items } = yield* client.list(Lease, { namespace })
        const { name } = items.find(({ metadata }) => pattern.test(metadata.name))?.metadata ?? { name: "" }
        yield* client.delete(Lease, { namespace, name })
        yield* Fleet.settle
        assert.deepStrictEqual(yield* b.storage.acquire(b.address, [Fleet.shard(1)]), [])
        yield* a.kill
        yield* TestClock.adjust("35 seconds")
        yield* b.storage.refresh(b.address, [])
        assert.lengthOf(yield* b.storage.acquire(b.address, [Fleet.shard(1)]), 1)
      }).pipe(Effect.scoped, Effect.provide(Fleet.server))
    )
  }

  it.effect("that a runner has without knowing it, after a lost response, can be had by others", () =>
    Effect.gen(function* () {
      const [a, b] = yield* two
      a.gate.loses = true
      yield* Effect.exit(a.storage.acquire(a.address, [Fleet.shard(1)]))
      yield* Fleet.settle
      assert.deepStrictEqual(yield* b.storage.acquire(b.address, [Fleet.shard(1)]), [])
      yield* a.storage.getRunners
      yield* Fleet.settle
      assert.lengthOf(yield* b.storage.acquire(b.address, [Fleet.shard(1)]), 1)
    }).pipe(Effect.scoped, Effect.provide(Fleet.server))
  )

  const many = Array.from({ length: 40 }, (_, index) => Fleet.shard(index + 1))

  it.effect("that a runner asks for together are not lost when the response for one of them is", () =>
    Effect.gen(function* () {
      const [a] = yield* two
      a.gate.loses = true
      assert.lengthOf(yield* a.storage.acquire(a.address, many), many.length - 1)
      yield* a.storage.getRunners
      yield* Fleet.settle
      assert.lengthOf(yield* a.storage.acquire(a.address, many), many.length)
    }).pipe(Effect.scoped, Effect.provide(Fleet.server))
  )

  it.effect("that a runner took while it was interrupted can be had by others", () =>
    Effect.gen(function* () {
      let writes = 0
      // Its process is stopped when it has locked some shards and asks for others.
      const stop = Effect.suspend(() => (++writes === 20 ? a.gate.awake.close : Effect.void))
      const a: Fleet.Member = yield* Fleet.start(1, options, () => stop)
      const b = yield* Fleet.start(2, options)
      assert.isTrue(yield* a.register)
      assert.isTrue(yield* b.register)
      const taking = yield* Effect.forkScoped(a.storage.acquire(a.address, many))
      yield* Fleet.settle
      yield* Effect.forkScoped(Fiber.interrupt(taking))
      yield* Fleet.settle
      a.gate.awake.openUnsafe()
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(taking)))
      yield* a.storage.getRunners
      yield* Fleet.settle
      assert.lengthOf(yield* b.storage.acquire(b.address, many), many.length)
    }).pipe(Effect.scoped, Effect.provide(Fleet.server))
  )
})
