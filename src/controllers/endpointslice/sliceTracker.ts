/**
 * What the loop remembers of its own writes, so that it takes them for nobody else's: the version each slice had after it, and which it
 * deleted. Also since when changes of a Service have been waiting. Plain synchronous state, for one term of leadership. Source: spec F.3.
 */
import type { Key } from "../../kube/Key.ts"
import type { EndpointSlice } from "../../kube/resources.ts"
import * as ResourceVersion from "../../kube/ResourceVersion.ts"
import type * as TriggerTime from "../shared/services/triggerTime.ts"

export interface SliceTracker {
  readonly times: Map<Key, TriggerTime.State>
  /** The slice was written, and this is what the server answered. */
  readonly written: (service: Key, slice: EndpointSlice) => void
  /** The slice was deleted, or was gone already. */
  readonly deleted: (service: Key, slice: EndpointSlice) => void
  /** Whether this state of the slice is of our making, or older than what is. */
  readonly isKnown: (service: Key, slice: EndpointSlice) => boolean
  /** Whether we deleted the slice, although the cache may still have it. */
  readonly isGone: (service: Key, slice: EndpointSlice) => boolean
  /** The cache has lost the slice: true if it was we who deleted it. */
  readonly observeDeletion: (service: Key, slice: EndpointSlice) => boolean
  readonly forget: (service: Key) => void
}

const gone = "gone"

export const make = (): SliceTracker => {
  /** By Service and uid: the version of our last write, or that it is gone. Never an empty map. */
  const writes = new Map<Key, Map<string, string>>()
  const times = new Map<Key, TriggerTime.State>()

  const note = (service: Key, { metadata: { uid = "" } }: EndpointSlice, what: string): void => {
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
