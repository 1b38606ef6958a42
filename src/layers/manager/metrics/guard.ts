/**
 * Who may read the metrics: whoever the API server knows by their token and lets `get` the path. Both answers are kept for a
 * while, so that a scrape does not cost two calls, and never so many that strangers could fill the memory. A question that could
 * not be asked lets nobody in and is not kept. Source: framework.md 2.13; TokenReview and SubjectAccessReview.
 */
import * as Cache from "effect/Cache"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Redacted from "effect/Redacted"
import * as ApiError from "../../../kube/ApiError.ts"
import { KubeClient } from "../../KubeClient.ts"
import { type Answer, type Asked, type Handler, text } from "../http/exchange.ts"
import { oneLine } from "../oneLine.ts"

/** Who somebody is, as a TokenReview says and a SubjectAccessReview asks. */
interface User {
  readonly username: string
  readonly rest: { readonly uid?: unknown; readonly groups?: unknown; readonly extra?: unknown }
}

const limits = {
  entries: 1024,
  question: Duration.seconds(10),
  identified: Duration.minutes(1),
  allowed: Duration.minutes(5),
  denied: Duration.seconds(30)
}

const unauthorized: Answer = { ...text(401, "Unauthorized\n"), headers: { "www-authenticate": "Bearer" } }

export const make: Effect.Effect<(handle: Handler) => Handler, never, KubeClient> = Effect.gen(function* () {
  const client = yield* KubeClient
  const users = yield* Cache.makeWith((token: string) => identify(client, token), {
    capacity: limits.entries,
    timeToLive: (exit) => (Exit.isSuccess(exit) ? limits.identified : Duration.zero)
  })
  const permissions = yield* Cache.makeWith((question: string) => permit(client, question), {
    capacity: limits.entries,
    timeToLive: (exit) => (Exit.isFailure(exit) ? Duration.zero : exit.value ? limits.allowed : limits.denied)
  })
  return (handle) => (asked) =>
    Effect.gen(function* () {
      if (asked.bearer === undefined) return unauthorized
      const user = yield* Cache.get(users, Redacted.value(asked.bearer))
      if (user === undefined) return unauthorized
      if (!(yield* Cache.get(permissions, questionOf(user, asked)))) {
        return text(403, `Forbidden: ${oneLine(user.username)} may not ${asked.method.toLowerCase()} ${asked.path}\n`)
      }
      return yield* handle(asked)
    }).pipe(
      Effect.catch((error: ApiError.ApiError) =>
        Effect.as(
          Effect.logWarning(`cannot tell who may read metrics: ${error.message}`),
          text(500, "Internal Server Error\n")
        )
      )
    )
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

/** Undefined: nobody we know. */
const identify = (client: KubeClient["Service"], token: string): Effect.Effect<User | undefined, ApiError.ApiError> =>
  Effect.map(review(client, "authentication.k8s.io", "tokenreviews", "TokenReview", { token }), (status) => {
    const user = status["user"]
    const username = fieldOf(user, "username")
    if (status["authenticated"] !== true || typeof username !== "string") return undefined
    const { extra, groups, uid } = isRecord(user) ? user : {}
    return { username, rest: { uid, groups, extra } }
  })

/** The spec of the review: whoever asks the same is given the same answer. */
const questionOf = ({ rest, username }: User, { method, path }: Asked): string =>
  JSON.stringify({ user: username, ...rest, nonResourceAttributes: { path, verb: method.toLowerCase() } })

const permit = (client: KubeClient["Service"], question: string): Effect.Effect<boolean, ApiError.ApiError> => {
  const spec: unknown = JSON.parse(question)
  return Effect.map(
    review(client, "authorization.k8s.io", "subjectaccessreviews", "SubjectAccessReview", isRecord(spec) ? spec : {}),
    (status) => status["allowed"] === true
  )
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null

const fieldOf = (value: unknown, field: string): unknown => (isRecord(value) ? value[field] : undefined)
