/**
 * Read-your-writes for one controller: which keys have written something that the cache has not shown yet. A run notes its
 * writes under its own key; before the key's next run the loop asks `park`, and the key is held, without a worker, until the
 * informer has passed every version or the limit is over. A write to a kind the controller does not read is not waited for.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Key from "../../kube/Key.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import type * as Resource from "../../kube/Resource.ts"
import type { Cache } from "../Cache.ts"
import { CurrentRun } from "./currentRun.ts"

export interface OwnWrites {
  readonly note: (resource: Resource.Any, object: KubeObject) => Effect.Effect<void>
  /** True: held; `resume` is called once, when the last write is visible or its limit is over. */
  readonly park: (key: Key.Key, resume: () => void) => boolean
}

interface Pending {
  /** Writes not visible yet; never zero while the entry exists. */
  count: number
  resume: (() => void) | undefined
}

export const make = (options: {
  readonly cache: Cache["Service"]
  /** Kinds the controller reads. */
  readonly reads: ReadonlyArray<Resource.Any>
  readonly limit: Duration.Input
}): OwnWrites => {
  const reads = new Map(options.reads.map((resource) => [resource.part?.of ?? resource.id, resource]))
  /** Keys with writes that are not visible yet, and nothing else. */
  const pending = new Map<Key.Key, Pending>()

  const visible = (key: Key.Key): void => {
    const entry = pending.get(key)
    if (entry === undefined || --entry.count > 0) return
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
        if (entry === undefined) pending.set(key, { count: 1, resume: undefined })
        else entry.count++
        const waited = options.cache.onVersion(read, Key.of(object), version, () => visible(key), options.limit, object)
        // A kind that is no longer cached will never show the write: nothing to wait for.
        return Effect.catch(waited, () => Effect.sync(() => visible(key)))
      })
    },
    park: (key, resume) => {
      const entry = pending.get(key)
      if (entry === undefined) return false
      entry.resume = resume
      return true
    }
  }
}
