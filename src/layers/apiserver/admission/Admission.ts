/**
 * What stands between a well-formed request and the store: plugins that complete an object (`admit`) before it is validated,
 * refuse it (`check`) afterwards, or refuse a deletion. They run in the order of the list, in the request's synchronous
 * section. Webhooks will be one more plugin at the end of each phase; policy belongs here, the rules of kinds in `rules/`.
 */
import type { JsonObject } from "../json.ts"
import type { Target } from "../routing.ts"
import type { Turn } from "../Turn.ts"

/** One write of an object on its main endpoint. */
export interface Write {
  readonly turn: Turn
  readonly target: Target
  /** The new state; `admit` may change it in place, `check` may not. */
  readonly object: JsonObject
  /** Undefined when the object is created. */
  readonly before: JsonObject | undefined
  readonly dryRun: boolean
}

export interface Plugin {
  readonly name: string
  readonly admit?: (write: Write) => void
  readonly check?: (write: Write) => void
  readonly remove?: (target: Pick<Target, "kind">, name: string) => void
}

export interface Admission {
  readonly admit: (write: Write) => void
  readonly check: (write: Write) => void
  readonly remove: (target: Pick<Target, "kind">, name: string) => void
}

const chained = <A extends ReadonlyArray<unknown>>(
  steps: ReadonlyArray<((...args: A) => void) | undefined>
): ((...args: A) => void) => {
  const present = steps.filter((step) => step !== undefined)
  return (...args) => {
    for (const step of present) step(...args)
  }
}

export const chain = (plugins: ReadonlyArray<Plugin>): Admission => ({
  admit: chained(plugins.map((plugin) => plugin.admit)),
  check: chained(plugins.map((plugin) => plugin.check)),
  remove: chained(plugins.map((plugin) => plugin.remove))
})
