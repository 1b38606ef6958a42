/**
 * Request bodies, from their first byte until the response. A body must arrive within five seconds, and all bodies of a server share one budget of
 * bytes, so that slow clients exhaust neither handlers nor memory. When the budget is used up, bodies that have been arriving for more than a
 * second are dropped, the oldest first; a body at normal speed is never among them. Pure.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** A rejected body: the status and the text of the response. */
export class BodyError extends Data.TaggedError("BodyError")<{
  readonly status: 408 | 413 | 503
  readonly message: string
}> {}

/** Bytes of all bodies that are arriving or in use. */
const budget = 32 * 1024 * 1024

/** The first bytes of each body are not counted, because socket buffers hold as many anyway: a body of usual size never waits for the budget. */
const free = 64 * 1024

const arrivalTimeout = Duration.seconds(5)

/** Milliseconds. */
const grace = 1000

const slow = new BodyError({ status: 408, message: "the body has not arrived in time" })
const crowded = new BodyError({ status: 503, message: "the body made room for others, because it arrived slowly" })

export interface Body {
  /** Reads the parts of the body; may run only once. */
  readonly parts: Effect.Effect<ReadonlyArray<Uint8Array>, BodyError>
  /** Frees its share of the budget, after the response or an abort. */
  readonly releaseUnsafe: () => void
}

interface Reader {
  /** Milliseconds of the monotonic clock. */
  readonly since: number
  readonly dropped: Deferred.Deferred<never, BodyError>
  /** Its share of the budget in bytes. */
  held: number
  hasArrived: boolean
}

/** The bodies of one server. */
export class Bodies {
  /** The sum of all shares; never more than the budget. */
  private used = 0
  /** Ordered by the time at which they began; a dropped body is removed. */
  private readonly readers = new Set<Reader>()
  /** Callbacks that resume readers that wait for the budget. */
  private readonly waiting = new Set<() => void>()

  /** `next`: reads the next part, undefined at the end. */
  make(next: Effect.Effect<Uint8Array | undefined>, limit: number): Body {
    let own: Reader | undefined
    const parts = Effect.map(now, (since) => {
      own = { since, dropped: Deferred.makeUnsafe(), held: 0, hasArrived: false }
      this.readers.add(own)
      return own
    }).pipe(
      Effect.flatMap((reader) => Effect.raceFirst(this.collect(reader, next, limit), Deferred.await(reader.dropped))),
      Effect.timeoutOrElse({ duration: arrivalTimeout, orElse: () => Effect.fail(slow) })
    )
    return { parts, releaseUnsafe: () => own !== undefined && this.release(own) }
  }

  private collect(
    reader: Reader,
    next: Effect.Effect<Uint8Array | undefined>,
    limit: number
  ): Effect.Effect<ReadonlyArray<Uint8Array>, BodyError> {
    return Effect.gen({ self: this }, function* () {
      const parts: Array<Uint8Array> = []
      let size = 0
      for (let part = yield* next; part !== undefined; part = yield* next) {
        size += part.length
        if (size <= limit) {
          yield* this.take(reader, size - free - reader.held)
          parts.push(part)
        } else {
          // The rest is read, so that the client gets the response, but not kept.
          parts.length = 0
          this.give(reader)
        }
      }
      reader.hasArrived = true
      if (size > limit) return yield* new BodyError({ status: 413, message: `the body is longer than ${limit} bytes` })
      return parts
    })
  }

  /** Waits until the budget has room. */
  private take(reader: Reader, bytes: number): Effect.Effect<void> {
    if (bytes <= 0) return Effect.void
    return Effect.flatMap(now, (now) => {
      for (const other of this.readers) {
        if (this.used + bytes <= budget || now - other.since < grace) break
        if (other !== reader && !other.hasArrived) this.drop(other)
      }
      // A dropped reader takes nothing more; it is about to be interrupted.
      if (!this.readers.has(reader)) return Effect.never
      if (this.used + bytes > budget) return Effect.andThen(this.room, this.take(reader, bytes))
      this.used += bytes
      reader.held += bytes
      return Effect.void
    })
  }

  /** Resumes when bytes were released, or after `grace`, when a body may have become slow. */
  private readonly room: Effect.Effect<void> = Effect.raceFirst(
    Effect.callback((resume) => {
      const wake = (): void => resume(Effect.void)
      this.waiting.add(wake)
      return Effect.sync(() => void this.waiting.delete(wake))
    }),
    Effect.sleep(grace)
  )

  private drop(reader: Reader): void {
    this.release(reader)
    Deferred.doneUnsafe(reader.dropped, Effect.fail(crowded))
  }

  private release(reader: Reader): void {
    this.readers.delete(reader)
    this.give(reader)
  }

  private give(reader: Reader): void {
    this.used -= reader.held
    reader.held = 0
    for (const wake of this.waiting) wake()
    this.waiting.clear()
  }
}

const now = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1e6)
