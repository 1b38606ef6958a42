/**
 * The in-process transport: responses are text that each client parses, so server and clients share no object. Errors are classified
 * exactly as by the HTTP transport; the fault script is applied here.
 */
import * as Effect from "effect/Effect"
import type * as Arr from "effect/Array"
import * as Stream from "effect/Stream"
import * as ApiError from "../kube/ApiError.ts"
import * as Status from "../kube/Status.ts"
import type { Query, Request, Response, Transport, WatchEvent } from "../layers/Transport.ts"
import type { Answer, Api, ApiRequest, ApiResponse, TextAnswer, User } from "./Api.ts"
import type { Fault, Script } from "./faults.ts"

/** Code in this process is the administrator. */
const user: User = { name: "system:admin", groups: ["system:masters", "system:authenticated"] }

export const make = (api: Api, faults: Script, revision: Effect.Effect<number>): Transport["Service"] => ({
  send: (request) =>
    Effect.suspend(() => {
      const matched = faults.take(request)
      if (matched.length === 0) return call(api, request)
      const answered = mayBeStale(request, matched)
        ? Effect.flatMap(revision, (now) =>
            // A compacted revision cannot be listed: the list is a present one then.
            Effect.catch(call(api, asStaleList(request, matched, now)), () => call(api, request))
          )
        : call(api, request)
      return withFaults(request, matched, answered)
    }),
  watch: (request) =>
    Stream.suspend(() => {
      const matched = faults.take(request)
      const open = Stream.unwrap(Effect.flatMap(api.handle(toWatch(request)), (answer) => opened(request, answer)))
      return matched.length === 0 ? open : watchWithFaults(request, matched, open)
    })
})

const call = (api: Api, request: Request): Effect.Effect<Response, ApiError.ApiError> =>
  Effect.suspend(() => {
    if (request.mayStartUnsafe?.() === false) return Effect.fail(ApiError.leaderFenced(request.context))
    return Effect.flatMap(api.handle(toApi(request)), (answer) => {
      if (answer._tag === "Answer") return settle(request, answer)
      return answer._tag === "Text"
        ? whole(request, answer)
        : Effect.fail(ApiError.decode(request.context, "the server answered with a watch"))
    })
  })

/** A longer text has to be read as a stream, with `Api.handle`. In characters. */
const textLimit = 16 * 2 ** 20

/** A text as one response, which waits for its end. */
const whole = (request: Request, { text }: TextAnswer): Effect.Effect<Response, ApiError.ApiError> => {
  const tooLong = ApiError.decode(request.context, `the text is longer than ${textLimit} characters`)
  return Effect.map(
    Stream.runFoldEffect(
      text,
      () => "",
      (body, next) => (body.length + next.length > textLimit ? Effect.fail(tooLong) : Effect.succeed(body + next))
    ),
    (body) => ({ status: 200, body, warnings: none })
  )
}

const toApi = (request: Request): ApiRequest => {
  const { body } = request
  const accept = request.accept ?? "application/json"
  return {
    method: request.method,
    path: request.path,
    query: toSearch(request.query),
    headers: body === undefined ? { accept } : { accept, "content-type": request.contentType ?? "application/json" },
    body: body === undefined ? "" : JSON.stringify(body),
    user,
    omitManagedFields: request.omitManagedFields,
    isOwnBody: true
  }
}

const toWatch = (request: Request): ApiRequest =>
  toApi(request.query?.["watch"] === undefined ? { ...request, query: { ...request.query, watch: true } } : request)

const noQuery = new URLSearchParams()

const toSearch = (query: Query | undefined): URLSearchParams => {
  if (query === undefined) return noQuery
  return isSameQuery(query, latest.query) ? latest.search : (latest = { query, search: searchOf(query) }).search
}

/** Memoizes the last query: calls of one kind come in bursts, and the server does not change a query. */
let latest: { readonly query: Query; readonly search: URLSearchParams } = { query: {}, search: noQuery }

/**
 * Whether two queries have the same values under the same names in the same order, as those of one kind of call do. False when in doubt.
 */
const isSameQuery = (a: Query, b: Query): boolean => {
  const names = Object.keys(a)
  const others = Object.keys(b)
  if (names.length !== others.length) return false
  for (let i = 0; i < names.length; i++) {
    const name = names[i] ?? ""
    if (name !== others[i] || a[name] !== b[name] || typeof a[name] === "object") return false
  }
  return true
}

const searchOf = (query: Query): URLSearchParams => {
  const out = new URLSearchParams()
  for (const name of Object.keys(query)) {
    const value = query[name]
    if (value === undefined) continue
    if (typeof value === "object") for (const one of value) out.append(name, one)
    else out.append(name, String(value))
  }
  return out
}

const settle = (request: Request, answer: Answer): Effect.Effect<Response, ApiError.ApiError> => {
  let body: unknown = answer.body
  if (answer.contentType.startsWith("application/json")) {
    try {
      body = JSON.parse(answer.body)
    } catch (cause) {
      return Effect.fail(ApiError.decode(request.context, "the answer is not JSON", cause))
    }
  }
  return answer.status < 300
    ? Effect.succeed({ status: answer.status, body, warnings: warnings(answer) })
    : Effect.fail(failure(request, answer, body))
}

const failure = (request: Request, answer: Answer, body: unknown): ApiError.ApiError => {
  const retry = answer.headers?.["retry-after"]
  return ApiError.fromStatus({
    context: request.context,
    status: answer.status,
    body,
    retryAfterSeconds: retry === undefined ? undefined : Number(retry)
  })
}

const none: ReadonlyArray<string> = []

