/**
 * Has the API server write every object of a custom kind again, so that all are stored in the present storage version, and then removes the other
 * versions from `status.storedVersions`. A patch without content is enough: the server stores an object again if its stored form differs, and writes
 * nothing otherwise. The versions are removed only if no object was refused and the definition has not changed since before the first object was read.
 * See docs/design/migration.md.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as ApiError from "../../../kube/ApiError.ts"
import type { KubeList, PartialObjectMetadata } from "../../../kube/Meta.ts"
import * as Patch from "../../../kube/Patch.ts"
import * as Resource from "../../../kube/Resource.ts"
import { KubeClient } from "../../../layers/KubeClient.ts"
import { CustomResourceDefinition, find, type Stored } from "../Definitions.ts"
import type { Checkpoint, Checkpoints } from "./checkpoint.ts"

/** An object that the API server did not write. */
export interface Refused {
  /** `shop/blue`; without a namespace for kinds that have none. */
  readonly object: string
  /** The server's message. */
  readonly reason: string
}

/**
 * What became of a definition. `migrated`: all objects are stored in the storage version, and the other versions are removed. `current`: there was
 * nothing to do. `absent`: the cluster has no such definition. `refused`: some objects could not be written. `changed`: the definition changed
 * meanwhile. In the last two cases no version is removed.
 */
export type Outcome = "migrated" | "current" | "absent" | "refused" | "changed"

/** The result for one definition. */
export interface Migrated {
  /** `widgets.example.com`. */
  readonly name: string
  readonly outcome: Outcome
  /** The storage version; undefined if there is no definition. */
  readonly storageVersion: string | undefined
  /** `status.storedVersions` at the start. */
  readonly storedVersions: ReadonlyArray<string>
  /** The versions that were removed from it. */
  readonly removed: ReadonlyArray<string>
  /** Whether the run went on where an earlier one had ended. */
  readonly isResumed: boolean
  /** Objects that this run has read. */
  readonly objects: number
  /**
   * Those of them that the server has stored again since the state that the list shows, which in a resumed run is that of the first run. The others were
   * stored in the storage version before.
   */
  readonly rewritten: number
  /** Those that were deleted meanwhile. */
  readonly deleted: number
  /** How many the server refused. */
  readonly refusals: number
  /** The first of them: at most `mostRefused`. */
  readonly refused: ReadonlyArray<Refused>
}

/** The most refused objects of a definition that a result lists. */
export const mostRefused = 1000

/** Settings of a migration. */
export interface Options {
  /** Objects in one page. */
  readonly pageSize: number
  /** Undefined for a dry run: nothing is remembered. */
  readonly checkpoints: Checkpoints | undefined
  /** Called after each object with the number of those that are done, and of all. */
  readonly onProgress: (done: number, total: number) => void
}

/** The migration ended before its end. What it has done is kept, and the next run continues. */
export class Unfinished extends Data.TaggedError("Unfinished")<{ readonly message: string }> {}

/**
 * An API server learns of a changed definition by a watch, and until then it stores objects in the previous version. Kubernetes itself waits as long
 * for the other API servers before a new kind counts as established. Source: apiextensions-apiserver/pkg/apiserver: crdHandler.ServeHTTP and
 * establishingController.
 */
const propagation = "5 seconds"

/** Writes at the same time. */
const concurrency = 8

/** What a migration needs to know of a definition. */
interface Definition extends Omit<Checkpoint, "continue"> {
  readonly name: string
  readonly resourceVersion: string
  readonly storedVersions: ReadonlyArray<string>
  /** The kind in a served version: the storage version if that is served, because another one may lose fields. */
  readonly kind: Resource.Resource<PartialObjectMetadata> | undefined
}

const definitionOf = ({ metadata, spec, status }: Stored): Definition => {
  const storage = spec.versions.find((version) => version.storage)
  const served = storage?.served === true ? storage : spec.versions.find((version) => version.served)
  const { kind, plural } = spec.names
  const { group, scope } = spec
  return {
    name: metadata.name,
    uid: metadata.uid ?? "",
    generation: metadata.generation ?? 0,
    resourceVersion: metadata.resourceVersion ?? "",
    storageVersion: storage?.name ?? "",
    storedVersions: status?.storedVersions ?? [],
    kind:
      served === undefined
        ? undefined
        : Resource.metadataOnly(Resource.make()({ group, version: served.name, kind, plural, scope }))
  }
}

