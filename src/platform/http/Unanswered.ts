/**
 * Notices that a server has gone while requests wait for its answer. The kernel does so by itself on a connection that waits for nothing but
 * events (TCP keepalive), but not where something that was sent is not acknowledged: it sends that again for a quarter of an hour. So when the
 * head of an answer is not there after half a minute, the server is connected to, and nothing is sent; where that fails, the requests that
 * have waited so long fail. A server that accepts connections may take its time. At rest nothing is done.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import { connect } from "node:net"
import * as Monotonic from "../../streams/monotonic.ts"

/** Milliseconds that an answer is waited for before the server is looked for, and again after it was found. */
const patience = 30_000

/** Milliseconds for a connection to be made. */
const limit = 10_000

/** What waits. */
export interface Waiting {
  /** Neither answered nor over. */
  readonly isUnanswered: boolean
  readonly failUnsafe: (error: Error) => void
}

export interface Unanswered {
  readonly addUnsafe: (one: Waiting) => void
  /** Must be called as soon as the request is over, answered or not. */
  readonly deleteUnsafe: (one: Waiting) => void
}

/** `reach` fails when no server answers. */
export const make = (reach: Effect.Effect<void, Error>): Effect.Effect<Unanswered, never, Scope.Scope> =>
  Effect.gen(function* () {
    const now = Monotonic.millis(yield* Clock.Clock)
    const fork = yield* FiberSet.makeRuntime<never, void, never>()
    /** Since when, or since when the server was last found; in that order. */
    const waiting = new Map<Waiting, number>()
    let isWatched = false
    const earliest = (): number | undefined => {
      for (const [one, since] of waiting) {
        if (one.isUnanswered) return since
        waiting.delete(one)
      }
      return undefined
    }
    const late = (): ReadonlyArray<Waiting> =>
      Array.from(waiting).flatMap(([one, since]) => (one.isUnanswered && now() - since >= patience ? [one] : []))
    const look = Effect.gen(function* () {
      const before = late()
      if (before.length === 0) return
      const found = yield* Effect.result(reach)
      // Those, too, that have become late meanwhile: another attempt would take as long again.
      if (found._tag === "Failure") for (const one of late()) one.failUnsafe(found.failure)
      else for (const one of before) if (waiting.delete(one)) waiting.set(one, now())
    })
    const watch = Effect.gen(function* () {
      for (let since = earliest(); since !== undefined; since = earliest()) {
        yield* Effect.sleep(Math.max(0, since + patience - now()))
        yield* look
      }
      isWatched = false
    })
    return {
      addUnsafe: (one) => {
        waiting.set(one, now())
        if (isWatched) return
        isWatched = true
        fork(watch)
      },
      deleteUnsafe: (one) => void waiting.delete(one)
    }
  })

/** No answer within the limit; with Node's own code for that. */
class Unreachable extends Error {
  readonly code = "ETIMEDOUT"
}

/** Whether the server of a URL accepts a connection, which is closed again. */
export const reach = (server: string): Effect.Effect<void, Error> => {
  const { hostname, port, protocol } = new URL(server)
  const host = hostname.replace(/^\[|\]$/g, "")
  const attempt = Effect.callback<void, Error>((resume) => {
    const socket = connect({ host, port: Number(port || (protocol === "http:" ? 80 : 443)) })
    const end = (result: Effect.Effect<void, Error>): void => {
      socket.destroy()
      resume(result)
    }
    socket.once("connect", () => end(Effect.void)).once("error", (error) => end(Effect.fail(error)))
    return Effect.sync(() => socket.destroy())
  })
  return Effect.timeoutOrElse(attempt, {
    duration: limit,
    orElse: () => Effect.fail(new Unreachable(`connect ETIMEDOUT ${host}`))
  })
}
