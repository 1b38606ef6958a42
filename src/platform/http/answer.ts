/**
 * Translates a raw HTTP response or failure into the types of `Transport`: body, warnings, Retry-After, and one plain sentence for each connection
 * failure. Pure. No text of a successful response ever enters an error, because it may be a secret.
 */
import * as Effect from "effect/Effect"
import * as ApiError from "../../kube/ApiError.ts"
import type { Request, Response } from "../../layers/Transport.ts"
import type { Failure, Head } from "./Exchange.ts"
import type { ListBody } from "./ListBody.ts"

/** `list` has the body if it was parsed as it arrived. */
export const decode = (
  { context, ignoresBody }: Request,
  head: Head,
  body: Buffer,
  list: ListBody | undefined
): Effect.Effect<Response, ApiError.ApiError> => {
  const warnings = warningsOf(head)
  if (ignoresBody === true) return Effect.succeed({ status: head.status, body: undefined, warnings })
  if (!isJson(head)) return Effect.succeed({ status: head.status, body: body.toString(), warnings })
  try {
    return Effect.succeed({
      status: head.status,
      body: list === undefined ? JSON.parse(body.toString()) : list.end(),
      warnings
    })
  } catch {
    // The parser's message quotes the text, so it is not kept.
    return Effect.fail(
      ApiError.decode(context, `the answer of ${list?.size() ?? body.byteLength} bytes is not valid JSON`)
    )
  }
}

/** A status of 300 or more. `now` in milliseconds, for a Retry-After that is a date. */
export const failure = (context: ApiError.Context, head: Head, body: Buffer, now: number): ApiError.ApiError =>
  ApiError.fromStatus({
    context,
    status: head.status,
    body: isJson(head) ? jsonOrText(body) : body.toString(),
    retryAfterSeconds: retryAfterSeconds(head, now)
  })

const jsonOrText = (body: Buffer): unknown => {
  const text = body.toString()
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const header = (head: Head, name: string): string | undefined => {
  const value = head.headers[name]
  return typeof value === "string" ? value : value?.join(", ")
}

export const isJson = (head: Head): boolean => /^application\/(?:.*\+)?json\b/.test(header(head, "content-type") ?? "")

/** Whole seconds or an HTTP date. Source: RFC 9110 section 10.2.3. */
const retryAfterSeconds = (head: Head, now: number): number | undefined => {
  const text = header(head, "retry-after")?.trim()
  if (text === undefined || text === "") return undefined
  if (/^\d+$/.test(text)) return Number(text)
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, (at - now) / 1000)
}

/** Texts of `Warning: 299 - "text"` headers. Source: RFC 7234 section 5.5. */
const warningsOf = (head: Head): ReadonlyArray<string> => {
  const text = header(head, "warning")
  if (text === undefined) return none
  return [...text.matchAll(/\b\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)].map((match) => (match[1] ?? "").replace(/\\(.)/g, "$1"))
}

const none: ReadonlyArray<string> = []

/** The error of an exchange that ended before its response did. The cause is attached, and the message says what it means for the user. */
export const broken = (context: ApiError.Context, server: string, failure: Failure): ApiError.ApiError => {
  if (failure._tag === "NotStarted") return ApiError.leaderFenced(context)
  const { cause } = failure
  return new ApiError.ApiError({
    context,
    reason: { _tag: "Network", cause },
    detail: sentence(server, rootOf(cause))
  })
}

/** An attempt on several addresses fails with an `AggregateError`, whose reasons are in `errors`. */
const rootOf = (cause: unknown): { readonly code: string; readonly message: string } => {
  if (cause instanceof AggregateError && cause.errors.length > 0) return rootOf(cause.errors[0])
  if (!(cause instanceof Error)) return { code: "", message: String(cause) }
  if (cause.cause instanceof Error) return rootOf(cause.cause)
  return { code: "code" in cause && typeof cause.code === "string" ? cause.code : "", message: cause.message }
}

const sentence = (server: string, { code, message }: { readonly code: string; readonly message: string }): string => {
  switch (code) {
    case "ECONNREFUSED":
      return `${server} refuses the connection (ECONNREFUSED): is the API server running?`
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `the host of ${server} cannot be resolved (${code})`
    case "ECONNRESET":
    case "EPIPE":
    case "UND_ERR_SOCKET":
      return `the connection to ${server} was closed (${code})`
    case "UND_ERR_CONNECT_TIMEOUT":
    case "ETIMEDOUT":
      return `${server} does not accept connections (${code})`
    case "CERT_HAS_EXPIRED":
      return `the certificate of ${server} has expired (${code})`
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return `the certificate of ${server} is for another name (${code}): ${message}`
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "UNABLE_TO_GET_ISSUER_CERT":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
    case "CERT_SIGNATURE_FAILURE":
      return `the certificate of ${server} is not trusted (${code}): check certificate-authority-data of the cluster`
    default:
      return code === "" || message.includes(code) ? message : `${message} (${code})`
  }
}
