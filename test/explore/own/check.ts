/** Declares a test of each exploration: `npm test` tries a part of the single perturbations, and `SOAK=1` all of them and combinations. */
import { describe, it } from "@effect/vitest"
import type { Exploration } from "../../../src/testing/explore/explore.ts"
import { full } from "../../support/runs.ts"

/** Every eighth perturbation, the same ones each time. */
const part = { share: { index: 0, of: 8 } }

const minutes = 60_000

export const check = (explorations: ReadonlyArray<Exploration>) =>
  describe("ends as in the undisturbed run, whatever is perturbed:", () => {
    for (const exploration of explorations) {
      it.live(
        exploration.name,
        () => exploration.check(full ? { combinations: 100 } : part),
        full ? 20 * minutes : 2 * minutes
      )
    }
  })
