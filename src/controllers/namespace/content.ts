/**
 * One pass over the content of a namespace that is being deleted: everything is deleted, page by page, and what is left is counted afterwards. Pods
 * first: while one is left nothing else is deleted, because what pods need (accounts, secrets, policies) must not go before they have stopped.
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
import type { Report } from "./conditions.ts"
import * as Remains from "./remains.ts"

/** A resource as discovery lists it. */
export type Listed = Listing["resources"][number]

export interface Found {
  readonly report: Report
  /** Seconds after which a retry makes sense; 0: all is gone, as far as is known. */
  readonly estimate: number
}

export interface Given {
  readonly client: KubeClient["Service"]
  readonly discovery: Discovery["Service"]
  readonly namespace: string
  /** Milliseconds since 1970. */
  readonly deletedAt: number
  /** What is known while a large collection is being deleted. */
  readonly tell: (report: Report) => Effect.Effect<void>
}

/** What the parts of one pass share. */
interface Pass extends Given {
  /** Of discovery. */
  readonly failure: string | undefined
  /** Of the kinds that have been looked at until now, by their identities. */
  readonly known: Map<string, Remains.Remains>
  /** No report before then, in milliseconds since 1970. */
  nextReport: number
}

/** Kinds at once; each costs two requests or three. */
const atOnce = 5

/** Milliseconds between two reports. */
const interval = 10_000

export const pass = Effect.fnUntraced(function* (given: Given): Effect.fn.Return<Found> {
  const found = yield* Effect.result(given.discovery.resources)
  const resources = Result.isSuccess(found) ? found.success.resources.filter(isContent) : []
  const discovery = Result.isSuccess(found) ? failureOf(found.success) : found.failure.detail
  const running: Pass = { ...given, failure: discovery, known: new Map(), nextReport: -Infinity }
  const pods = yield* Effect.forEach(resources.filter(isPods), (resource) => remove(running, resource))
  // In doubt there are some: whoever cannot tell what became of the pods leaves the rest alone.
  if (pods.some(({ count, failure }) => count > 0 || failure !== undefined)) return sum(running)
  yield* Effect.forEach(
    resources.filter((resource) => !isPods(resource)),
    (resource) => remove(running, resource),
    { concurrency: atOnce }
  )
  return sum(running)
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

const sum = ({ failure, known }: Pass): Found => {
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

/** Deletes all objects of a kind, and answers with what is left. Never fails: what went wrong is part of the answer. */
const remove = (pass: Pass, resource: Listed): Effect.Effect<Remains.Remains> =>
  Effect.gen(function* () {
    const grace = isPods(resource) ? yield* graceOf(pass) : 0
    const isDone = resource.verbs.includes("deletecollection") && (yield* removeCollection(pass, resource))
    if (!isDone) yield* removeEach(pass, resource)
    const left = yield* list(pass, resource)
    return left === undefined ? Remains.nothing(resource, grace) : Remains.judge(resource, pass.namespace, left, grace)
  }).pipe(
    Effect.catch((error) => Effect.succeed(Remains.failed(resource, error.detail))),
    Effect.tap((remains) => Effect.sync(() => pass.known.set(resource.id, remains)))
  )

/** Counts what is left of a large collection and reports it; a failed count is not reported. */
const report = (pass: Pass, resource: Listed): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { client, known, namespace, tell } = pass
    const now = yield* Clock.currentTimeMillis
    if (now < pass.nextReport) return
    pass.nextReport = now + interval
    // The whole object: of a list of metadata, older servers (1.20) do not say how much is left.
    const { items, metadata } = yield* client.listPage(resource, { namespace, limit: 1 })
    const count = items.length + (metadata.remainingItemCount ?? 0)
    known.set(resource.id, { ...Remains.nothing(resource), count })
    yield* tell(sum(pass).report)
  }).pipe(Effect.ignore)

const graceOf = Effect.fnUntraced(function* ({ client, deletedAt, namespace }: Given) {
  const { items } = yield* client.list(Pod, { namespace })
  return Remains.graceOf(items, deletedAt, yield* Clock.currentTimeMillis)
})

/** In the background: the default of some kinds would leave their dependents behind. */
const options = { propagationPolicy: "Background" } as const

/** False: the server cannot do this for that kind, whatever discovery says. */
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

/** What there is; undefined if the server does not list that kind. */
const list = ({ client, namespace }: Given, resource: Listed) =>
  resource.verbs.includes("list")
    ? client.list(Resource.metadataOnly(resource), { namespace }).pipe(
        Effect.map(({ items }) => items),
        ifSupported(undefined)
      )
    : Effect.undefined

/** Some servers answer 404 where they mean 405. */
const ifSupported =
  <B>(otherwise: B) =>
  <A>(call: Effect.Effect<A, ApiError.ApiError>): Effect.Effect<A | B, ApiError.ApiError> =>
    Effect.catchIf(
      call,
      (error) => ApiError.hasReason(error, "MethodNotAllowed", "NotFound"),
      () => Effect.succeed(otherwise)
    )
