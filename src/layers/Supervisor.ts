/**
 * Forks fibers whose failure must end the program. When a background fiber fails, Effect logs nothing and the process goes on without
 * it. Fibers forked here live in the caller's scope as usual; the first one that fails, or dies, fails `failure`, which the manager
 * awaits, so the process ends.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { Shutdown } from "./Shutdown.ts"

/** A supervised fiber has failed. The message is one sentence; `cause` is the full cause. */
export class SupervisedFailure extends Data.TaggedError("SupervisedFailure")<{
  /** The name it was forked with. */
  readonly fiber: string
  /** Why it failed. */
  readonly cause: Cause.Cause<unknown>
}> {
  override get message(): string {
    return `${this.fiber} failed: ${text(Cause.squash(this.cause))}`
  }
}

const text = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Forks the fibers whose failure ends the program. */
export class Supervisor extends Context.Service<
  Supervisor,
  {
    /** Forks into the caller's scope. A fiber may succeed or be interrupted; a failure is reported. */
    readonly fork: <A, E, R>(
      name: string,
      effect: Effect.Effect<A, E, R>
    ) => Effect.Effect<void, never, R | Scope.Scope>
    /** Waits for the first failure, and never completes otherwise. Later failures, and failures during a shutdown, are logged. */
    readonly failure: Effect.Effect<never, SupervisedFailure>
  }
>()("effect-controller-manager/Supervisor") {
  /** A supervisor without fibers. */
  static readonly layer = Layer.sync(Supervisor, () => {
    const failed = Deferred.makeUnsafe<never, SupervisedFailure>()
    const report = (fiber: string, cause: Cause.Cause<unknown>) =>
      Effect.flatMap(Shutdown, ({ hasBegunUnsafe }) => {
        const failure = new SupervisedFailure({ fiber, cause })
        // Checked before the failure is published: a failure that causes the shutdown is not logged.
        const isStopping = hasBegunUnsafe()
        return Effect.flatMap(Deferred.fail(failed, failure), (first) =>
          first && !isStopping ? Effect.void : Effect.logError(failure.message, cause)
        )
      })
    return Supervisor.of({
      fork: (name, effect) =>
        effect.pipe(
          Effect.onExit((exit) =>
            Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause) ? report(name, exit.cause) : Effect.void
          ),
          Effect.forkScoped,
          Effect.asVoid
        ),
      failure: Deferred.await(failed)
    })
  })
}
