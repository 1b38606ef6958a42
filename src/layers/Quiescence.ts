/**
 * Knows when nothing is left to do: a scheduler that counts the tasks of every fiber that runs on it. In a process that touches
 * no sockets and no real timers, no task waiting means that every queue, buffer and request has been worked off and whoever is
 * left waits for time to pass. Tests settle on it, exactly, instead of sleeping or yielding a number of times.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scheduler from "effect/Scheduler"

/** What counts the work of the fibers below it. */
export class Quiescence extends Context.Service<
  Quiescence,
  {
    /** Waits until no fiber of this scheduler has anything to run. Work that another settle wakes is waited for too. */
    readonly settle: Effect.Effect<void>
    /** Tasks that wait for their turn. */
    readonly pending: () => number
  }
>()("effect-controller-manager/Quiescence") {
  /** Fibers forked under this layer run on the counting scheduler; those forked before do not and are not waited for. */
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
  /** Tasks scheduled and not begun, of all dispatchers. */
  pending = 0
  /** Called, and forgotten, when `pending` is zero after a task; the one that came last goes first. */
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

  /** Never in the caller's turn: what the caller has just forked must be counted first. */
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
