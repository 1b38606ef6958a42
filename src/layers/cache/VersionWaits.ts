/**
 * Read-your-writes without holding a worker: a callback that runs once, when the informers of a kind have passed the version
 * that a write returned, or when its limit is over. Limits are monotonic time; one fiber and one timer serve all waits.
 * Nothing here reads objects: an informer says what it has passed.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import type { Key } from "../../kube/Key.ts"
import * as ResourceVersion from "../../kube/ResourceVersion.ts"

/** One informer's waits, and what they ask of it. */
export interface Gate {
  readonly waits: Set<Wait>
  /** True once the informer has distributed an event of that key, or any event or bookmark, of that version or a later one. */
  readonly hasPassed: (key: Key, version: string) => boolean
  /** Called when a callback has thrown, which affects neither the informer nor other waits. */
  readonly threw: (error: unknown) => void
}

export interface Wait {
  readonly key: Key
  readonly version: string
  /** Gates that the write has not passed yet; the callback has run when it is empty. */
  readonly behind: Set<Gate>
  readonly done: (reached: boolean) => void
  /** The waits of one limit, oldest first, hence by deadline. */
  readonly peers: Set<Wait>
  /** Monotonic milliseconds. */
  readonly due: number
}

export interface VersionWaits {
  /** Runs `done` at once if every gate has passed already. `limit` in milliseconds. */
  readonly add: (
    gates: ReadonlyArray<Gate>,
    key: Key,
    version: string,
    limit: number,
    done: (reached: boolean) => void
  ) => Effect.Effect<void>
  readonly count: () => number
}

/** To be called when the informer has moved on. Callbacks run here, in the caller's turn. */
export const passUnsafe = (gate: Gate): void => {
  for (const wait of gate.waits) {
    if (!gate.hasPassed(wait.key, wait.version)) continue
    gate.waits.delete(wait)
    wait.behind.delete(gate)
    if (wait.behind.size === 0) settle(wait, true, gate)
  }
}

/** The informer stops: what it has not passed, it never will. */
export const closeUnsafe = (gate: Gate): void => {
  for (const wait of gate.waits) settle(wait, false, gate)
}

/** What an informer has passed, from the version it stands at and the version of its object of that key. */
export const hasPassed = (informer: string | undefined, object: string | undefined, version: string): boolean =>
  (informer !== undefined && ResourceVersion.isAtLeast(informer, version)) ||
  (object !== undefined && ResourceVersion.isAtLeast(object, version))

export const make: Effect.Effect<VersionWaits, never, Scope.Scope> = Effect.gen(function* () {
  /** By limit. There are few different ones, and within one the first wait is the first that is due. */
  const byLimit = new Map<number, Set<Wait>>()
  /** Opened when the timer may have to be set anew. */
  const earlier = Latch.makeUnsafe(false)
  /** When the timer goes off; infinite while it is not set. */
  let armed = Infinity

  const earliest = (): number => {
    let due = Infinity
    for (const [limit, waits] of byLimit) {
      const first = firstOf(waits)
      if (first === undefined) byLimit.delete(limit)
      else due = Math.min(due, first.due)
    }
    return due
  }

  const expire = (now: number): void => {
    for (const waits of byLimit.values()) {
      for (const wait of waits) {
        if (wait.due > now) break
        settle(wait, false, firstOf(wait.behind))
      }
    }
  }

  const turn = Clock.clockWith((clock) => {
    const now = monotonicMillis(clock)
    expire(now)
    armed = earliest()
    earlier.closeUnsafe()
    if (armed === Infinity) return earlier.await
    return Effect.raceFirst(Effect.sleep(Math.ceil(armed - now)), earlier.await)
  })
  yield* Effect.forkScoped(Effect.forever(turn))
  yield* Effect.addFinalizer(() => Effect.sync(() => expire(Infinity)))

  return {
    add: (gates, key, version, limit, done) =>
      Clock.clockWith((clock) =>
        Effect.sync(() => {
          const behind = new Set(gates.filter((gate) => !gate.hasPassed(key, version)))
          if (behind.size === 0) return call(done, true, gates[0])
          const peers = byLimit.get(limit) ?? new Set()
          byLimit.set(limit, peers)
          const wait: Wait = { key, version, behind, done, peers, due: monotonicMillis(clock) + limit }
          peers.add(wait)
          for (const gate of behind) gate.waits.add(wait)
          if (wait.due < armed) earlier.openUnsafe()
        })
      ),
    count: () => {
      let count = 0
      for (const waits of byLimit.values()) count += waits.size
      return count
    }
  }
})

const firstOf = <A>(set: ReadonlySet<A>): A | undefined => {
  for (const value of set) return value
  return undefined
}

/** Exactly once: a settled wait is nowhere any more. */
const settle = (wait: Wait, reached: boolean, gate: Gate | undefined): void => {
  for (const other of wait.behind) other.waits.delete(wait)
  wait.behind.clear()
  if (wait.peers.delete(wait)) call(wait.done, reached, gate)
}

const call = (done: (reached: boolean) => void, reached: boolean, gate: Gate | undefined): void => {
  try {
    done(reached)
  } catch (error) {
    gate?.threw(error)
  }
}

const monotonicMillis = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6
