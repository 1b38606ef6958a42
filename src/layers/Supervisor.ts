/**
 * Owns the fibers that must not die unnoticed. A background fiber that fails is silent in Effect: nothing is logged and the
 * process lives on without it. Fibers forked here live in the caller's scope as usual; the first one that fails, or dies,
 * ends whoever awaits `failure` - the manager, and with it the process.
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

/** A supervised fiber ended with a failure. The message is one sentence; the cause is whole. */
export class SupervisedFailure extends Data.TaggedError("SupervisedFailure")<{
  /** The name it was forked with. */
  readonly fiber: string
  /** How it ended. */
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
    /** Forks into the caller's scope. Ending well and being interrupted are both fine; failing is not. */
    readonly fork: <A, E, R>(
      name: string,
      effect: Effect.Effect<A, E, R>
    ) => Effect.Effect<void, never, R | Scope.Scope>
    /** Waits for the first failure; never completes otherwise. Later ones are logged, and so is one while everything stops. */
    readonly failure: Effect.Effect<never, SupervisedFailure>
  }
>()("effect-controller-manager/Supervisor") {
  /** Nothing is forked yet. */
  static readonly layer = Layer.sync(Supervisor, () => {
    const failed = Deferred.makeUnsafe<never, SupervisedFailure>()
    const report = (fiber: string, cause: Cause.Cause<unknown>) =>
      Effect.flatMap(Shutdown, ({ hasBegunUnsafe }) => {
        const failure = new SupervisedFailure({ fiber, cause })
        // Checked before the failure is published: a stop that it causes is not logged again.
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
