/** A controller whose mutants are explored: how it is explored without a specification, and what its user would check beside. */
import type { Descriptor } from "../../../src/layers/Controller.ts"
import type { Options, Provided } from "../../../src/testing/explore/Exploration.ts"

/** The controller is the original or a mutant; `converged` is the check. */
export interface Subject extends Omit<Options, "controllers" | "converged" | "scenario" | "services"> {
  readonly controller: Descriptor<Provided>
  readonly scenario: NonNullable<Options["scenario"]>
  readonly converged: NonNullable<Options["converged"]>
}
