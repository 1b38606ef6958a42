/**
 * The suite as StrykerJS runs it: without the global set-up, which builds the program for the scenarios, and only the test files that
 * `scripts/mutate.mjs` chose. StrykerJS has an option of its own for those, but with it a mutant of what is computed when a module is
 * loaded is activated too late and survives.
 */
import process from "node:process"

export default {
  test: { include: (process.env.MUTATE_TESTS ?? "").split(","), testTimeout: 60_000, hookTimeout: 60_000 }
}
