/**
 * What a run of a reconcile returns or fails with: `done` (no further run), `after(d)` (a further run after the delay), or `terminal` (a
 * failure that is recorded and not retried). Every other failure is retried with backoff. Source: controller-runtime
 * pkg/internal/controller: reconcileHandler.
 */
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"

/** The result of a run that did not fail. */
export type Outcome = Done | After

/** No further run until the key is added again. */
export interface Done {
  readonly _tag: "Done"
}

/** A further run after the delay, or earlier if the key is added. */
export interface After {
  readonly _tag: "After"
  /** The delay, from the end of the run. */
  readonly delay: Duration.Duration
  /** The priority of the further run. Default: that of this run. */
  readonly priority: number | undefined
}

/**
 * No further run until something changes.
 *
 * @example
 * ```ts
 * const Once = Controller.make({ name: "once", for: Namespace, reconcile: () => Effect.succeed(Reconcile.done) })
 * assert.deepEqual(Reconcile.done, { _tag: "Done" })
 * assert.equal(Once.name, "once")
 * ```
 */
export const done: Outcome = { _tag: "Done" }

/**
 * A further run after `delay`; with zero or less the key is ready at once.
 *
 * @example
 * ```ts
 * let runs = 0
 * const Hourly = Controller.make({
 *   name: "hourly",
 *   for: Namespace,
 *   predicate: ({ object }) => object.metadata.name === "default",
 *   reconcile: () => Effect.sync(() => (++runs, Reconcile.after("1 hour")))
 * })
 * const day = Effect.gen(function* () {
 *   const cluster = yield* ClusterTest
 *   yield* cluster.run(Hourly)
 *   yield* cluster.advance("24 hours")
 * })
 * await Effect.runPromise(day.pipe(Effect.scoped, Effect.provide(ClusterTest.layer()), Effect.provide(TestClock.layer())))
 * assert.equal(runs, 25)
 * ```
 */
export const after = (delay: Duration.Input, options?: { readonly priority?: number | undefined }): Outcome => ({
  _tag: "After",
  delay: Duration.fromInputUnsafe(delay),
  priority: options?.priority
})

/** A failure that a retry cannot repair: it is recorded and not retried, and the key's backoff is reset. */
export class TerminalError extends Data.TaggedError("TerminalError")<{
  /** The cause, for logs and metrics. */
  readonly cause: unknown
}> {
  override get message(): string {
    return this.cause instanceof Error ? this.cause.message : String(this.cause)
  }
}

/** Fails a run so that its key is not retried until it is added again. */
export const terminal = (cause: unknown): TerminalError => new TerminalError({ cause })
