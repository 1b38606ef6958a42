/** Random operation sequences on EcsBindings: each is annotated, once for each time that the annotation was missing. */
import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import { checkSequences } from "../../support/property.ts"
import { runs, seed } from "../../support/runs.ts"
import { Operations, run } from "./randomOperations.ts"

describe("EcsBinding controller, random operation sequences", () => {
  checkSequences(
    "annotates each object once for each time that the annotation is missing, and then writes nothing",
    Arbitrary.schema(Operations),
    run,
    { size: 8, maxShrinks: 40, seed, runs: runs(10), timeout: 600_000 }
  )
})
