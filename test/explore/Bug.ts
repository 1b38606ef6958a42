/** A small controller with one mistake that real controllers have made, and the same controller without it. */
import type { Exploration } from "../../src/testing/explore/explore.ts"

export interface Bug {
  /** What goes wrong. */
  readonly title: string
  /** Where it was reported or described. */
  readonly sources: ReadonlyArray<string>
  /** What the report must name: `create configmaps`, a part of a write's name. */
  readonly write: string
  readonly explore: (isRepaired: boolean) => Exploration
}
