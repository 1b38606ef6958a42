/** The bugs of what controllers write: each is found by its perturbation, and its repaired twin fails in no run. */
import { describe } from "@effect/vitest"
import { checkBug } from "./Bug.ts"
import { writes } from "./bugs/writes.ts"

describe("explore finds bugs of writes", () => {
  for (const bug of writes) checkBug(bug)
})
