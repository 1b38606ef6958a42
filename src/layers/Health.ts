/**
 * The registry of health checks. A component registers a named check for as long as its scope is open, and the probe server runs all
 * checks at each request. It is a reference, not a service, so that a component can register a check when there is no probe server.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** `liveness`: it fails when a restart would help. `readiness`: it fails while the component cannot do its work. */
export type Probe = "liveness" | "readiness"

/** One health check, which is run for each probe of its kind. */
export interface Check {
  /** Its path below the path of the probe: lower case, digits and dashes. */
  readonly name: string
  /** One sentence that says what is wrong; undefined when the check passes. It runs at every probe, so it must be cheap. */
  readonly run: Effect.Effect<string | undefined>
  /** One sentence to show with `?verbose` when the check passes. As cheap. */
  readonly remark?: Effect.Effect<string | undefined> | undefined
}

export interface Health {
  /** Registers a check. Of two with the same name the later one is used while it is registered. */
  readonly register: (probe: Probe, check: Check) => Effect.Effect<void, never, Scope.Scope>
  /** The registered checks, one for each name, in the order of the names. */
  readonly checks: (probe: Probe) => Effect.Effect<ReadonlyArray<Check>>
}

export const makeUnsafe = (): Health => {
  /** In the order of registration. */
  const registered: Record<Probe, Set<Check>> = { liveness: new Set(), readiness: new Set() }
  return {
    register: (probe, given) =>
      Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => {
            // Its own object, so that one check may be registered twice.
            const check: Check = { ...given }
            registered[probe].add(check)
            return check
          }),
          (check) => Effect.sync(() => registered[probe].delete(check))
        )
      ),
    checks: (probe) =>
      Effect.sync(() =>
        [...new Map(Array.from(registered[probe], (check) => [check.name, check])).values()].sort((a, b) =>
          a.name < b.name ? -1 : 1
        )
      )
  }
}

/** The checks of the process; tests and programs that run two managers provide their own. */
export const Health = Context.Reference<Health>("effect-controller-manager/Health", { defaultValue: makeUnsafe })
