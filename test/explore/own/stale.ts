/**
 * Invariants that hold as long as a process has seen its predecessor's writes. The controllers of Kubernetes keep their expectations in memory, so one
 * that starts on a cache which lags, or while a write of the last leader is on its way, acts on what it sees: it may create a pod twice, and
 * deletes it later. Source: pkg/controller: NewUIDTrackingControllerExpectations, whose store is empty at the start.
 */
import type { Exploration } from "../../../src/testing/explore/explore.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import type { Options } from "../../../src/testing/explore/Exploration.ts"
import { type Kind, kinds } from "../../../src/testing/explore/perturbation.ts"

/** The kinds after which a process may not know what the last one wrote. */
export const stale: ReadonlyArray<Kind> = ["travel-1", "travel-2", "travel-4", "handoff"]

const all = Object.keys(kinds) as ReadonlyArray<Kind>

const without = (left: ReadonlyArray<Kind>, reason: string) => Object.fromEntries(left.map((kind) => [kind, reason]))

/** One exploration with the invariants and without the kinds that break them, and one with these kinds alone, without the invariants, which may have settings of its own. */
export const apart = <R>(
  name: string,
  options: Options<R>,
  breaking: ReadonlyArray<Kind> = stale,
  ofSecond: Pick<Options, "comparable"> = {}
): readonly [Exploration, Exploration] => {
  const { invariants: _, ...rest } = options
  const second = `${name}-without-invariants`
  const others = all.filter((kind) => !breaking.includes(kind))
  return [
    explore(name, { ...options, without: { ...without(breaking, `explored in ${second}`), ...options.without } }),
    explore(second, {
      ...rest,
      ...ofSecond,
      without: { ...without(others, `explored in ${name}`), ...options.without }
    })
  ]
}

/**
 * A controller that does not see for 30 seconds that an owner is gone creates a dependent each time that the garbage collector has deleted one, as
 * that of Kubernetes does: `sync` is the function that reads the owner from its lister.
 */
export const seesDeletionLate = (sync: string): Partial<Record<Kind, string>> =>
  without(
    ["lag", "gap"],
    `dependents are created and collected until the controller sees that their owner is gone: ${sync}`
  )
