/**
 * Which reconcile the current fiber is part of: its key, its controller's kind and an id. Loggers read it and writes are noted under
 * its key, so a run that logs nothing pays for one small object. Children of a run inherit it.
 * Source of the names: controller-runtime's LogConstructor.
 */
import * as Context from "effect/Context"
import type * as Random from "effect/Random"
import * as Key from "../../kube/Key.ts"

/** The kind whose objects a controller reconciles. */
export interface Kind {
  /** Empty for the core group. */
  readonly group: string
  readonly kind: string
}

export class Run {
  readonly key: Key.Key
  readonly kind: Kind | undefined
  private readonly random: Random.Random
  /** Made when it is asked for first: most runs say nothing. */
  private made: string | undefined

  constructor(key: Key.Key, kind: Kind | undefined, random: Random.Random) {
    this.key = key
    this.kind = kind
    this.random = random
  }

  /** A UUID (version 4) of this run alone. */
  get id(): string {
    return (this.made ??= uuid(this.random))
  }
}

export const CurrentRun = Context.Reference<Run | undefined>("effect-controller-manager/CurrentRun", {
  defaultValue: () => undefined
})

/** What a line that is logged by a run says of it, besides `controller`, `controllerGroup` and `controllerKind`. */
export const facts = (run: Run | undefined): ReadonlyArray<readonly [string, unknown]> => {
  if (run === undefined) return none
  const { name, namespace } = Key.parse(run.key)
  const object = namespace === undefined ? { name } : { namespace, name }
  return [
    ...(run.kind === undefined ? [] : [[run.kind.kind, object] as const]),
    ...Object.entries(object),
    ["reconcileID", run.id]
  ]
}

const none: ReadonlyArray<never> = []

/** Source: RFC 9562 section 5.4. */
const uuid = (random: Random.Random): string => {
  const hex = (digits: number) =>
    Math.floor(random.nextDoubleUnsafe() * 16 ** digits)
      .toString(16)
      .padStart(digits, "0")
  const variant = "89ab"[Math.floor(random.nextDoubleUnsafe() * 4)]
  return `${hex(8)}-${hex(4)}-4${hex(3)}-${variant}${hex(3)}-${hex(12)}`
}
