/**
 * Applies changes to a store and emits what they meant. The store is updated before the deltas leave, so whoever receives
 * one and reads the store sees at least the state of that delta.
 */
import * as Stream from "effect/Stream"
import type { KubeObject } from "../../kube/Meta.ts"
import type { Change } from "../watch/protocol.ts"
import type { Delta } from "./Store.ts"
import type { Store } from "./Store.ts"

/** Deltas in the changes' order, one array for each chunk of changes; changes without meaning emit nothing. */
export const reflect = <A extends KubeObject, E, R>(
  changes: Stream.Stream<Change<A>, E, R>,
  store: Store<A>
): Stream.Stream<Delta<A>, E, R> =>
  Stream.mapAccumArray(
    changes,
    () => undefined,
    (_, chunk) => {
      if (chunk.length === 1) return [undefined, store.apply(chunk[0])]
      const deltas: Array<Delta<A>> = []
      for (const change of chunk) for (const delta of store.apply(change)) deltas.push(delta)
      return [undefined, deltas]
    }
  )
