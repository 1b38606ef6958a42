/**
 * The one error type for calls to an API server. Every failure - a `Status`, a broken socket, a body that is not JSON - is classified
 * here, once; callers choose by reason (`Effect.catchReason("ApiError", "NotFound", …)`). It never carries credentials: headers and bodies
 * of requests are not part of it.
 */
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Status from "./Status.ts"

/** Why a call failed. The comments of the tags give the HTTP status of each. */
export type Reason =
  /** 404: the object, or the resource itself (`isMissingResource`). */
  | { readonly _tag: "NotFound" }
  /** 409 with reason AlreadyExists. */
  | { readonly _tag: "AlreadyExists" }
  /** 409: another writer was faster, or a precondition does not hold. */
  | { readonly _tag: "Conflict" }
  /** 422, with the fields at fault. */
  | { readonly _tag: "Invalid"; readonly causes: ReadonlyArray<Status.StatusCause> }
  /** 400. */
  | { readonly _tag: "BadRequest" }
  /** 401. */
  | { readonly _tag: "Unauthorized" }
  /** 403. */
  | { readonly _tag: "Forbidden" }
  /** 405. */
  | { readonly _tag: "MethodNotAllowed" }
  /** 406, 415. */
  | { readonly _tag: "UnsupportedMediaType" }
  /** 410, reasons Gone and Expired: the resource version or continue token is too old. */
  | { readonly _tag: "Gone" }
  /** 413. */
  | { readonly _tag: "RequestTooLarge" }
  /** 429: wait this long, if the server said so. */
  | { readonly _tag: "TooManyRequests"; readonly retryAfter: Duration.Duration | undefined }
  /** 504 and 408 from the server; or our own deadline, when `status` is undefined. */
  | { readonly _tag: "Timeout"; readonly retryAfter: Duration.Duration | undefined }
  /** 500, 502, 503 and every other status of 500 and above. */
  | { readonly _tag: "ServerError"; readonly retryAfter: Duration.Duration | undefined }
  /** The connection could not be made, was refused, reset or cut; TLS failures too. */
  | { readonly _tag: "Network"; readonly cause: unknown }
  /** The answer is not what the protocol promises (malformed JSON, a truncated line, an unexpected status). */
  | { readonly _tag: "Decode"; readonly cause: unknown }
  /** Credentials could not be obtained (exec plugin failed, token file unreadable). No request was sent. */
  | { readonly _tag: "Credentials"; readonly cause: unknown }
  /** A write that needs leadership, from a process that can no longer prove that it leads: not sent, or aborted while in flight. */
  | { readonly _tag: "LeaderFenced" }

/** The names of the reasons: `NotFound`, `Conflict` and the others of {@link Reason}. */
export type ReasonTag = Reason["_tag"]

/** Which call failed: enough to identify the permission or the object. It is not part of the message. */
export interface Context {
  /** get, list, watch, create, update, patch, delete, deletecollection; or `raw` for non-resource paths. */
  readonly verb: string
  /** Path without query, for instance `/api/v1/namespaces/default/pods/a`. */
  readonly path: string
  /** `pods`, `deployments.apps`; undefined for non-resource paths. */
  readonly resource?: string | undefined
  /** Undefined for cluster-scoped kinds and for calls across all namespaces. */
  readonly namespace?: string | undefined
  /** Undefined for collections. */
  readonly name?: string | undefined
}

/**
 * A call to an API server failed. Decide by `reason`: `ApiError.hasReason(error, "NotFound")`, or `Effect.catchReason`.
 * The message is the server's message alone, as in Go's `StatusError`, so that events and conditions that contain it can be compared and
 * aggregated. `context` says which call it was, and `facts` has both as annotations of a log line.
 *
 * @example
 * ```ts
 * const found = Effect.gen(function* () {
 *   const client = yield* KubeClient
 *   return yield* client.get(ConfigMap, { namespace: "default", name: "none" })
 * }).pipe(Effect.catchReason("ApiError", "NotFound", () => Effect.undefined))
 * assert.equal(await Effect.runPromise(Effect.provide(found, ClusterTest.layer())), undefined)
 * ```
 */
export class ApiError extends Data.TaggedError("ApiError")<{
  /** Why it failed, classified once. */
  readonly reason: Reason
  /** Which call it was. */
  readonly context: Context
  /** One sentence: the server's message, or what happened. */
  readonly detail: string
  /** HTTP status, when there was an answer. */
  readonly status?: number | undefined
  /** The `details` of the server's `Status`: causes by field, and when to retry. */
  readonly details?: Status.StatusDetails | undefined
  /** With `Gone`, for a continue token: a token that continues with the rest of the list at its present version. */
  readonly continue?: string | undefined
}> {
  /** `detail`, for code that handles any `Error`. */
  override get message(): string {
    return this.detail
  }
}

