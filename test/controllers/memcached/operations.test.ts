/** Random operation sequences on Memcacheds: finally the cluster matches the specs. */
import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import { checkSequences } from "../../support/property.ts"
import { runs, seed } from "../../support/runs.ts"
import { History, run } from "./operations.ts"

describe("Memcached operator, random operation sequences", () => {
  checkSequences(
    "converges, leaves no orphan, finalizes once, and then writes nothing",
    Arbitrary.schema(History),
    run,
    { size: 8, maxShrinks: 40, seed, runs: runs(12), timeout: 600_000 }
  )
})