/** Whether objects are stored by the same rules: every change of `spec` counts the generation up. */
const isSame = (a: Omit<Checkpoint, "continue">, b: Omit<Checkpoint, "continue">): boolean =>
  a.uid === b.uid && a.generation === b.generation && a.storageVersion === b.storageVersion

/** Whether objects may be stored in another version than the storage version. */
export const isPending = ({ spec, status }: Stored): boolean =>
  (status?.storedVersions ?? []).some(
    (version) => !spec.versions.some(({ name, storage }) => storage && name === version)
  )

/** Migrates the objects of one definition. */
export const migrate = Effect.fnUntraced(function* (name: string, options: Options) {
  const live = yield* patiently(find(name))
  if (Option.isNone(live)) return result(name, undefined, "absent", nothing)
  const definition = definitionOf(live.value)
  if (!isPending(live.value)) return result(name, definition, "current", nothing)
  const { kind } = definition
  if (kind === undefined) {
    const message = `no version of ${name} is served, so its objects cannot be read: serve ${definition.storageVersion} and run the command again`
    return yield* new Unfinished({ message })
  }
  const saved = yield* options.checkpoints?.read(name) ?? Effect.undefined
  const from = saved !== undefined && isSame(saved, definition) ? saved.continue : undefined
  if (from === undefined && options.checkpoints !== undefined) yield* Effect.sleep(propagation)
  const done = yield* walk(definition, kind, from, options)
  if (done.refusals > 0) return result(name, definition, "refused", done)
  const isTrimmed = yield* trim(definition)
  yield* options.checkpoints?.forget(name) ?? Effect.void
  return result(name, definition, isTrimmed ? "migrated" : "changed", done)
})

interface Done extends Pick<Migrated, "isResumed" | "objects" | "rewritten" | "deleted" | "refusals" | "refused"> {}

const nothing: Done = { isResumed: false, objects: 0, rewritten: 0, deleted: 0, refusals: 0, refused: [] }

const result = (name: string, definition: Definition | undefined, outcome: Outcome, done: Done): Migrated => {
  const storedVersions = definition?.storedVersions ?? []
  const storageVersion = definition?.storageVersion
  const removed = outcome === "migrated" ? storedVersions.filter((version) => version !== storageVersion) : []
  return { name, outcome, storageVersion, storedVersions, removed, ...done }
}

/** All pages, from the first or from a token. An object that is created meanwhile is stored in the storage version, so it need not be on a page. */
const walk = Effect.fnUntraced(function* (
  definition: Definition,
  kind: Resource.Resource<PartialObjectMetadata>,
  from: string | undefined,
  { checkpoints, onProgress, pageSize }: Options
) {
  const refused: Array<Refused> = []
  const count = { objects: 0, rewritten: 0, unchanged: 0, deleted: 0, refusals: 0 }
  const finished = () => count.rewritten + count.unchanged + count.deleted + count.refusals
  let token = from
  for (let isFirst = true; ; isFirst = false) {
    const page = yield* pageAt(kind, pageSize, token, isFirst)
    count.objects += page.items.length
    const total = count.objects + (page.metadata.remainingItemCount ?? 0)
    onProgress(finished(), total)
    yield* Effect.forEach(
      page.items,
      (object) =>
        Effect.map(rewrite(kind, object), (written) => {
          if (typeof written === "string") count[written]++
          else if (++count.refusals <= mostRefused) refused.push(written)
          onProgress(finished(), total)
        }),
      { concurrency, discard: true }
    )
    token = page.metadata.continue
    if (token === undefined || token === "") break
    // The position stays before a page with a refused object, so that the next run tries it again.
    if (count.refusals === 0) {
      const { generation, storageVersion, uid } = definition
      yield* checkpoints?.save(definition.name, { uid, generation, storageVersion, continue: token }) ?? Effect.void
    }
  }
  const { unchanged: _unchanged, ...counts } = count
  return { isResumed: from !== undefined, ...counts, refused } satisfies Done
})

/**
 * The server answers an expired token with another one, which continues after the same object in the present state. What is before that object has been
 * written already. A server that gives none, or does not accept the token of an earlier run, has the list begin again.
 */
