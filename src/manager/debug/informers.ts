/** `/debug/informers`: how many objects each informer holds, how fresh they are, and its last error, from the status of the cache. Pure. */
import type { InformerStatus } from "../../layers/Cache.ts"
import { cut, instant, oneLine, seconds } from "./page.ts"

/** The most rows of a page; informers with errors come first. */
export const limit = 1000

/** `now`: wall clock, milliseconds. */
export const render = (informers: ReadonlyArray<InformerStatus>, now: number) => {
  const { items, ...rest } = cut([...informers].sort(inTrouble), limit)
  return { informers: items.map((informer) => row(informer, now)), ...rest }
}

/** Informers with errors come first. */
export const inTrouble = (a: InformerStatus, b: InformerStatus): number =>
  Number(a.synced) - Number(b.synced) ||
  b.attempts - a.attempts ||
  (a.resource < b.resource ? -1 : a.resource > b.resource ? 1 : 0)

const row = (informer: InformerStatus, now: number) => ({
  kind: informer.resource,
  scope: scopeOf(informer),
  synced: informer.synced,
  objects: informer.objects,
  bytes: informer.bytesUnsafe(),
  lastVersion: informer.resourceVersion ?? null,
  lastEventSecondsAgo: seconds(informer.lastEventAt === undefined ? undefined : now - informer.lastEventAt),
  failuresInARow: informer.attempts,
  failures: informer.failures,
  relists: informer.relists,
  lastError: errorOf(informer),
  subscribers: informer.subscribers,
  defects: informer.defects,
  listenerErrors: informer.listenerErrors
})

/** `everywhere`, `namespace web, labels app=x`. */
export const scopeOf = ({ selection }: InformerStatus): string =>
  [
    selection.namespace === undefined ? "everywhere" : `namespace ${selection.namespace}`,
    ...(selection.labelSelector === undefined ? [] : [`labels ${selection.labelSelector}`]),
    ...(selection.fieldSelector === undefined ? [] : [`fields ${selection.fieldSelector}`])
  ].join(", ")

/** Kept after recovery: `failuresInARow` shows whether it still fails. */
const errorOf = ({ lastError }: InformerStatus) =>
  lastError === undefined
    ? null
    : {
        message: oneLine(lastError.message),
        reason: lastError.reason,
        status: lastError.status ?? null,
        at: instant(lastError.at),
        retryInSeconds: seconds(lastError.retryIn)
      }
