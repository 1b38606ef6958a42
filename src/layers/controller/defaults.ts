/**
 * Defaults for the settings of all controllers, which the program may set. A controller's own setting takes precedence; without either the
 * loop has defaults of its own. Source: controller-runtime's config.Controller.
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Resource from "../../kube/Resource.ts"
import type * as KeyedQueue from "../../streams/queue/KeyedQueue.ts"

export interface Loops {
  /** How many keys are reconciled at once. Default 1. */
  readonly concurrency?: number | undefined
  /** The same for the controllers of a kind, by its {@link nameOf}; takes precedence over the number for all. */
  readonly concurrencyOf?: ReadonlyMap<string, number> | undefined
  /** After this time a run is interrupted and counts as a failure. Default 5 minutes. */
  readonly timeout?: Duration.Input | "none" | undefined
  /** Delay after failures in a row. Default: 5 ms, doubled up to 1000 s. Each of the two may be set alone. */
  readonly backoff?: { readonly base?: Duration.Input; readonly max?: Duration.Input } | undefined
  /** After so many retries in a row a key is not retried until it is added again. Default: no limit. */
  readonly retries?: number | undefined
  /** False: keys of first lists and resyncs have the same priority as all others. */
  readonly prioritizes?: boolean | undefined
  /** How waiting keys gain priority. Default: that of the queue. */
  readonly aging?: KeyedQueue.Options["aging"]
  /** False: a defect in a run ends the loop, and with it the manager. Default true: it counts as a failure. */
  readonly recoversDefects?: boolean | undefined
}

/** `Deployment.apps`, `Pod`. Source: apimachinery's GroupKind. */
export const nameOf = ({ group, kind }: Pick<Resource.Any, "group" | "kind">): string =>
  group === "" ? kind : `${kind}.${group}`

/** The controller's own setting, otherwise that of its kind, otherwise that of all controllers. */
export const concurrency = (loops: Loops, own: number | undefined, kind: Resource.Any | undefined): number =>
  own ?? (kind === undefined ? undefined : loops.concurrencyOf?.get(nameOf(kind))) ?? loops.concurrency ?? 1

export const Defaults = Context.Reference<Loops>("effect-controller-manager/controller/Defaults", {
  defaultValue: () => ({})
})