/** Whether a value is an `ApiError`, for causes of unknown type. */
export const isApiError = (u: unknown): u is ApiError => u instanceof ApiError

/** Annotations for a log line about any failure: its message and, for an `ApiError`, the call. */
export const facts = (error: unknown): { readonly error: string; readonly call?: Context } => ({
  error: error instanceof Error ? error.message : String(error),
  ...(isApiError(error) && { call: error.context })
})

/**
 * Whether the call failed for one of these reasons.
 *
 * @example
 * ```ts
 * const again = Effect.gen(function* () {
 *   const client = yield* KubeClient
 *   return yield* Effect.flip(client.create(Namespace, { metadata: { name: "default" } }))
 * })
 * const error = await Effect.runPromise(Effect.provide(again, ClusterTest.layer()))
 * assert.equal(ApiError.hasReason(error, "AlreadyExists", "Conflict"), true)
 * ```
 */
export const hasReason = (error: ApiError, ...tags: ReadonlyArray<ReasonTag>): boolean =>
  tags.includes(error.reason._tag)

/** The call, where an object that does not exist any more leaves nothing to do: then its result is `undefined`, not a failure. */
export const unlessGone = <A, E, R>(
  call: Effect.Effect<A, ApiError | E, R>
): Effect.Effect<A | undefined, ApiError | E, R> =>
  Effect.catchIf(
    call,
    (error) => isApiError(error) && hasReason(error, "NotFound"),
    () => Effect.undefined
  )

/** The result of a write; undefined if the object was deleted, or another writer has changed or replaced it. */
export const unlessReplaced = <A, E, R>(
  write: Effect.Effect<A, ApiError | E, R>
): Effect.Effect<A | undefined, ApiError | E, R> =>
  Effect.catchIf(
    write,
    (error) => isApiError(error) && hasReason(error, "NotFound", "Conflict"),
    () => Effect.undefined
  )

/** True for failures that an identical, idempotent call may not meet again when it is retried. */
export const isTransient = (error: ApiError): boolean =>
  hasReason(error, "TooManyRequests", "Timeout", "ServerError", "Network")

/** How long the server asked us to wait, if it did. */
export const retryAfter = (error: ApiError): Duration.Duration | undefined =>
  "retryAfter" in error.reason ? error.reason.retryAfter : undefined

/** A 404 that means "the server does not serve this resource" rather than "there is no such object". */
export const isMissingResource = (error: ApiError): boolean =>
  error.reason._tag === "NotFound" && (error.details?.name === undefined || error.details.name === "")

/** The server has not reached the required version yet ("Too large resource version"): back off and retry, do not relist. */
export const isTooLargeResourceVersion = (error: ApiError): boolean =>
  error.reason._tag === "Timeout" &&
  (error.details?.causes?.some((cause) => cause.reason === "ResourceVersionTooLarge") === true ||
    error.detail.includes("Too large resource version"))

/**
 * The server cannot stream lists, because its etcd does not report progress (3.4, for instance). Only the message says so.
 * Source: apiserver/pkg/storage/cacher: Cacher.Watch.
 */
export const isProgressUnsupported = (error: ApiError): boolean =>
  error.reason._tag === "ServerError" && error.detail.includes("storage feature RequestWatchProgress is disabled")

/** Connection refused: no process listens at the server's address. */
export const isConnectionRefused = (error: ApiError): boolean => codesOf(error).includes("ECONNREFUSED")

/** The server creates no more objects in the namespace, because the namespace is being deleted. */
export const isNamespaceTerminating = (error: ApiError): boolean =>
  error.details?.causes?.some((cause) => cause.reason === "NamespaceTerminating") === true

/** The result of a creation; undefined if the namespace is being deleted. */
export const unlessTerminating = <A, E, R>(
  create: Effect.Effect<A, E | ApiError, R>
): Effect.Effect<A | undefined, E | ApiError, R> =>
  Effect.catchIf(
    create,
    (error) => isApiError(error) && isNamespaceTerminating(error),
    () => Effect.undefined
  )

/** The peer's certificate was not accepted: trying again will not change that. */
export const isUntrusted = (error: ApiError): boolean =>
  codesOf(error).some((code) => /CERT|SIGNATURE|ISSUER|HOSTNAME_MISMATCH/.test(code))

/** Node's error codes along the chain of causes, the outermost first; an attempt on several addresses has several. */
const codesOf = ({ reason }: ApiError): ReadonlyArray<string> => {
  const codes: Array<string> = []
  const visit = (cause: unknown, depth: number): void => {
    if (!(cause instanceof Error) || depth > 5) return
    if ("code" in cause && typeof cause.code === "string") codes.push(cause.code)
    if (cause instanceof AggregateError) for (const one of cause.errors) visit(one, depth + 1)
    visit(cause.cause, depth + 1)
  }
  if (reason._tag === "Network") visit(reason.cause, 0)
  return codes
}