/** Texts of `299 - "…"`. */
const warnings = ({ headers }: Answer): ReadonlyArray<string> => {
  const header = headers?.["warning"]
  if (header === undefined) return none
  return [...header.matchAll(/\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)].map((match) => (match[1] ?? "").replace(/\\(.)/g, "$1"))
}

type Events = Stream.Stream<WatchEvent, ApiError.ApiError>

const opened = (request: Request, answer: ApiResponse): Effect.Effect<Events, ApiError.ApiError> => {
  if (answer._tag === "Watch") {
    return Effect.succeed(Stream.mapArrayEffect(answer.lines, (lines) => decode(request, lines)))
  }
  const notWatch = ApiError.decode(request.context, "the server did not answer with a watch")
  return answer._tag === "Text" ? Effect.fail(notWatch) : Effect.andThen(settle(request, answer), Effect.fail(notWatch))
}

interface Line {
  readonly type: WatchEvent["type"] | "ERROR"
  readonly object: unknown
}

/**
 * One effect per chunk. Events before an ERROR in the same chunk would be lost, so the server sends an ERROR as the only line of its
 * chunk.
 */
const decode = (
  request: Request,
  lines: Arr.NonEmptyReadonlyArray<string>
): Effect.Effect<Arr.NonEmptyReadonlyArray<WatchEvent>, ApiError.ApiError> =>
  Effect.suspend(() => {
    const events: Array<WatchEvent> = []
    for (const line of lines) {
      const { object, type } = JSON.parse(line) as Line
      if (type === "ERROR") return Effect.fail(ApiError.fromWatchError(request.context, object))
      events.push({ type, object })
    }
    return Effect.succeed(events as [WatchEvent, ...Array<WatchEvent>])
  })

const reset = (request: Request): ApiError.ApiError => ApiError.network(request.context, new Error("read ECONNRESET"))

const refusal = (
  request: Request,
  code: number,
  reason: string,
  message: string,
  seconds?: number
): ApiError.ApiError =>
  ApiError.fromStatus({
    context: request.context,
    status: code,
    body: Status.failure({ code, reason, message }),
    retryAfterSeconds: seconds
  })

/** The error with which a fault replaces the response; undefined for other faults. */
const answerOf = (request: Request, fault: Fault): ApiError.ApiError | undefined => {
  switch (fault._tag) {
    case "Drop":
      return reset(request)
    case "Status": {
      const message = fault.message ?? `scripted status ${fault.code}`
      return refusal(request, fault.code, fault.reason ?? "", message, fault.retryAfterSeconds)
    }
    case "Throttle":
      return refusal(request, 429, "TooManyRequests", "scripted: too many requests", fault.retryAfterSeconds)
    case "Gone":
      return refusal(request, 410, "Expired", "too old resource version")
    case "Conflict":
      return request.method === "GET"
        ? undefined
        : refusal(
            request,
            409,
            "Conflict",
            "scripted: the object has been modified; please apply your changes to the latest version and try again"
          )
    default:
      return undefined
  }
}

/** Delays add up; the first fault that ends the call determines its result. */
const withFaults = (
  request: Request,
  matched: ReadonlyArray<Fault>,
  call: Effect.Effect<Response, ApiError.ApiError>
): Effect.Effect<Response, ApiError.ApiError> =>
  matched.reduceRight((next, fault) => {
    if (fault._tag === "Delay") return Effect.delay(next, fault.millis)
    if (fault._tag === "DropAnswer") return Effect.andThen(next, Effect.fail(reset(request)))
    const answer = answerOf(request, fault)
    return answer === undefined ? next : Effect.fail(answer)
  }, call)

const watchWithFaults = (request: Request, matched: ReadonlyArray<Fault>, open: Events): Events =>
  matched.reduceRight((next, fault) => {
    switch (fault._tag) {
      case "Delay":
        return Stream.unwrap(Effect.delay(Effect.succeed(next), fault.millis))
      case "DropAnswer":
        return Stream.fail(reset(request))
      case "Gone":
        return Stream.concat(
          Stream.take(next, fault.after ?? 0),
          Stream.fail(refusal(request, 410, "Expired", "too old resource version"))
        )
      case "CutWatch":
        return Stream.concat(
          Stream.take(next, fault.after),
          fault.how === "end" ? Stream.empty : fault.how === "reset" ? Stream.fail(reset(request)) : Stream.never
        )
      case "DuplicateEvents":
        return Stream.mapArray(next, duplicated)
      default: {
        const answer = answerOf(request, fault)
        return answer === undefined ? next : Stream.fail(answer)
      }
    }
  }, open)

/** The copy is a clone: two events never share an object. */
const duplicated = (events: Arr.NonEmptyReadonlyArray<WatchEvent>): Arr.NonEmptyReadonlyArray<WatchEvent> =>
  events.flatMap((event) => [event, structuredClone(event)]) as unknown as Arr.NonEmptyReadonlyArray<WatchEvent>

/** A list with resourceVersion 0 accepts any state. */
const mayBeStale = (request: Request, matched: ReadonlyArray<Fault>): boolean =>
  request.context.verb === "list" &&
  String(request.query?.["resourceVersion"]) === "0" &&
  matched.some((fault) => fault._tag === "StaleList")

/** The same list, with resourceVersionMatch Exact at an older revision. */
const asStaleList = (request: Request, matched: ReadonlyArray<Fault>, revision: number): Request => {
  const stale = matched.find((fault) => fault._tag === "StaleList")
  const resourceVersion = String(Math.max(1, revision - (stale?.revisions ?? 0)))
  return { ...request, query: { ...request.query, resourceVersion, resourceVersionMatch: "Exact" } }
}
