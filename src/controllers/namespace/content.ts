/**
 * One pass over the content of a namespace that is being deleted: deletes all objects, page by page, and counts those that remain. Pods are deleted
 * first: while a pod remains, nothing else is deleted, because running pods need accounts, Secrets and policies.
 * Source: pkg/controller/namespace/deletion: deleteAllContent.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as ApiError from "../../kube/ApiError.ts"
import * as Resource from "../../kube/Resource.ts"
import { Pod } from "../../kube/resources.ts"
import type { Discovery, Listing } from "../../layers/Discovery.ts"
import type { KubeClient } from "../../layers/KubeClient.ts"
import type { Report } from "./status.ts"
import * as Remains from "./remains.ts"

/** A resource that discovery lists. */
export type Listed = Listing["resources"][number]

export interface PassResult {
  readonly report: Report
  /** Seconds after which a retry makes sense; 0 if no object is known to remain. */
  readonly estimate: number
}

export interface Given {
  readonly client: KubeClient["Service"]
  readonly discovery: Discovery["Service"]
  readonly namespace: string
  /** Milliseconds since 1970. */
  readonly deletedAt: number
  /** Called with intermediate reports while a large collection is being deleted. */
  readonly onReport: (report: Report) => Effect.Effect<void>
}

/** State of one pass. */
interface Pass extends Given {
  /** The failure of discovery. */
  readonly failure: string | undefined
  /** The kinds processed so far, by id. */
  readonly known: Map<string, Remains.Remains>
  /** When the next intermediate report is due, in milliseconds since 1970. */
  nextReport: number
}

/** Kinds processed concurrently; each takes two or three requests. */
const atOnce = 5

/** Milliseconds between two reports. */
const reportInterval = 10_000

export const pass = Effect.fnUntraced(function* (given: Given): Effect.fn.Return<PassResult> {
  const found = yield* Effect.result(given.discovery.resources)
  const resources = Result.isSuccess(found) ? found.success.resources.filter(isContent) : []
  const discovery = Result.isSuccess(found) ? failureOf(found.success) : found.failure.detail
  const running: Pass = { ...given, failure: discovery, known: new Map(), nextReport: -Infinity }
  const pods = yield* Effect.forEach(resources.filter(isPods), (resource) => remove(running, resource))
  // If pods could not be counted, some may remain, so nothing else is deleted.
  if (pods.some(({ count, failure }) => count > 0 || failure !== undefined)) return resultOf(running)
  yield* Effect.forEach(
    resources.filter((resource) => !isPods(resource)),
    (resource) => remove(running, resource),
    { concurrency: atOnce }
  )
  return resultOf(running)
})

const isContent = ({ scope, verbs }: Listed): boolean => scope === "Namespaced" && verbs.includes("delete")

const isPods = ({ group, plural }: Listed): boolean => group === Pod.group && plural === Pod.plural

const failureOf = ({ failed }: Listing): string | undefined => {
  if (failed.length === 0) return undefined
  const groups = failed
    .map(({ error, group, version }) => `${group === "" ? version : `${group}/${version}`}: ${error.detail}`)
    .sort()
  return `Discovery failed for some groups, ${failed.length} failing: unable to retrieve the complete list of server APIs: ${groups.join(", ")}`
}

const resultOf = ({ failure, known }: Pass): PassResult => {
  const remains = [...known.values()]
  return {
    report: {
      discovery: failure,
      failures: remains.flatMap((one) => (one.failure === undefined ? [] : [one.failure])),
      remains
    },
    estimate: Math.max(0, ...remains.map(({ estimate }) => estimate))
  }
}

/** Deletes all objects of a kind and returns those that remain. Never fails: a failure is part of the result. */
const remove = (pass: Pass, resource: Listed): Effect.Effect<Remains.Remains> =>
  Effect.gen(function* () {
    const grace = isPods(resource) ? yield* graceOf(pass) : 0
    const isDone = resource.verbs.includes("deletecollection") && (yield* removeCollection(pass, resource))
    if (!isDone) yield* removeEach(pass, resource)
    const left = yield* list(pass, resource)
    return left === undefined
      ? Remains.nothing(resource, grace)
      : Remains.summarise(resource, pass.namespace, left, grace)
  }).pipe(
    Effect.catch((error) => Effect.succeed(Remains.failed(resource, error.detail))),
    Effect.tap((remains) => Effect.sync(() => pass.known.set(resource.id, remains)))
  )

/** Counts and reports what remains of a large collection; a failed count is not reported. */
const report = (pass: Pass, resource: Listed): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { client, known, namespace, onReport } = pass
    const now = yield* Clock.currentTimeMillis
    if (now < pass.nextReport) return
    pass.nextReport = now + reportInterval
    // Complete objects: older servers (1.20) set no `remainingItemCount` on lists of metadata.
    const { items, metadata } = yield* client.listPage(resource, { namespace, limit: 1 })
    const count = items.length + (metadata.remainingItemCount ?? 0)
    known.set(resource.id, { ...Remains.nothing(resource), count })
    yield* onReport(resultOf(pass).report)
  }).pipe(Effect.ignore)

const graceOf = Effect.fnUntraced(function* ({ client, deletedAt, namespace }: Given) {
  const { items } = yield* client.list(Pod, { namespace })
  return Remains.graceOf(items, deletedAt, yield* Clock.currentTimeMillis)
})

/** Background: the default policy of some kinds orphans their dependents. */
const options = { propagationPolicy: "Background" } as const

/** Returns false if the server does not support this for the kind, although discovery lists the verb. */
const removeCollection = (pass: Pass, resource: Listed): Effect.Effect<boolean, ApiError.ApiError> =>
  pass.client
    .deleteCollection(
      Resource.metadataOnly(resource),
      { namespace: pass.namespace },
      { ...options, onPage: () => report(pass, resource) }
    )
    .pipe(Effect.as(true), ifSupported(false))

const removeEach = Effect.fnUntraced(function* (given: Given, resource: Listed) {
  const { client, namespace } = given
  yield* Effect.forEach(
    (yield* list(given, resource)) ?? [],
    ({ metadata: { name } }) =>
      client.delete(resource, { namespace, name }, options).pipe(Effect.asVoid, ifSupported(undefined)),
    { discard: true }
  )
})

/** The objects of a kind; undefined if the server cannot list it. */
const list = ({ client, namespace }: Given, resource: Listed) =>
  resource.verbs.includes("list")
    ? client.list(Resource.metadataOnly(resource), { namespace }).pipe(
        Effect.map(({ items }) => items),
        ifSupported(undefined)
      )
    : Effect.undefined

/** Some servers return 404 instead of 405. */
const ifSupported =
  <B>(otherwise: B) =>
  <A>(call: Effect.Effect<A, ApiError.ApiError>): Effect.Effect<A | B, ApiError.ApiError> =>
    Effect.catchIf(
      call,
      (error) => ApiError.hasReason(error, "MethodNotAllowed", "NotFound"),
      () => Effect.succeed(otherwise)
    )
