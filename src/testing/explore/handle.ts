/**
 * What the command `explore` uses of a declared exploration. The command and the file that declares it may have loaded different copies of Effect, so
 * nothing but promises and plain data passes between them, and the property has the same name in all copies.
 */
import type { Entry } from "./record.ts"
import type { Case } from "./perturbation.ts"
import type { Settings } from "./scenarios.ts"
import type { Report } from "./search.ts"

/** The property of an exploration that has its handle. */
export const handle: unique symbol = Symbol.for("effect-controller-manager/Exploration")

export interface Handle {
  /** The version of this package that the exploration was declared with. */
  readonly version: string
  readonly name: string
  /** Runs it as `run` does. */
  readonly search: (settings: Settings) => Promise<Report>
  /** What happens in one run, whether it fails or not. Undefined: there is no such generated scenario. */
  readonly record: (one: Case, seed: number, scenario?: string) => Promise<ReadonlyArray<Entry> | undefined>
}

/** The handle of an exploration; undefined for any other value. */
export const handleOf = (value: unknown): Handle | undefined =>
  typeof value === "object" && value !== null && handle in value ? (value[handle] as Handle) : undefined
