/**
 * Detects a server that has disappeared while requests wait for a response. TCP keepalive detects it on a connection that only receives events. It
 * does not where sent bytes are not acknowledged: the kernel resends them for a quarter of an hour. So if a response head is missing after half a
 * minute, this module opens a connection to the server and sends nothing. If that fails, the requests that have waited so long fail. A server that
 * accepts connections may take its time. Without waiting requests nothing runs.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import { connect } from "node:net"
import { Chain } from "../../streams/chain.ts"
import * as Monotonic from "../../streams/monotonic.ts"

/** Milliseconds that a request waits before the server is checked, and between two checks. */
const patience = 30_000

/** Milliseconds in which a connection must succeed. */
const limit = 10_000

/** A request that waits for its response. */
export interface Waiting {
  /** True while there is neither a response nor an error. */
  readonly isUnanswered: boolean
  readonly failUnsafe: (error: Error) => void
}

export interface Unanswered {
  /** The returned function must be called as soon as the request has ended, with or without a response. */
  readonly addUnsafe: (one: Waiting) => () => void
}

interface Entry {
  readonly one: Waiting
  /** Since when it waits, or when the server was last found reachable. */
  since: number
}

/** `reach` fails if the server does not accept a connection. */
export const make = (reach: Effect.Effect<void, Error>): Effect.Effect<Unanswered, never, Scope.Scope> =>
  Effect.gen(function* () {
    const now = Monotonic.millis(yield* Clock.Clock)
    const fork = yield* FiberSet.makeRuntime<never, void, never>()
    /** In the order of `since`. */
    const waiting = new Chain<Entry>()
    let isWatched = false
    const earliest = (): number | undefined => {
      for (let first = waiting.first; first !== undefined; first = waiting.first) {
        if (first.value.one.isUnanswered) return first.value.since
        waiting.delete(first)
      }
      return undefined
    }
    const late = () =>
      waiting
        .links()
        .map((link) => ({ link, entry: link.value }))
        .filter(({ entry: { one, since } }) => one.isUnanswered && now() - since >= patience)
    const look = Effect.gen(function* () {
      const before = late()
      if (before.length === 0) return
      const found = yield* Effect.result(reach)
      // Includes requests that have become late during the check: another check would take as long again.
      if (found._tag === "Failure") for (const { entry } of late()) entry.one.failUnsafe(found.failure)
      else
        for (const { entry, link } of before) {
          entry.since = now()
          waiting.moveLast(link)
        }
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
        const link = waiting.add({ one, since: now() })
        if (!isWatched) {
          isWatched = true
          fork(watch)
        }
        return () => void waiting.delete(link)
      }
    }
  })

/** The connection took too long; with the code that Node uses for that. */
class Unreachable extends Error {
  readonly code = "ETIMEDOUT"
}

/** Opens a connection to the server of a URL and closes it again. */
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
