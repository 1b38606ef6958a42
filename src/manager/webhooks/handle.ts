/**
 * The webhook server's routes: finds the webhook of a path and processes the review. Every review gets a response in its own version with its own
 * uid; a handler that fails causes an error response and a log line. Sizes and concurrency are bounded. Source: controller-runtime:
 * pkg/webhook/admission.
 */
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import type * as Webhook from "../../layers/Webhook.ts"
import { parseDuration } from "../../kube/time.ts"
import { type HttpResponse, type HttpRequest, type Handler, notAllowed, notFound } from "../../layers/http/handler.ts"
import * as Admission from "./admission.ts"
import { check } from "./check.ts"
import * as Conversion from "./conversion.ts"
import * as Metrics from "./metrics.ts"
import type { Fields, InvalidReview } from "./review.ts"

/** The largest review in bytes: two objects of the largest stored size, and some more. Source: controller-runtime. */
export const bodyLimit = 7 * 1024 * 1024

/**
 * Concurrent reviews of one path; further ones wait. The limit is for each path, because a list in a handler may require conversions: webhooks that
 * need each other must not wait for each other.
 */
const concurrency = 32

/** The longest timeout of an API server. Source: admissionregistration.k8s.io timeoutSeconds. */
const longest = Duration.seconds(30)

/** How a kind of review is read and answered. */
interface ReviewKind<R> {
  readonly isConversion: boolean
  readonly invalidReview: (message: string) => InvalidReview
  readonly errorResponse: (invalid: InvalidReview, code: number) => Fields
  readonly read: (text: string) => Result.Result<Review<R>, InvalidReview>
}

interface Review<R> {
  readonly invalid: (message: string) => InvalidReview
  readonly answer: Effect.Effect<Fields, never, R>
}

/** A handler with the services and the metric registry of the caller. */
export const handler = <R>(
  webhooks: ReadonlyArray<Webhook.Webhook<R>>
): Effect.Effect<Handler, Webhook.InvalidWebhook, R> =>
  Effect.gen(function* () {
    yield* Effect.fromResult(check(webhooks))
    const context = yield* Effect.context<R>()
    const routes = new Map<string, Handler>()
    for (const path of new Set(webhooks.map((webhook) => webhook.path))) {
      const reviewKind = reviewKindOf(webhooks.filter((webhook) => webhook.path === path))
      const metrics = yield* Metrics.make(path, reviewKind.isConversion)
      const permits = Semaphore.makeUnsafe(concurrency)
      routes.set(path, (request) =>
        measured(metrics, reply({ reviewKind, metrics, request }, permits)).pipe(Effect.provideContext(context))
      )
    }
    return (request: HttpRequest) => {
      const route = routes.get(request.path)
      if (route === undefined) return Effect.succeed(notFound)
      return request.method === "POST" ? route(request) : Effect.succeed(notAllowed("POST"))
    }
  })

const reviewKindOf = <R>(webhooks: ReadonlyArray<Webhook.Webhook<R>>): ReviewKind<R> => {
  const [first] = webhooks
  return first === undefined || first._tag === "Converting"
    ? conversion(webhooks.flatMap((webhook) => (webhook._tag === "Converting" ? [webhook] : [])))
    : admission(first)
}

const admission = <R>({ handle }: Webhook.Admission<R>): ReviewKind<R> => ({
  isConversion: false,
  invalidReview: Admission.invalidReview,
  errorResponse: Admission.errorResponse,
  read: (text) =>
    Result.map(Admission.read(text), (admitted) => ({
      invalid: (message) => ({ apiVersion: admitted.apiVersion, uid: admitted.request.uid, message }),
      answer: Effect.map(
        Effect.suspend(() => handle(admitted.request)),
        (verdict) => Admission.answer(admitted, verdict)
      )
    }))
})

