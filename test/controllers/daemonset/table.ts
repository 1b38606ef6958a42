/** The objects of one kind on the server, and a store that receives their events when the script delivers them. */
import * as Key from "../../../src/kube/Key.ts"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import type { Index } from "../../../src/layers/Cache.ts"
import type { ObjectEvent } from "../../../src/streams/watch/protocol.ts"
import type { Delta } from "../../../src/streams/store/Store.ts"
import * as Store from "../../../src/streams/store/Store.ts"

/** All tables share one sequence of resource versions. */
let version = 1

export class Table<A extends KubeObject> {
  private readonly objects = new Map<string, A>()
  private readonly events: Array<ObjectEvent<A>> = []
  readonly store = Store.make<A>()

  constructor(indexes: ReadonlyArray<Index<A>>) {
    for (const { name, of } of indexes) this.store.addIndex(name, (object) => of(object))
    this.store.apply({ _tag: "Restarted" })
    this.store.apply({ _tag: "Synced", resourceVersion: "0" })
  }

  get(key: string): A | undefined {
    return this.objects.get(key)
  }

  all(): ReadonlyArray<A> {
    return [...this.objects.values()]
  }

  put(given: A): A {
    const object = stamped(given)
    const type = this.objects.has(Key.of(object)) ? "MODIFIED" : "ADDED"
    this.objects.set(Key.of(object), object)
    this.events.push({ type, object })
    return object
  }

  remove(given: A): A {
    const object = stamped(given)
    if (this.objects.delete(Key.of(object))) this.events.push({ type: "DELETED", object })
    return object
  }

  show(count: number): ReadonlyArray<Delta<A>> {
    return this.events.splice(0, count).flatMap((event) => {
      const resourceVersion = event.object.metadata.resourceVersion ?? ""
      return this.store.apply({ _tag: "Changed", events: [event], resourceVersion })
    })
  }
}

const stamped = <A extends KubeObject>(object: A): A => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion: String(++version) }
})
