/**
 * What stands for every loop that does not say otherwise itself: whoever runs controllers may set it for all of them. Without it
 * the loop's own values stand. Source: controller-runtime's config.Controller.
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Resource from "../../kube/Resource.ts"
import type * as KeyedQueue from "../../streams/queue/KeyedQueue.ts"

export interface Loops {
  /** Keys at once; otherwise 1. */
  readonly concurrency?: number | undefined
  /** Keys at once of those who reconcile a kind, by its {@link nameOf}; goes before the number for all. */
  readonly concurrencyOf?: ReadonlyMap<string, number> | undefined
  /** After which a run is interrupted and counts as a failure; otherwise 5 minutes. */
  readonly timeout?: Duration.Input | "none" | undefined
  /** Delay after failures in a row; otherwise 5 ms doubling up to 1000 s. Each half stands by itself. */
  readonly backoff?: { readonly base?: Duration.Input; readonly max?: Duration.Input } | undefined
  /** Retries in a row after which a key is left alone; otherwise there is no end. */
  readonly retries?: number | undefined
  /** False: keys of first lists and resyncs take their turn with all others. */
  readonly prioritizes?: boolean | undefined
  /** How keys that wait gain priority; otherwise as the queue has it. */
  readonly aging?: KeyedQueue.Options["aging"]
  /** False: a run that dies of a defect ends its loop, and with it the manager; otherwise it is a failure like any other. */
  readonly recoversDefects?: boolean | undefined
}

/** `Deployment.apps`, `Pod`. Source: apimachinery's GroupKind. */
export const nameOf = ({ group, kind }: Pick<Resource.Any, "group" | "kind">): string =>
  group === "" ? kind : `${kind}.${group}`

/** What the controller says itself, else what is said for its kind, else what is said for all. */
export const concurrency = (loops: Loops, own: number | undefined, kind: Resource.Any | undefined): number =>
  own ?? (kind === undefined ? undefined : loops.concurrencyOf?.get(nameOf(kind))) ?? loops.concurrency ?? 1

export const Defaults = Context.Reference<Loops>("effect-controller-manager/controller/Defaults", {
  defaultValue: () => ({})
})