const conversion = <R>(conversions: ReadonlyArray<Webhook.Conversion<R>>): ReviewKind<R> => ({
  isConversion: true,
  invalidReview: Conversion.invalidReview,
  errorResponse: Conversion.errorResponse,
  read: (text) =>
    Result.map(Conversion.read(text), (wanted) => {
      const invalid = (message: string) => ({ apiVersion: wanted.apiVersion, uid: wanted.uid, message })
      return {
        invalid,
        answer: Effect.match(
          Effect.suspend(() => Conversion.convert(conversions, wanted)),
          {
            onFailure: ({ message }) => Conversion.errorResponse(invalid(message)),
            onSuccess: (objects) => Conversion.answer(wanted, objects)
          }
        )
      }
    })
})

/** Measures a review; the client may close the connection before the response. */
const measured = <R>(
  metrics: Metrics.Metrics,
  reply: Effect.Effect<HttpResponse, never, R>
): Effect.Effect<HttpResponse, never, R> =>
  Effect.flatMap(Clock.monotonicTimeNanos, (start) => {
    metrics.begun()
    return Effect.onExit(reply, (exit) =>
      Effect.map(Clock.monotonicTimeNanos, (now) =>
        metrics.ended(Exit.isSuccess(exit) ? exit.value.status : undefined, Number(now - start) / 1e6)
      )
    )
  })

interface Call<R> {
  readonly reviewKind: ReviewKind<R>
  readonly metrics: Metrics.Metrics
  readonly request: HttpRequest
}

/** The body is read before the review takes a permit, so that slow clients do not hold permits. */
const reply = <R>(call: Call<R>, permits: Semaphore.Semaphore): Effect.Effect<HttpResponse, never, R> => {
  const { request, reviewKind } = call
  const refuse = (code: number, invalid: InvalidReview) =>
    jsonResponse(code, JSON.stringify(reviewKind.errorResponse(invalid, code)))
  if (mediaType(request) !== "application/json") {
    return Effect.succeed(
      refuse(400, reviewKind.invalidReview("the content type of a review must be application/json"))
    )
  }
  return Effect.flatMap(request.body, (body) =>
    typeof body === "string"
      ? permits.withPermit(
          Effect.suspend(() =>
            Result.match(reviewKind.read(body), {
              onFailure: (invalid) => Effect.succeed(refuse(400, invalid)),
              onSuccess: (review) => settled(call, review)
            })
          )
        )
      : Effect.succeed(
          refuse(body.status, reviewKind.invalidReview(typeof body.body === "string" ? body.body.trim() : ""))
        )
  )
}

/** Always returns a response, also if the handler fails. */
const settled = <R>(
  { request, metrics, reviewKind }: Call<R>,
  { answer, invalid }: Review<R>
): Effect.Effect<HttpResponse, never, R> => {
  const limit = timeout(request)
  const errorBody = (code: number, message: string) => JSON.stringify(reviewKind.errorResponse(invalid(message), code))
  // The result of a handler may not be JSON, so its serialization may fail too.
  return Effect.map(answer, (fields) => jsonResponse(200, JSON.stringify(fields))).pipe(
    Effect.timeoutOption(limit),
    Effect.map(
      Option.getOrElse(() =>
        // Not a denial by the handler: the failure policy decides.
        jsonResponse(504, errorBody(504, `the webhook has not answered within ${Duration.format(limit)}`))
      )
    ),
    Effect.catchCause((cause) => {
      metrics.panicked()
      const broken = jsonResponse(200, errorBody(500, "the webhook is broken; its log says how"))
      return Effect.as(report(request, invalid("").uid, cause), broken)
    })
  )
}

const report = ({ path }: HttpRequest, uid: string, cause: Cause.Cause<never>): Effect.Effect<void> =>
  Effect.logError("A webhook failed on a review", cause).pipe(Effect.annotateLogs({ webhook: path, uid }))

const jsonResponse = (status: number, body: string): HttpResponse => ({ status, body, contentType: "application/json" })

const mediaType = ({ contentType = "" }: HttpRequest): string => (contentType.split(";")[0] ?? "").trim().toLowerCase()

/** The timeout that the API server sends. */
const timeout = ({ query }: HttpRequest): Duration.Duration => {
  const said = Option.getOrUndefined(parseDuration(query.get("timeout") ?? ""))
  return said === undefined || Duration.isZero(said) ? longest : Duration.min(said, longest)
}
