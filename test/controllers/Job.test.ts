import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stand from "./job/stand.ts"

describe("job", () => {
  it.effect("runs a pod to its end and says so in two steps", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job())
        yield* Stand.endSome(1, 0)
        yield* Stand.rounds
        assert.deepStrictEqual(yield* Stand.conditions, ["SuccessCriteriaMet", "Complete"])
      })
    )
  )
})
