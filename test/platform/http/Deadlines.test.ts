import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import * as Deadlines from "../../../src/platform/http/Deadlines.ts"
import { runs } from "../../support/runs.ts"

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** Requests, each with a limit, and when it has its response, both in milliseconds after its start. */
const Requests = Schema.Array(
  Schema.Struct({ start: between(0, 200), limit: Schema.Literals([20, 70]), response: between(1, 120) })
).check(Schema.isMaxLength(12))

describe("deadlines", () => {
  it.effect("for all requests, end exactly those without a response, at their limit", () =>
    Effect.gen(function* () {
      const result = yield* Arbitrary.checkEffect(
        Arbitrary.schema(Requests),
        (requests) =>
          Effect.gen(function* () {
            const deadlines = yield* Deadlines.make
            const ended = new Map<number, number>()
            const forget = new Map<number, () => void>()
            let now = 0
            for (; now <= 330; now++) {
              for (const [index, { limit, response, start }] of requests.entries()) {
                if (now === start + response) forget.get(index)?.()
                if (now === start)
                  forget.set(
                    index,
                    deadlines.addUnsafe(limit, () => ended.set(index, now))
                  )
              }
              yield* TestClock.adjust(1)
            }
            // The time of the loop is that before the step of the clock, and a deadline may be a millisecond late.
            return requests.every(({ limit, response, start }, index) => {
              const late = (ended.get(index) ?? Infinity) + 1 - (start + limit)
              return response < limit ? late === Infinity : late === 0 || late === 1 || response <= limit + 1
            })
          }).pipe(Effect.scoped),
        { runs: runs(30) }
      )
      assert.isUndefined(Arbitrary.formatCheckFailure(result))
    })
  )

  it.effect("keep nothing of requests that have their response", () =>
    Effect.gen(function* () {
      const { addUnsafe } = yield* Deadlines.make
      const requests: Array<WeakRef<object>> = []
      /** Sixty at a time, as over a number of connections. */
      const batch = () => {
        const forget = Array.from({ length: 60 }, () => {
          const request = { body: "" }
          requests.push(new WeakRef(request))
          return addUnsafe(70, () => (request.body = "late"))
        })
        // The next ones begin before these have ended.
        return () => forget.forEach((one) => one())
      }
      const going = [batch()]
      // The fiber sleeps until the first is due.
      yield* TestClock.adjust(1)
      const finish = () => going.shift()?.()
      const goOn = () => {
        for (let i = 0; i < 50; i++) {
          going.push(batch())
          finish()
        }
        finish()
      }
      goOn()
      // A weak reference holds its object until the end of the turn in which it was made, or was read.
      for (let turn = 0; turn < 3; turn++) {
        yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
        collect()
      }
      assert.strictEqual(requests.filter((one) => one.deref() !== undefined).length, 0)
    }).pipe(Effect.scoped)
  )

  it.effect("come in the order of their times, whatever the limits, and none after the scope", () =>
    Effect.gen(function* () {
      const ended: Array<string> = []
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { addUnsafe } = yield* Deadlines.make
          addUnsafe(70, () => ended.push("slow"))
          addUnsafe(20, () => ended.push("quick"))
          const forget = addUnsafe(20, () => ended.push("forgotten"))
          forget()
          yield* TestClock.adjust(60)
          addUnsafe(20, () => ended.push("later"))
          addUnsafe(100, () => ended.push("never"))
          yield* TestClock.adjust(20)
        })
      )
      yield* TestClock.adjust(1000)
      assert.deepStrictEqual(ended, ["quick", "slow", "later"])
    })
  )
})