const pageAt = (
  kind: Resource.Resource<PartialObjectMetadata>,
  limit: number,
  token: string | undefined,
  isFirst: boolean
): Effect.Effect<KubeList<PartialObjectMetadata>, ApiError.ApiError | Unfinished, KubeClient> =>
  Effect.flatMap(KubeClient, (client) => {
    const page = (token: string | undefined) => patiently(client.listPage(kind, { limit, continue: token }))
    return Effect.catchIf(
      page(token),
      (error): error is ApiError.ApiError =>
        ApiError.isApiError(error) &&
        token !== undefined &&
        (ApiError.hasReason(error, "Gone") || (isFirst && ApiError.hasReason(error, "BadRequest"))),
      (error) => page(error.continue)
    )
  })

/** `rewritten`: the server has stored it since the state that the list shows. `unchanged`: its stored form was the present one. */
const rewrite = Effect.fnUntraced(function* (
  kind: Resource.Resource<PartialObjectMetadata>,
  { metadata: { name, namespace, resourceVersion } }: PartialObjectMetadata
) {
  const client = yield* KubeClient
  const written = client.patch(kind, { name, namespace }, Patch.merge({})).pipe(
    Effect.retry({ while: isPassing, times: 4, schedule: briefly }),
    patiently,
    Effect.map(({ metadata }) =>
      metadata.resourceVersion === resourceVersion ? ("unchanged" as const) : ("rewritten" as const)
    )
  )
  return yield* Effect.catchIf(
    written,
    (error): error is ApiError.ApiError => ApiError.isApiError(error) && isOfObject(error),
    (error): Effect.Effect<"deleted" | Refused> =>
      Effect.succeed(
        ApiError.hasReason(error, "NotFound")
          ? "deleted"
          : { object: namespace === undefined ? name : `${namespace}/${name}`, reason: error.detail }
      )
  )
})

const briefly = Schedule.jittered(Schedule.exponential("100 millis"))

/** A conflict with other writers, or an error inside the server, such as that of a webhook that does not respond. */
const isPassing = (error: ApiError.ApiError): boolean =>
  ApiError.hasReason(error, "Conflict") || (ApiError.hasReason(error, "ServerError") && error.status !== 503)

/** Whether the server has decided about this object. Otherwise the next object would fail for the same reason. */
const isOfObject = (error: ApiError.ApiError): boolean =>
  error.status !== undefined &&
  !isUnavailable(error) &&
  !ApiError.hasReason(error, "Unauthorized", "MethodNotAllowed") &&
  !ApiError.isMissingResource(error)

/** Whether the server cannot be reached, or takes no requests now. */
const isUnavailable = (error: ApiError.ApiError): boolean =>
  (ApiError.hasReason(error, "Network") && !ApiError.isUntrusted(error)) ||
  ApiError.hasReason(error, "Timeout", "TooManyRequests") ||
  error.status === 503

/** Waits for a server that is unavailable: restarts of an API server are normal during a long migration. */
export const patiently = <A, R>(call: Effect.Effect<A, ApiError.ApiError, R>) =>
  call.pipe(
    Effect.retry(($) =>
      $(
        Schedule.min([Schedule.exponential("500 millis"), Schedule.spaced("10 seconds")]).pipe(
          Schedule.jittered,
          Schedule.setInputType<ApiError.ApiError>(),
          Schedule.while(({ input }) => isUnavailable(input)),
          Schedule.upTo({ duration: "2 minutes" })
        )
      )
    ),
    Effect.catchIf(isUnavailable, (error) =>
      Effect.fail(
        new Unfinished({
          message: `the API server does not respond: ${error.message}; what is done is kept, run the command again to continue`
        })
      )
    )
  )

/**
 * False if the definition has changed since: then some objects may be stored in another version. The write has the version of the definition that was
 * compared as its precondition.
 */
const trim = Effect.fnUntraced(function* (before: Definition) {
  const client = yield* KubeClient
  const attempt = Effect.gen(function* () {
    const live = yield* find(before.name)
    if (Option.isNone(live)) return false
    const { resourceVersion, storageVersion, ...now } = definitionOf(live.value)
    if (!isSame(before, { ...now, storageVersion })) return false
    const change = Patch.merge({ metadata: { resourceVersion }, status: { storedVersions: [storageVersion] } })
    yield* client.patch(CustomResourceDefinition, { name: before.name, subresource: "status" }, change)
    return true
  })
  return yield* patiently(
    Effect.retry(attempt, { while: (error) => ApiError.hasReason(error, "Conflict"), times: 10, schedule: briefly })
  )
})
