/** Model-based test of the Job loop: random operation sequences, with events in any order and processes that end between any two writes. */
import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { checkSequences } from "../../support/property.ts"
import { runs, seed } from "../../support/runs.ts"
import { check } from "./model/check.ts"
import { Action, Setup } from "./model/script.ts"

const scripts = Arbitrary.schema(Schema.Struct({ setup: Setup, actions: Schema.Array(Action) }))

describe("the Job loop under random operation sequences", () => {
  checkSequences(
    "counts each pod once, never exceeds parallelism, and ends once",
    scripts,
    (script) => Effect.map(check(script), (violation) => (violation === undefined ? [] : [violation])),
    { size: 25, seed, runs: runs(400), maxShrinks: 500 }
  )
})
