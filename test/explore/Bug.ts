/** A small controller with one mistake that real controllers have made, and the same controller without it. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Exploration } from "../../src/testing/explore/explore.ts"

export interface Bug {
  /** What goes wrong. */
  readonly title: string
  /** Where it was reported or described. */
  readonly sources: ReadonlyArray<string>
  /** What the report must name: `create configmaps`, a part of a write's name. */
  readonly write: string
  /** True: the undisturbed run shows it, so that no perturbation is needed and the report names it as the problem. */
  readonly isUndisturbed?: boolean
  readonly explore: (isRepaired: boolean) => Exploration
}

/** Declares the two tests of a bug: its perturbation is among the single ones, and the repaired twin fails in none of them. */
export const checkBug = ({ explore, isUndisturbed, title, write }: Bug): void => {
  it.live(`finds: ${title}`, () =>
    Effect.gen(function* () {
      const { failures, problem } = yield* explore(false).run()
      if (isUndisturbed === true) {
        assert.include(problem ?? "no problem", write)
        return
      }
      assert.isUndefined(problem)
      assert.isAbove(failures.length, 0, "nothing was found")
      const named = failures.flatMap(({ details, where, writes }) => where.concat(writes, details))
      assert.isTrue(
        named.some((one) => one.includes(write)),
        `${write} is not among:\n${named.join("\n")}`
      )
    })
  )
  it.live(`finds nothing once it is repaired: ${title}`, () => explore(true).check())
}
