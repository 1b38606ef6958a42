/**
 * Random operation sequences against the model: nodes are added and deleted, caches lag, processes end between any two
 * writes.
 */
import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import { checkSequences } from "../../support/property.ts"
import { runs, seed } from "../../support/runs.ts"
import { check, Script } from "./check.ts"

describe("the DaemonSet controller under random operations", () => {
  checkSequences(
    "keeps one pod on each eligible node, and never exceeds maxUnavailable or maxSurge",
    Arbitrary.schema(Script),
    (script) => Effect.map(check(script), (violation) => (violation === undefined ? [] : [violation])),
    { size: 25, seed, runs: runs(400), maxShrinks: 500 }
  )
})
