/**
 * The resourceVersion that our last write gave to each slice, and the slices that we deleted, so that changes by other
 * clients are recognised. Also the trigger times of the Services. Plain synchronous state of one leadership term.
 * Source: endpointslice: EndpointSliceTracker.
 */
import type { Key } from "../../kube/Key.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import type { EndpointSlice } from "../../kube/resources.ts"
import * as ResourceVersion from "../../kube/ResourceVersion.ts"
import type * as TriggerTime from "../shared/services/triggerTime.ts"

export interface SliceTracker {
  readonly times: Map<Key, TriggerTime.State>
  /** The slice was written; `slice` is the server's response, of which the metadata count. */
  readonly written: (service: Key, slice: KubeObject) => void
  /** The slice was deleted by us or was already gone. */
  readonly deleted: (service: Key, slice: EndpointSlice) => void
  /** Whether this state of the slice is from our last write or older. */
  readonly isKnown: (service: Key, slice: EndpointSlice) => boolean
  /** Whether we deleted the slice, even if the cache still has it. */
  readonly isGone: (service: Key, slice: EndpointSlice) => boolean
  /** The cache dropped the slice; returns whether we deleted it. */
  readonly observeDeletion: (service: Key, slice: EndpointSlice) => boolean
  readonly forget: (service: Key) => void
}

const gone = "gone"

export const make = (): SliceTracker => {
  /** By Service and uid: the resourceVersion of our last write, or a mark for a deletion. Never holds an empty map. */
  const writes = new Map<Key, Map<string, string>>()
  const times = new Map<Key, TriggerTime.State>()

  const note = (service: Key, { metadata: { uid = "" } }: KubeObject, what: string): void => {
    const known = writes.get(service)
    if (known === undefined) writes.set(service, new Map([[uid, what]]))
    else known.set(uid, what)
  }
  const of = (service: Key, { metadata: { uid = "" } }: EndpointSlice) => writes.get(service)?.get(uid)

  return {
    times,
    written: (service, slice) => note(service, slice, slice.metadata.resourceVersion ?? ""),
    deleted: (service, slice) => note(service, slice, gone),
    isKnown: (service, slice) => {
      const version = of(service, slice)
      if (version === undefined || version === gone) return version === gone
      return ResourceVersion.isAtLeast(version, slice.metadata.resourceVersion ?? "")
    },
    isGone: (service, slice) => of(service, slice) === gone,
    observeDeletion: (service, slice) => {
      const known = writes.get(service)
      const { uid = "" } = slice.metadata
      const wasOurs = known?.get(uid) === gone
      if (known?.delete(uid) === true && known.size === 0) writes.delete(service)
      return wasOurs
    },
    forget: (service) => {
      writes.delete(service)
      times.delete(service)
    }
  }
}
