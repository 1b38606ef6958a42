/**
 * Bodies of requests, from their first byte until the request has been answered. A body has five seconds to arrive, and all bodies together
 * have one budget of bytes, so that clients that send slowly hold neither the handlers nor the memory. Where the budget is used up, bodies that
 * have been on their way for a second make room, the oldest first: a client of usual speed is never among them. Pure.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** A body that is not taken: the status and the text of the answer. */
export class BodyError extends Data.TaggedError("BodyError")<{
  readonly status: 408 | 413 | 503
  readonly message: string
}> {}

/** Bytes of all bodies that arrive or are in use. */
const budget = 32 * 1024 * 1024

/** Bytes of each body that are not counted, as many as wait in a connection anyway: a body of the usual size never waits for room. */
const free = 64 * 1024

const arrivalTimeout = Duration.seconds(5)

/** Milliseconds. */
const grace = 1000

const slow = new BodyError({ status: 408, message: "the body has not arrived in time" })
const crowded = new BodyError({ status: 503, message: "the body made room for others, because it arrived slowly" })

export interface Body {
  /** The parts of it, read when it runs, once. */
  readonly parts: Effect.Effect<ReadonlyArray<Uint8Array>, BodyError>
  /** The request has been answered, or abandoned. */
  readonly releaseUnsafe: () => void
}

interface Reader {
  /** Milliseconds of the monotonic clock. */
  readonly since: number
  readonly dropped: Deferred.Deferred<never, BodyError>
  /** Bytes of the budget. */
  held: number
  hasArrived: boolean
}

/** The bodies of one server. */
export class Bodies {
  /** The sum of what is held; never more than the budget. */
  private used = 0
  /** In the order in which they began; one that was dropped is not here any more. */
  private readonly readers = new Set<Reader>()
  /** Wake those that wait for room. */
  private readonly waiting = new Set<() => void>()

  /** `next`: the next part of it, undefined at its end. */
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
          // It is read to its end all the same, so that the client gets the answer, but not kept.
          parts.length = 0
          this.give(reader)
        }
      }
      reader.hasArrived = true
      if (size > limit) return yield* new BodyError({ status: 413, message: `the body is longer than ${limit} bytes` })
      return parts
    })
  }

  /** Waits for as long as there is no room. */
  private take(reader: Reader, bytes: number): Effect.Effect<void> {
    if (bytes <= 0) return Effect.void
    return Effect.flatMap(now, (now) => {
      for (const other of this.readers) {
        if (this.used + bytes <= budget || now - other.since < grace) break
        if (other !== reader && !other.hasArrived) this.drop(other)
      }
      // One that was dropped takes nothing any more; it ends in a moment.
      if (!this.readers.has(reader)) return Effect.never
      if (this.used + bytes > budget) return Effect.andThen(this.room, this.take(reader, bytes))
      this.used += bytes
      reader.held += bytes
      return Effect.void
    })
  }

  /** Bytes may have been released, or a body may be slow by now. */
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
