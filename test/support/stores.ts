/** Stores with given objects, and deltas of given kinds, for tests of what a controller derives from its caches. */
import * as Schema from "effect/Schema"
import type { KubeObject } from "../../src/kube/Meta.ts"
import * as Store from "../../src/streams/store/Store.ts"

/** A synced store of these objects. */
export const storeOf = <A extends KubeObject>(
  objects: ReadonlyArray<A>,
  indexes: ReadonlyArray<{ readonly name: string; readonly of: (object: A) => ReadonlyArray<string> }> = []
): Store.Store<A> => {
  const store = Store.make<A>()
  for (const { name, of } of indexes) store.addIndex(name, of)
  store.apply({ _tag: "Restarted" })
  store.apply({ _tag: "Listed", objects })
  store.apply({ _tag: "Synced", resourceVersion: "1" })
  return store
}

export const deltaKinds = Schema.Literals(["Created", "Updated", "Deleted"])

/** The delta that a store gives its listeners; `previous` counts for an update only. */
export const deltaOf = <A>(kind: typeof deltaKinds.Type, object: A, previous: A): Store.Delta<A> =>
  kind === "Created"
    ? { _tag: kind, object, initial: false }
    : kind === "Updated"
      ? { _tag: kind, object, previous }
      : { _tag: kind, object, stateUnknown: false }
