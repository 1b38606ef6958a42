/** Every bug of what controllers read, remember and assume is found by its perturbation, and its repaired twin fails in no run. */
import { describe } from "@effect/vitest"
import { checkBug } from "./Bug.ts"
import { reads } from "./bugs/reads.ts"

describe("explore", () => {
  for (const bug of reads) checkBug(bug)
})
