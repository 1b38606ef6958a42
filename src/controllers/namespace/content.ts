/**
 * One pass over the content of a namespace that is being deleted: everything is told to go, and counted afterwards. Pods first:
 * while one is left nothing else is touched, because what pods live on (accounts, secrets, policies) must not go before they
 * have stopped. Source: spec G.2.
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

export interface Pass {
  readonly report: Report
  /** Seconds after which it makes sense to look again; 0: all is gone, as far as anybody knows. */
  readonly estimate: number
}

export interface Given {
  readonly client: KubeClient["Service"]
  readonly discovery: Discovery["Service"]
  readonly namespace: string
  /** Milliseconds since 1970. */
  readonly deletedAt: number
}

/** Kinds at once; each costs two requests or three. */
const atOnce = 5

export const pass = Effect.fnUntraced(function* (given: Given) {
  const found = yield* Effect.result(given.discovery.resources)
  const resources = Result.isSuccess(found) ? found.success.resources.filter(isContent) : []
  const discovery = Result.isSuccess(found) ? failureOf(found.success) : found.failure.detail
  const pods = yield* Effect.forEach(resources.filter(isPods), (resource) => remove(given, resource))
  // In doubt there are some: whoever cannot tell what became of the pods leaves the rest alone.
  if (pods.some(({ count, failure }) => count > 0 || failure !== undefined)) return sum(discovery, pods, "quiet")
  const rest = yield* Effect.forEach(
    resources.filter((resource) => !isPods(resource)),
    (resource) => remove(given, resource),
    { concurrency: atOnce }
  )
  return sum(discovery, [...pods, ...rest], "told")
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

const sum = (discovery: string | undefined, all: ReadonlyArray<Remains.Remains>, remains: "quiet" | "told"): Pass => ({
  report: {
    discovery,
    failures: all.flatMap(({ failure }) => (failure === undefined ? [] : [failure])),
    remains: remains === "told" ? all : []
  },
  estimate: Math.max(0, ...all.map(({ estimate }) => estimate))
})

/** Tells all objects of a kind to go, and answers with what is left. Never fails: what went wrong is part of the answer. */
const remove = (given: Given, resource: Listed): Effect.Effect<Remains.Remains> =>
  Effect.gen(function* () {
    const grace = isPods(resource) ? yield* graceOf(given) : 0
    const isDone = resource.verbs.includes("deletecollection") && (yield* removeCollection(given, resource))
    if (!isDone) yield* removeEach(given, resource)
    const left = yield* list(given, resource)
    return left === undefined ? Remains.nothing(resource, grace) : Remains.judge(resource, given.namespace, left, grace)
  }).pipe(Effect.catch((error) => Effect.succeed(Remains.failed(resource, error.detail))))

const graceOf = Effect.fnUntraced(function* ({ client, deletedAt, namespace }: Given) {
  const { items } = yield* client.list(Pod, { namespace })
  return Remains.graceOf(items, deletedAt, yield* Clock.currentTimeMillis)
})

/** In the background: the default of some kinds would leave their dependents behind. */
const options = { propagationPolicy: "Background" } as const

/** False: the server cannot do this for that kind, whatever discovery says. */
const removeCollection = ({ client, namespace }: Given, resource: Listed): Effect.Effect<boolean, ApiError.ApiError> =>
  Effect.as(client.deleteCollection(resource, { namespace }, options), true).pipe(ifSupported(false))

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
