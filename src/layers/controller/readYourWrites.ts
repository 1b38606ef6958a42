/**
 * Read-your-writes for one controller: which keys have written versions that the cache does not contain yet. A run records its writes under
 * its key. Before the key's next run the loop calls `park`, which holds the key, without a worker, until the informers have passed every
 * version or the limit is over. It does not wait for writes to kinds that the controller does not read.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Key from "../../kube/Key.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import type * as Resource from "../../kube/Resource.ts"
import type { Cache } from "../Cache.ts"
import { CurrentRun } from "./currentRun.ts"

export interface ReadYourWrites {
  readonly note: (resource: Resource.Any, object: KubeObject) => Effect.Effect<void>
  /** True: the key is held, and `resume` is called once, when the last write is visible or its limit is over. */
  readonly park: (key: Key.Key, resume: () => void) => boolean
}

interface Pending {
  /** The kinds of the writes that are not visible yet, one for each write; never empty while the entry exists. */
  readonly kinds: Array<Resource.Any>
  resume: (() => void) | undefined
}

export const make = (options: {
  readonly cache: Cache["Service"]
  /** The kinds that the controller reads. */
  readonly reads: ReadonlyArray<Resource.Any>
  readonly limit: Duration.Input
  /** Called when a key is held, with the kind of a write that is not visible yet. */
  readonly onHeld?: ((resource: Resource.Any) => void) | undefined
}): ReadYourWrites => {
  const reads = new Map(options.reads.map((resource) => [resource.part?.of ?? resource.id, resource]))
  /** Exactly the keys with writes that are not visible yet. */
  const pending = new Map<Key.Key, Pending>()

  const visible = (key: Key.Key, resource: Resource.Any): void => {
    const entry = pending.get(key)
    const index = entry?.kinds.indexOf(resource) ?? -1
    if (entry === undefined || index < 0) return
    entry.kinds.splice(index, 1)
    if (entry.kinds.length > 0) return
    pending.delete(key)
    entry.resume?.()
  }

  return {
    note: (resource, object) => {
      const read = reads.get(resource.id) ?? reads.get(`metadata:${resource.id}`)
      const version = object.metadata.resourceVersion
      if (read === undefined || version === undefined) return Effect.void
      return Effect.flatMap(CurrentRun, (run) => {
        if (run === undefined) return Effect.void
        const { key } = run
        const entry = pending.get(key)
        if (entry === undefined) pending.set(key, { kinds: [resource], resume: undefined })
        else entry.kinds.push(resource)
        const seen = () => visible(key, resource)
        const waited = options.cache.onVersion(read, Key.of(object), version, seen, options.limit, object)
        // A kind that is no longer cached will never contain the write.
        return Effect.catch(waited, () => Effect.sync(seen))
      })
    },
    park: (key, resume) => {
      const entry = pending.get(key)
      if (entry === undefined) return false
      entry.resume = resume
      const [kind] = entry.kinds
      if (kind !== undefined) options.onHeld?.(kind)
      return true
    }
  }
}
