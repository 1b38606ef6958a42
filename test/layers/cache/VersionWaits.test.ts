import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as VersionWaits from "../../../src/layers/cache/VersionWaits.ts"

/** A gate whose version the test sets. */
const gateAt = (start: string) => {
  let at = start
  const thrown: Array<unknown> = []
  const gate: VersionWaits.Gate = {
    waits: new Set(),
    hasPassed: (_, version) => VersionWaits.hasPassed(at, undefined, version),
    threw: (error) => thrown.push(error)
  }
  return {
    gate,
    thrown,
    moveTo: (version: string) => {
      at = version
      VersionWaits.passUnsafe(gate)
    }
  }
}

describe("VersionWaits", () => {
  it.effect("calls back at once when the version was passed already", () =>
    Effect.gen(function* () {
      const waits = yield* VersionWaits.make
      const seen: Array<boolean> = []
      yield* waits.add([gateAt("12").gate], "a", "9", 5000, (reached) => seen.push(reached))
      assert.deepStrictEqual([seen, waits.count()], [[true], 0])
    })
  )

  it.effect("calls back once, when the last of the informers has passed the version", () =>
    Effect.gen(function* () {
      const waits = yield* VersionWaits.make
      const [one, two] = [gateAt("5"), gateAt("5")]
      const seen: Array<boolean> = []
      yield* waits.add([one.gate, two.gate], "a", "100000000000000000001", 5000, (reached) => seen.push(reached))
      one.moveTo("100000000000000000001")
      two.moveTo("99999999999999999999")
      assert.deepStrictEqual(seen, [])
      two.moveTo("100000000000000000002")
      assert.deepStrictEqual(seen, [true])
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual([seen, waits.count(), one.gate.waits.size, two.gate.waits.size], [[true], 0, 0, 0])
    })
  )

  it.effect("ends each wait at its own limit, in any order of limits", () =>
    Effect.gen(function* () {
      const waits = yield* VersionWaits.make
      const { gate } = gateAt("5")
      const seen: Array<string> = []
      const add = (name: string, limit: number) =>
        waits.add([gate], name, "6", limit, (reached) => seen.push(`${name}:${reached}`))
      yield* add("slow", 5000)
      yield* TestClock.adjust("1 second")
      yield* add("quick", 1000)
      yield* TestClock.adjust("999 millis")
      assert.deepStrictEqual(seen, [])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(seen, ["quick:false"])
      yield* add("late", 5000)
      yield* TestClock.adjust("3 seconds")
      assert.deepStrictEqual(seen, ["quick:false", "slow:false"])
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual([seen, gate.waits.size], [["quick:false", "slow:false", "late:false"], 0])
    })
  )

  it.effect("calls back with false when the informer stops, and when its own scope closes", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const { gate } = gateAt("5")
      yield* Effect.scoped(
        Effect.gen(function* () {
          const waits = yield* VersionWaits.make
          yield* waits.add([gate], "a", "6", 5000, (reached) => seen.push(`stopped ${reached}`))
          VersionWaits.closeUnsafe(gate)
          yield* waits.add([gate], "b", "6", 5000, (reached) => seen.push(`closed ${reached}`))
        })
      )
      assert.deepStrictEqual([seen, gate.waits.size], [["stopped false", "closed false"], 0])
    })
  )

  it.effect("a callback that throws is reported and affects no other", () =>
    Effect.gen(function* () {
      const waits = yield* VersionWaits.make
      const { gate, moveTo, thrown } = gateAt("5")
      const seen: Array<boolean> = []
      const failing = (reached: boolean) => {
        throw new Error(`callback ${reached}`)
      }
      yield* waits.add([gate], "a", "6", 5000, failing)
      yield* waits.add([gate], "b", "6", 5000, (reached) => seen.push(reached))
      moveTo("6")
      assert.deepStrictEqual([seen, waits.count()], [[true], 0])
      yield* waits.add([gate], "a", "6", 5000, failing)
      yield* waits.add([gate], "a", "7", 5000, failing)
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(thrown.map(String), [
        "Error: callback true",
        "Error: callback true",
        "Error: callback false"
      ])
    })
  )
})
