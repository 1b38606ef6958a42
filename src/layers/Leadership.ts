/**
 * Leadership as a scoped resource: acquiring waits for the Lease, closing the scope releases it. The work of a leader has a scope
 * inside that of the term, so losing the term ends the work, and leadership can be acquired again. This file has the contract, the
 * helper that runs work under a term, and the layer without election; `leader/Election` is the other layer.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

/** Why a term ended. `Term.lost` returns it as a value; it is an error class so that it can be the `Exit` that closes a scope. */
export class LeaderLost extends Data.TaggedError("LeaderLost")<{
  /**
   * `NotRenewed`: no renewal succeeded for the renew deadline. `Stolen`: the lease names another holder. `Released`: the
   * term's own scope was closed.
   */
  readonly reason: "NotRenewed" | "Stolen" | "Released"
  /** One sentence, with the last error if there was one. */
  readonly message: string
}> {}

/** The time in which this process is the leader. */
export interface Term {
  /** Completes when the term is over, with the reason. */
  readonly lost: Effect.Effect<LeaderLost>
  /** Whether this process is certainly the leader at this moment, by the monotonic clock alone. For fencing: cheap and synchronous. */
  readonly isValidUnsafe: () => boolean
}

/** The present term. Without one, or without election, it never ends. */
export const CurrentTerm = Context.Reference<Term>("effect-controller-manager/CurrentTerm", {
  defaultValue: () => ({ lost: Effect.never, isValidUnsafe: () => true })
})

/** One attempt to renew the lease. */
export interface RenewalAttempt {
  /** When it began; wall clock, milliseconds. */
  readonly at: number
  /** Milliseconds until its result. */
  readonly took: number
  /** False: the attempt failed, or the lease has another holder. */
  readonly isRenewed: boolean
}

/** The terms of this process, for operators. */
export interface Terms {
  /** How many there were, with the present one. */
  readonly count: number
  /** When the present one began; undefined while this process does not lead. Wall clock, milliseconds. */
  readonly since: number | undefined
  /** How often the Lease has changed its holder, as this process read it last. */
  readonly transitions: number | undefined
  /** The last attempts, oldest first. */
  readonly renewals: ReadonlyArray<RenewalAttempt>
  /** Of the last attempt that did not renew the lease. Wall clock, milliseconds. */
  readonly lastError: { readonly message: string; readonly at: number } | undefined
}

/** Of a process that never took part in an election. */
export const noTerms: Terms = {
  count: 0,
  since: undefined,
  transitions: undefined,
  renewals: [],
  lastError: undefined
}

/** How work under a term ended; failures of the work itself are failures of `run`. */
export type Outcome<A> =
  | { readonly _tag: "Finished"; readonly value: A }
  | { readonly _tag: "Lost"; readonly reason: LeaderLost }

/** Whether this process leads, and for how long that is certain. */
export class Leadership extends Context.Service<
  Leadership,
  {
    /** The holder identity of this process, `<hostname>_<uuid>`. */
    readonly identity: string
    /** The Lease of the election; undefined without election. */
    readonly lease: { readonly namespace: string; readonly name: string } | undefined
    /**
     * Waits until this process leads; interruptible while it waits. The scope's finalizer ends the term and releases the Lease, so
     * run the work in a scope inside. One term at a time: a second call waits until the first scope is closed.
     */
    readonly acquire: Effect.Effect<Term, never, Scope.Scope>
    /** The observed holder; undefined when there is none, or before the Lease was read. On standbys too. */
    readonly leader: Effect.Effect<string | undefined>
    /**
     * Milliseconds for which this process is certainly still the leader, by the monotonic clock; infinite without election, undefined
     * while it does not lead.
     */
    readonly provenFor: Effect.Effect<number | undefined>
    /** Its terms and last renewals. */
    readonly terms: Effect.Effect<Terms>
    /** The present leader, then every change of it. */
    readonly leaderChanges: Stream.Stream<string | undefined>
  }
>()("effect-controller-manager/Leadership") {
  /** No election: one term that never ends. */
  static readonly layerAlways = Layer.succeed(
    Leadership,
    Leadership.of({
      identity: "",
      lease: undefined,
      acquire: Effect.succeed({ lost: Effect.never, isValidUnsafe: () => true }),
      leader: Effect.succeed(""),
      provenFor: Effect.succeed(Infinity),
      terms: Effect.succeed(noTerms),
      leaderChanges: Stream.succeed("")
    })
  )

  /**
   * Acquires leadership, runs `work` in a new scope and returns how it ended. A loss interrupts the work at once, closes the new scope
   * with `LeaderLost` and is returned as a value. The Lease is released only after that, so calling `run` again is safe.
   */
  static readonly run = <A, E, R>(
    work: (term: Term) => Effect.Effect<A, E, R>
  ): Effect.Effect<Outcome<A>, E, Leadership | Exclude<R, Scope.Scope>> =>
    Effect.flatMap(Leadership, (leadership) => Effect.scoped(Effect.flatMap(leadership.acquire, inTerm(work))))
}

/** The scope of the work is inside the caller's, which holds the term. It is closed first, with the reason. */
const inTerm =
  <A, E, R>(work: (term: Term) => Effect.Effect<A, E, R>) =>
  (term: Term): Effect.Effect<Outcome<A>, E, Exclude<R, Scope.Scope>> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Scope.make(), (scope) => {
        const working = Effect.map(work(term), (value): Outcome<A> => ({ _tag: "Finished", value }))
        const losing = Effect.map(term.lost, (reason): Outcome<A> => ({ _tag: "Lost", reason }))
        return restore(Scope.provide(Effect.raceFirst(working, losing), scope)).pipe(
          Effect.onExit((exit) => Scope.close(scope, closing(exit)))
        )
      })
    )

const closing = <A, E>(exit: Exit.Exit<Outcome<A>, E>): Exit.Exit<unknown, unknown> =>
  Exit.isSuccess(exit) && exit.value._tag === "Lost" ? Exit.fail(exit.value.reason) : exit
