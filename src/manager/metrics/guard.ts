/**
 * Authorization of the metrics and of the console: the API server authenticates the token and allows `get` of the path. Both results are cached for a while, so that a
 * scrape does not need two requests. The caches are bounded, and unknown tokens have a cache of their own, so that they cannot evict known users.
 * Reviews for unknown tokens are rate limited. A failed review denies the request and is not cached. Source: TokenReview and SubjectAccessReview;
 * controller-runtime's pkg/metrics/filters.
 */
import * as Cache from "effect/Cache"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Redacted from "effect/Redacted"
import * as ApiError from "../../kube/ApiError.ts"
import { KubeClient } from "../../layers/KubeClient.ts"
import { type HttpResponse, type HttpRequest, type Handler, text } from "../../layers/http/handler.ts"
import { oneLine } from "../../kube/printable.ts"
import * as Questions from "./questions.ts"

/** A user, as a TokenReview returns it and a SubjectAccessReview takes it. */
interface User {
  readonly username: string
  readonly rest: { readonly uid?: unknown; readonly groups?: unknown; readonly extra?: unknown }
}

/**
 * The rate for tokens is low, because any client can invent tokens. Paths are reviewed for known users only, and an operator opens many pages at
 * once.
 */
const rates = {
  identity: { perSecond: 5, burst: 20, concurrency: 8 },
  permission: { perSecond: 20, burst: 100, concurrency: 32 }
}

const limits = {
  entries: 1024,
  unknownTokens: 256,
  question: Duration.seconds(10),
  identified: Duration.minutes(1),
  unknown: Duration.minutes(1),
  allowed: Duration.minutes(5),
  denied: Duration.seconds(30)
}

/** The token is not valid. */
class UnknownToken extends Data.TaggedError("UnknownToken")<{}> {}

const unauthorized: HttpResponse = { ...text(401, "Unauthorized\n"), headers: { "www-authenticate": "Bearer" } }
const tooMany: HttpResponse = { ...text(429, "Too Many Requests\n"), headers: { "retry-after": "1" } }

export const make: Effect.Effect<(handle: Handler) => Handler, never, KubeClient> = Effect.gen(function* () {
  const identify = yield* identities(yield* KubeClient)
  const permit = yield* permissions(yield* KubeClient)
  return (handle) => (request) =>
    Effect.gen(function* () {
      if (request.bearer === undefined) return unauthorized
      const user = yield* identify(Redacted.value(request.bearer))
      if (!(yield* permit(questionOf(user, request)))) {
        return text(
          403,
          `Forbidden: ${oneLine(user.username)} may not ${request.method.toLowerCase()} ${request.path}\n`
        )
      }
      return yield* handle(request)
    }).pipe(
      Effect.catchTags({
        UnknownToken: () => Effect.succeed(unauthorized),
        TooMany: () => Effect.succeed(tooMany),
        ApiError: ({ message }) =>
          Effect.as(
            Effect.logWarning(`cannot authorize readers of metrics or the console: ${message}`),
            text(500, "Internal Server Error\n")
          )
      })
    )
})

/** By token. Unknown tokens have a cache of their own. */
const identities = Effect.fnUntraced(function* (client: KubeClient["Service"]) {
  const ask = yield* Questions.limited(rates.identity)
  const unknownTokens = yield* Cache.make<string, never, UnknownToken>({
    lookup: () => Effect.fail(new UnknownToken()),
    capacity: limits.unknownTokens,
    timeToLive: limits.unknown
  })
  const users = yield* Cache.makeWith(
    (token: string) =>
      Effect.flatMap(
        ask(token, identity(client, token), (user) => user !== undefined),
        // Invalid tokens are cached in `strangers`.
        (user) => (user === undefined ? Cache.get(unknownTokens, token) : Effect.succeed(user))
      ),
    {
      capacity: limits.entries,
      timeToLive: (exit) => (Exit.isSuccess(exit) ? limits.identified : Duration.zero)
    }
  )
  return (token: string) =>
    Effect.flatMap(Cache.has(unknownTokens, token), (isUnknown) =>
      isUnknown ? Cache.get(unknownTokens, token) : Cache.get(users, token)
    )
})

/** By the spec of the review. */
const permissions = Effect.fnUntraced(function* (client: KubeClient["Service"]) {
  const ask = yield* Questions.limited(rates.permission)
  const answers = yield* Cache.makeWith(
    (question: string) => ask(question, permission(client, question), (isAllowed) => isAllowed),
    {
      capacity: limits.entries,
      timeToLive: (exit) => (Exit.isFailure(exit) ? Duration.zero : exit.value ? limits.allowed : limits.denied)
    }
  )
  return (question: string) => Cache.get(answers, question)
})

const review = (client: KubeClient["Service"], group: string, plural: string, kind: string, spec: object) => {
  const path = `/apis/${group}/v1/${plural}`
  const context = { verb: "create", path, resource: `${plural}.${group}` }
  return client.raw({ method: "POST", path, body: { apiVersion: `${group}/v1`, kind, spec }, context }).pipe(
    Effect.timeoutOrElse({
      duration: limits.question,
      orElse: () => Effect.fail(ApiError.timeout(context, limits.question))
    }),
    Effect.flatMap(({ body }) => {
      const status = fieldOf(body, "status")
      return isRecord(status) ? Effect.succeed(status) : Effect.fail(ApiError.decode(context, `not a ${kind}`))
    })
  )
}

/** Undefined: the token is not valid. */
const identity = (client: KubeClient["Service"], token: string): Effect.Effect<User | undefined, ApiError.ApiError> =>
  Effect.map(review(client, "authentication.k8s.io", "tokenreviews", "TokenReview", { token }), (status) => {
    const user = status["user"]
    const username = fieldOf(user, "username")
    if (status["authenticated"] !== true || typeof username !== "string") return undefined
    const { extra, groups, uid } = isRecord(user) ? user : {}
    return { username, rest: { uid, groups, extra } }
  })

/** The spec of the review is the key of the cache. */
const questionOf = ({ rest, username }: User, { method, path }: HttpRequest): string =>
  JSON.stringify({ user: username, ...rest, nonResourceAttributes: { path, verb: method.toLowerCase() } })

const permission = (client: KubeClient["Service"], question: string): Effect.Effect<boolean, ApiError.ApiError> => {
  const spec: unknown = JSON.parse(question)
  return Effect.map(
    review(client, "authorization.k8s.io", "subjectaccessreviews", "SubjectAccessReview", isRecord(spec) ? spec : {}),
    (status) => status["allowed"] === true
  )
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null

const fieldOf = (value: unknown, field: string): unknown => (isRecord(value) ? value[field] : undefined)
