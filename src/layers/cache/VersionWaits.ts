/**
 * Read-your-writes without occupying a worker: a callback that is called once, when the informers of a kind have passed the version that
 * a write returned, or when the limit is over. Limits are monotonic time; one fiber with one timer serves all waits.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import type { Key } from "../../kube/Key.ts"
import * as ResourceVersion from "../../kube/ResourceVersion.ts"

/** The waits for one informer. */
export interface Gate {
  readonly waits: Set<Wait>
  /** True once the informer has distributed an event of that key, or any event or bookmark, of that version or a later one. */
  readonly hasPassed: (key: Key, version: string) => boolean
  /** Called when a callback has thrown an exception, which affects neither the informer nor other waits. */
  readonly threw: (error: unknown) => void
}

export interface Wait {
  readonly key: Key
  readonly version: string
  /** The informers that have not passed the version yet; the callback has run when it is empty. */
  readonly behind: Set<Gate>
  readonly done: (reached: boolean) => void
  /** All waits with the same limit, oldest first, which is also the order of their deadlines. */
  readonly peers: Set<Wait>
  /** Monotonic milliseconds. */
  readonly due: number
}

export interface VersionWaits {
  /** Calls `done` at once if every informer has passed the version already. `limit` in milliseconds. */
  readonly add: (
    gates: ReadonlyArray<Gate>,
    key: Key,
    version: string,
    limit: number,
    done: (reached: boolean) => void
  ) => Effect.Effect<void>
  readonly count: () => number
}

/** Call it after the informer has received a change. It calls the callbacks of waits that are over. */
export const passUnsafe = (gate: Gate): void => {
  for (const wait of gate.waits) {
    if (!gate.hasPassed(wait.key, wait.version)) continue
    gate.waits.delete(wait)
    wait.behind.delete(gate)
    if (wait.behind.size === 0) settle(wait, true, gate)
  }
}

/** The informer stops: its waits end without success. */
export const closeUnsafe = (gate: Gate): void => {
  for (const wait of gate.waits) settle(wait, false, gate)
}

/** Whether an informer has passed a version: `informer` is the version that it has reached, `object` that of its object with the key. */
export const hasPassed = (informer: string | undefined, object: string | undefined, version: string): boolean =>
  (informer !== undefined && ResourceVersion.isAtLeast(informer, version)) ||
  (object !== undefined && ResourceVersion.isAtLeast(object, version))

export const make: Effect.Effect<VersionWaits, never, Scope.Scope> = Effect.gen(function* () {
  /** Waits by limit. There are few limits, and the first wait of each is due first. */
  const byLimit = new Map<number, Set<Wait>>()
  /** Opened when a wait is due before the timer. */
  const earlier = Latch.makeUnsafe(false)
  /** When the timer expires; infinite while it is not set. */
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

/** Removes the wait from all sets, so that its callback is called only once. */
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
