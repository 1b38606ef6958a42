/**
 * The time limit for the first sync of a controller's kinds. If it is exceeded, the manager ends with `strict` isolation; with `independent`
 * isolation it logs an error once, because the other controllers can work. Source: controller-runtime: Controller.CacheSyncTimeout.
 */
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Resource from "../../kube/Resource.ts"
import { Cache, type InformerStatus } from "../../layers/Cache.ts"
import type { Descriptor } from "../../layers/Controller.ts"
import { synced } from "../../layers/controller/loop.ts"

export interface SyncLimit {
  readonly isolation: "independent" | "strict"
  /** For each controller, counted from the start of its informers. */
  readonly timeout: Duration.Duration
}

/** Kinds did not sync in time; the message names them and the server's last error. */
export class NotSynced extends Data.TaggedError("NotSynced")<{ readonly message: string }> {}

/** Ends when every kind has synced. Their informers must have been started. */
export const watch = Effect.fnUntraced(function* (
  { name, reads }: Pick<Descriptor<unknown>, "name" | "reads">,
  { isolation, timeout }: SyncLimit
) {
  const cache = yield* Cache
  const inTime = yield* Effect.timeoutOption(synced(cache, reads), timeout)
  if (Option.isSome(inTime)) return
  const within = Duration.format(timeout)
  const message = unsynced(yield* cache.status, reads, ` within ${within}`).join("; ")
  if (isolation === "strict") return yield* new NotSynced({ message })
  yield* Effect.annotateLogs(Effect.logError(`Controller waits: ${message}`), { controller: name })
  yield* synced(cache, reads)
  yield* Effect.annotateLogs(Effect.logInfo("Controller waits no longer: its kinds have synced"), { controller: name })
})

/** `pods did not sync within 2m: list pods: …` for each kind that has not synced. */
export const unsynced = (
  informers: ReadonlyArray<InformerStatus>,
  reads: ReadonlyArray<Resource.Any>,
  within = ""
): ReadonlyArray<string> => {
  const ids = new Set(reads.map((resource) => resource.id))
  return informers
    .filter((one) => one.subscribers > 0 && !one.synced && ids.has(one.id))
    .map((informer) => describe(informer, within))
}

const describe = ({ lastError, resource, selection }: InformerStatus, within: string): string => {
  const what = selection.namespace === undefined ? resource : `${resource} in namespace ${selection.namespace}`
  const why = lastError === undefined ? "the server has not answered" : lastError.message
  const isRefused = lastError?.status === 403 || lastError?.status === 401
  const advice = `; grant list and watch on ${what}, or leave the controller out with --controllers`
  return `${what} did not sync${within}: ${why}${isRefused ? advice : ""}`
}