/** From an HTTP answer with a status of 400 or more, or from a `Status` inside a watch. */
export const fromStatus = (options: {
  readonly context: Context
  readonly status: number
  /** The parsed body; anything that is not a `Status` is summarised. */
  readonly body: unknown
  /** Value of the Retry-After header, in seconds. */
  readonly retryAfterSeconds?: number | undefined
}): ApiError => {
  const status = Status.is(options.body) ? options.body : undefined
  const seconds = options.retryAfterSeconds ?? status?.details?.retryAfterSeconds
  const wait = seconds === undefined || !Number.isFinite(seconds) ? undefined : Duration.seconds(Math.max(0, seconds))
  return new ApiError({
    context: options.context,
    status: options.status,
    details: status?.details,
    continue: status?.metadata?.continue,
    detail: status?.message ?? summary(options.status, options.body),
    reason: classify(options.status, status, wait)
  })
}

/** From an ERROR event of a watch, whose object should be a `Status`. */
export const fromWatchError = (context: Context, object: unknown): ApiError =>
  fromStatus({ context, status: Status.is(object) && object.code > 0 ? object.code : 500, body: object })

/** No answer came: connection refused, the connection broke, the certificate is not trusted. */
export const network = (context: Context, cause: unknown): ApiError =>
  new ApiError({ context, reason: { _tag: "Network", cause }, detail: causeText(cause) })

/** An answer came that is not what the API promises. `detail` is one sentence. */
export const decode = (context: Context, detail: string, cause?: unknown): ApiError =>
  new ApiError({ context, reason: { _tag: "Decode", cause }, detail })

/** Our own deadline passed without an answer. */
export const timeout = (context: Context, limit: Duration.Duration): ApiError =>
  new ApiError({
    context,
    reason: { _tag: "Timeout", retryAfter: undefined },
    detail: `no answer within ${Duration.format(limit)}`
  })

/** The call was not made, because there are no credentials to make it with. */
export const credentials = (context: Context, cause: unknown): ApiError =>
  new ApiError({ context, reason: { _tag: "Credentials", cause }, detail: `no credentials: ${causeText(cause)}` })

/** Nothing was sent: the write would have started when leadership could no longer be proven. */
export const leaderFenced = (context: Context): ApiError =>
  new ApiError({
    context,
    reason: { _tag: "LeaderFenced" },
    detail: "not sent: this process can no longer prove that it leads, or that it has the shard"
  })

const classify = (code: number, status: Status.Status | undefined, wait: Duration.Duration | undefined): Reason => {
  switch (code) {
    case 400:
      return { _tag: "BadRequest" }
    case 401:
      return { _tag: "Unauthorized" }
    case 403:
      return { _tag: "Forbidden" }
    case 404:
      return { _tag: "NotFound" }
    case 405:
      return { _tag: "MethodNotAllowed" }
    case 406:
    case 415:
      return { _tag: "UnsupportedMediaType" }
    case 409:
      return status?.reason === "AlreadyExists" ? { _tag: "AlreadyExists" } : { _tag: "Conflict" }
    case 410:
      return { _tag: "Gone" }
    case 413:
      return { _tag: "RequestTooLarge" }
    case 422:
      return { _tag: "Invalid", causes: status?.details?.causes ?? [] }
    case 429:
      return { _tag: "TooManyRequests", retryAfter: wait }
    case 408:
    case 504:
      return { _tag: "Timeout", retryAfter: wait }
    default:
      return code >= 500
        ? { _tag: "ServerError", retryAfter: wait }
        : { _tag: "Decode", cause: new Error(`unexpected HTTP status ${code}`) }
  }
}

const summary = (code: number, body: unknown): string => {
  const text = typeof body === "string" ? body.trim().slice(0, 200) : ""
  return text === "" ? `HTTP status ${code}` : `HTTP status ${code}: ${text}`
}

const causeText = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause)
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : undefined
  const inner = cause.cause instanceof Error ? `: ${causeText(cause.cause)}` : ""
  return code === undefined || cause.message.includes(code)
    ? `${cause.message}${inner}`
    : `${cause.message} (${code})${inner}`
}

/** One sentence for several errors: that of the only one, or all of them in brackets, each once. apimachinery `util/errors`: aggregate. */
export const aggregate = (messages: ReadonlyArray<string>): string => {
  const [first = "", ...others] = new Set(messages)
  return others.length === 0 ? first : `[${[first, ...others].join(", ")}]`
}
