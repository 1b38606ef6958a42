/**
 * Sharded controllers under random operations in virtual time: replicas start, stop, die and are stopped for a while, connections are cut, responses are lost,
 * namespaces are added, and objects change all the time. Each replica caches either all namespaces or those of its shards. No write reaches the server from a
 * replica that does not have the lock of its shard, no key runs on two replicas at once or finds only a part of its namespace, and when all is well again each
 * change is reconciled within a bound, and a divided cache has exactly the namespaces of the shards.
 */
import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as ShardHash from "../../../src/kube/shardHash.ts"
import { checkSequences, int, oneOf } from "../../support/property.ts"
import { full, runs, seed } from "../../support/runs.ts"
import * as Fleet from "./fleet.ts"
import * as Replicas from "./replicas.ts"

const expiration = Duration.seconds(15)
const settings = { shards: 4, expiration, work: "700 millis" } as const

/** Seconds within which each change is reconciled when all is well: a lock expires, shards are divided anew, and failed writes are retried. */
const bound = 60

const operation = Arbitrary.all({
  act: oneOf("change", "change", "change", "start", "stop", "kill", "nap", "outage", "lose", "wait", "add", "touch"),
  who: int(0, 2),
  namespace: int(0, Replicas.namespaces.length - 1),
  seconds: int(1, 25)
})

const sequences = Arbitrary.all({
  isCacheDivided: Arbitrary.schema(Schema.Boolean),
  operations: Arbitrary.array(operation, { minLength: 2, maxLength: 10 })
})

type Sequence = typeof sequences extends Arbitrary.Arbitrary<infer A> ? A : never

const run = Effect.fnUntraced(function* ({ isCacheDivided, operations }: Sequence) {
  yield* Replicas.populate
  const world = Replicas.world({ ...settings, isCacheDivided })
  /** Three places, each with a replica or none. Replicas that died stay without a connection. */
  const fleet: Array<Replicas.Replica | undefined> = []
  const written = new Map(Replicas.namespaces.map((namespace) => [namespace, "1"]))
  const all: Array<Replicas.Replica> = []
  let count = 1
  const begin = Effect.fnUntraced(function* (who: number) {
    const one = yield* Replicas.start(`replica-${count++}`, world)
    fleet[who] = one
    all.push(one)
  })
  for (const who of [0, 1]) yield* begin(who)
  yield* Replicas.advance(10)
  for (const { act, namespace, seconds, who } of operations) {
    const one = fleet[who]
    const name = Replicas.namespaces[namespace] ?? ""
    if (act === "change") {
      const value = String(count++)
      written.set(name, value)
      yield* Replicas.change(name, "a", value)
      yield* Replicas.advance(1)
    } else if (act === "add") {
      yield* Replicas.add(`shop-late-${count++}`)
    } else if (act === "touch") {
      yield* Replicas.touch(String(count++))
      yield* Replicas.advance(1)
    } else if (act === "wait") {
      yield* Replicas.advance(seconds)
    } else if (one === undefined) {
      if (act === "start") yield* begin(who)
    } else if (act === "stop") {
      fleet[who] = undefined
      yield* Effect.forkScoped(one.stop)
    } else if (act === "kill") {
      fleet[who] = undefined
      one.gate.isCut = true
    } else if (act === "nap") {
      one.gate.awake.closeUnsafe()
      yield* Replicas.advance(seconds)
      one.gate.awake.openUnsafe()
    } else if (act === "outage") {
      one.gate.isCut = true
      yield* Replicas.advance(seconds)
      one.gate.isCut = false
    } else if (act === "lose") {
      one.gate.loses = true
    }
    yield* Fleet.settle
  }
  if (fleet.every((one) => one === undefined)) yield* begin(0)
  yield* Replicas.advance(bound)
  const left = (yield* Replicas.objects).flatMap(({ data, metadata: { name, namespace = "" } }) => {
    const wanted = (name === "a" ? written.get(namespace) : undefined) ?? "1"
    return data?.["copy"] === wanted ? [] : [`${namespace}/${name} is ${data?.["copy"]}, not ${wanted}`]
  })
  const absent = world.runs.flatMap(({ key, replica, value }) => (value === "" ? [`${replica} found no ${key}`] : []))
  const misfits = yield* Effect.forEach(
    fleet.filter((one) => one !== undefined),
    Effect.fnUntraced(function* ({ cached, held, replica }) {
      const all = (yield* Replicas.objects).flatMap(({ metadata }) => metadata.namespace ?? [])
      const wanted = Array.from(new Set(all)).filter((name) => held.has(ShardHash.shardOf(name, settings.shards)))
      const found = yield* cached
      return JSON.stringify(found) === JSON.stringify(wanted.toSorted())
        ? []
        : [`${replica} has ${found.join()}, not ${wanted.join()}`]
    })
  )
  // Otherwise those that died would go on in the sequences that follow.
  for (const { gate, stop } of all) {
    gate.isCut = true
    gate.awake.openUnsafe()
    yield* Effect.forkScoped(stop)
  }
  yield* Replicas.advance(30)
  return [
    ...left,
    ...world.unlocked,
    ...Replicas.overlaps(world),
    ...world.incomplete,
    ...absent,
    ...(isCacheDivided ? misfits.flat() : [])
  ]
}, Effect.scoped)

describe("sharded controllers", () => {
  checkSequences(
    "write only with the lock, never twice at once, and forget nothing",
    sequences,
    (sequence) => Effect.provide(run(sequence), Fleet.server),
    { runs: runs(full ? 10_000 : 30), maxShrinks: 50, seed, ...(full ? { timeout: 7_200_000 } : {}) }
  )
})
