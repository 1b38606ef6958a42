/**
 * Detects that no work is left: a scheduler that counts the tasks of every fiber that runs on it. In a process without sockets and real
 * timers, no waiting task means that every queue, buffer and request has been processed, and that the remaining fibers wait for time to
 * pass. Tests wait for this state instead of sleeping or yielding a number of times.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scheduler from "effect/Scheduler"

/** Counts the work of the fibers that run under its layer. */
export class Quiescence extends Context.Service<
  Quiescence,
  {
    /** Waits until no fiber of this scheduler has anything to run, including work that starts when another `settle` returns. */
    readonly settle: Effect.Effect<void>
    /** The number of tasks that wait to run. */
    readonly pending: () => number
  }
>()("effect-controller-manager/Quiescence") {
  /** Fibers that are forked under this layer run on the counting scheduler. Those that were forked before are not counted. */
  static readonly layer: Layer.Layer<Quiescence> = Layer.effectContext(
    Effect.map(Scheduler.Scheduler, (inner) => {
      const scheduler = new CountingScheduler(inner)
      return Context.make(
        Quiescence,
        Quiescence.of({
          pending: () => scheduler.pending,
          settle: Effect.callback<void>((resume) => scheduler.whenQuiet(() => resume(Effect.void)))
        })
      ).pipe(Context.add(Scheduler.Scheduler, scheduler))
    })
  )
}

class CountingScheduler implements Scheduler.Scheduler {
  readonly executionMode: "sync" | "async"
  readonly inner: Scheduler.Scheduler
  /** Tasks of all dispatchers that are scheduled and have not begun. */
  pending = 0
  /** Called and removed when `pending` is zero after a task; the last one is called first. */
  #waiting: Array<() => void> = []
  readonly #own: Scheduler.SchedulerDispatcher

  constructor(inner: Scheduler.Scheduler) {
    this.inner = inner
    this.executionMode = inner.executionMode
    this.#own = inner.makeDispatcher()
  }

  shouldYield(...args: Parameters<Scheduler.Scheduler["shouldYield"]>): boolean {
    return this.inner.shouldYield(...args)
  }

  makeDispatcher(): Scheduler.SchedulerDispatcher {
    const inner = this.inner.makeDispatcher()
    return {
      flush: () => inner.flush(),
      scheduleTask: (task, priority) => {
        this.pending++
        inner.scheduleTask(() => {
          this.pending--
          task()
          this.#announce()
        }, priority)
      }
    }
  }

  /** Runs in a later task than the caller, so that what the caller has just forked is counted first. */
  whenQuiet(resume: () => void): void {
    this.#waiting.push(resume)
    this.#announce()
  }

  /** One turn later, because the task that has just run may have been the first of a batch that its dispatcher still holds. */
  #announce(): void {
    if (this.pending > 0 || this.#waiting.length === 0) return
    this.#own.scheduleTask(() => {
      if (this.pending > 0) return
      this.#waiting.pop()?.()
      this.#announce()
    }, Number.MAX_SAFE_INTEGER)
  }
}
