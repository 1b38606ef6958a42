/**
 * Where rooms say whether they are well. A check is a value with a name; whoever has something to tell registers one for as long
 * as its scope is open, and the probe server asks all of them when it is asked itself. It judges nothing and remembers nothing.
 * A reference, not a service: what registers must not depend on there being a probe server.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** `liveness`: a restart would help. `readiness`: it does what it is there for. */
export type Probe = "liveness" | "readiness"

/** One thing that may be wrong. */
export interface Check {
  /** The path below the probe's: lower case, digits and dashes. */
  readonly name: string
  /** One sentence that says what is wrong; undefined when nothing is. Asked at every probe, so it must be cheap. */
  readonly run: Effect.Effect<string | undefined>
  /** One sentence to show with `?verbose` although the check passes. As cheap. */
  readonly remark?: Effect.Effect<string | undefined> | undefined
}

export interface Health {
  /** Of two checks with one name the later one counts while it is registered. */
  readonly register: (probe: Probe, check: Check) => Effect.Effect<void, never, Scope.Scope>
  /** One for each name, in the order of the names. */
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

/** What the process's probes ask; tests and programs that run two managers provide their own. */
export const Health = Context.Reference<Health>("effect-controller-manager/Health", { defaultValue: makeUnsafe })
