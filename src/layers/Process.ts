/** The contract for what the platform reports about the process that the program runs in. `platform/Process.ts` implements it on Node. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"

/** What is known of a fiber that has not ended. */
export interface FiberState {
  readonly id: number
  /** The annotations of its log lines: `controller=deployment`. */
  readonly annotations: ReadonlyArray<string>
  /** Names of the calls that it is in, the innermost first; only calls that were given a name are known. */
  readonly calls: ReadonlyArray<string>
}

/** Profiles of the process, in V8's formats. Each of them slows the process down while it is taken. */
export interface Profiler {
  /** Samples the stack for so many seconds; the text of a `.cpuprofile`. */
  readonly cpuProfile: (seconds: number) => Effect.Effect<string>
  /** All objects on the heap, as a `.heapsnapshot`. The process does nothing else while it is taken. */
  readonly heapSnapshot: Effect.Effect<Stream.Stream<Uint8Array, unknown>>
  readonly heapStatistics: Effect.Effect<unknown>
  /** All fibers that have not ended, except the one that asks. */
  readonly fibers: Effect.Effect<ReadonlyArray<FiberState>>
}

/** What is known of the lag of the event loop. */
export interface EventLoop {
  /** Milliseconds by which the last wake-up was late. */
  readonly lastUnsafe: () => number
}

export class Process extends Context.Service<
  Process,
  {
    /** Registers the time at which the process started. */
    readonly registerStart: Effect.Effect<void>
    /** Registers all metrics of the process; garbage collections are counted for as long as the scope is open. */
    readonly register: (eventLoop: EventLoop) => Effect.Effect<void, never, Scope.Scope>
    /** Loaded when it is first used. */
    readonly profiler: Effect.Effect<Profiler>
  }
>()("effect-controller-manager/Process") {}
