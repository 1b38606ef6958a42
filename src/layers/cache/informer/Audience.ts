/**
 * Who listens to one informer. All are told the same deltas in the same order, synchronously; a late one is first told what is
 * present. A listener that throws harms nobody: it is noted for the status and for the log.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { KubeObject } from "../../../kube/Meta.ts"
import type { Delta } from "../../../streams/store/Delta.ts"
import type { Readable } from "../../../streams/store/Store.ts"

/** Called in the informer's fiber, once a chunk, after the store has changed. Must not block. */
export type Listener<in A> = (deltas: ReadonlyArray<Delta<A>>) => void

export interface Audience<A extends KubeObject> {
  readonly tell: (deltas: ReadonlyArray<Delta<A>>) => void
  readonly onDeltas: (listener: Listener<A>) => Effect.Effect<void, never, Scope.Scope>
  /** A callback has thrown. */
  readonly threw: (error: unknown) => void
  /** Writes to the log what has been noted since the last time. */
  readonly flush: () => Effect.Effect<void>
  readonly state: () => { readonly listenerErrors: number; readonly lastListenerError: unknown }
}

export const make = <A extends KubeObject>(of: string, store: Readable<A>): Audience<A> => {
  /** Replaced, never changed: a listener that joins or leaves during a delivery does not disturb it. */
  let listeners: ReadonlyArray<Listener<A>> = []
  let listenerErrors = 0
  let lastListenerError: unknown
  let unlogged: Array<unknown> = []

  const threw = (error: unknown): void => {
    listenerErrors += 1
    lastListenerError = error
    unlogged.push(error)
  }

  const tellOne = (listener: Listener<A>, deltas: ReadonlyArray<Delta<A>>): void => {
    try {
      listener(deltas)
    } catch (error) {
      threw(error)
    }
  }

  return {
    tell: (deltas) => {
      if (deltas.length > 0) for (const listener of listeners) tellOne(listener, deltas)
    },
    onDeltas: (listener) =>
      Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => {
            // Its own closure, so that one function may listen twice.
            const own: Listener<A> = (deltas) => listener(deltas)
            if (store.size > 0) tellOne(own, store.replay())
            listeners = [...listeners, own]
            return own
          }),
          (own) => Effect.sync(() => (listeners = listeners.filter((other) => other !== own)))
        )
      ),
    threw,
    flush: () => {
      if (unlogged.length === 0) return Effect.void
      const errors = unlogged
      unlogged = []
      return Effect.forEach(errors, (error) => Effect.logError(`a listener of ${of} threw`, error), { discard: true })
    },
    state: () => ({ listenerErrors, lastListenerError })
  }
}
