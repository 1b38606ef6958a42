/**
 * What stands for every loop that does not say otherwise itself: whoever runs controllers may set it for all of them. Without it
 * the loop's own values stand. Source: framework.md 2.7, 5.1.
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"

export interface Loops {
  /** Keys at once; otherwise 1. */
  readonly concurrency?: number | undefined
  /** After which a run is interrupted and counts as a failure; otherwise 5 minutes. */
  readonly timeout?: Duration.Input | "none" | undefined
  /** Delay after failures in a row; otherwise 5 ms doubling up to 1000 s. Each half stands by itself. */
  readonly backoff?: { readonly base?: Duration.Input; readonly max?: Duration.Input } | undefined
  /** Retries in a row after which a key is left alone; otherwise there is no end. */
  readonly retries?: number | undefined
}

export const Defaults = Context.Reference<Loops>("effect-controller-manager/controller/Defaults", {
  defaultValue: () => ({})
})
