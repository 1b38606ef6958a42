/** The status of a synced informer of pods with one subscriber, except for the fields that are given. */
import type { InformerStatus } from "../../src/layers/Cache.ts"

export const informerStatus = (over: Partial<InformerStatus>): InformerStatus => ({
  resource: "pods",
  id: "v1/pods",
  selection: {},
  synced: true,
  objects: 0,
  bytesUnsafe: () => 0,
  resourceVersion: undefined,
  startedAt: 0,
  attempts: 0,
  failures: 0,
  relists: 0,
  lastError: undefined,
  lastEventAt: undefined,
  defects: 0,
  listenerErrors: 0,
  lastListenerError: undefined,
  subscribers: 1,
  ...over
})
