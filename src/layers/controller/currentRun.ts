/**
 * The run of reconcile that the current fiber belongs to: its key, the kind of its controller, its causes, and an id. Loggers read it, and writes
 * are recorded under its key. Child fibers inherit it. A run that logs nothing costs one small object.
 * Source of the names: controller-runtime's LogConstructor.
 */
import * as Context from "effect/Context"
import type * as Random from "effect/Random"
import * as Key from "../../kube/Key.ts"
import * as Cause from "../../streams/reconcile/cause.ts"
import type { Going } from "../Timeline.ts"

/** The kind whose objects a controller reconciles. */
export interface Kind {
  /** Empty for the core group. */
  readonly group: string
  readonly kind: string
}

export class Run {
  readonly key: Key.Key
  readonly kind: Kind | undefined
  readonly causes: Cause.Causes | undefined
  /** The run in the timeline, if there is one. */
  readonly entry: Going | undefined
  private readonly random: Random.Random
  /** The id is made at its first use: most runs log nothing. */
  private made: string | undefined

  // Without an object of options, because each run of a reconcile makes one of these.
  constructor(key: Key.Key, random: Random.Random, kind?: Kind, causes?: Cause.Causes, entry?: Going) {
    this.key = key
    this.kind = kind
    this.causes = causes
    this.entry = entry
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

/**
 * The annotations of a log line of a run, besides `controller`, `controllerGroup` and `controllerKind`. `isDetailed`: with all causes of the run,
 * and not only the first one.
 */
export const facts = (run: Run | undefined, isDetailed: boolean): ReadonlyArray<readonly [string, unknown]> => {
  if (run === undefined) return none
  const { name, namespace } = Key.parse(run.key)
  const object = namespace === undefined ? { name } : { namespace, name }
  return [
    ...(run.kind === undefined ? [] : [[run.kind.kind, object] as const]),
    ...Object.entries(object),
    ["reconcileID", run.id],
    ["reason", isDetailed ? Cause.describeAll(run.causes) : Cause.describe(run.causes?.first)]
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
