/**
 * Timeouts, retries and the span of one call: how long an attempt may take, which failures are retried, how long it waits. It works
 * with any `send` and knows nothing of resources. An attempt may take longer than the server's own limit, so that a slow call fails with
 * the server's error. It does not wait when no attempt may begin after the wait. A deadline that the caller sets covers all attempts
 * and waits.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as ApiError from "../kube/ApiError.ts"
import type { Request, Response } from "./Transport.ts"

/**
 * `repeatable`: the request is idempotent, so every transient failure is retried, but not a certificate that is not trusted, because
 * another attempt would not change that. `once`: only a 429 is retried, because a request that was rejected by rate limiting
 * was not executed.
 */
export type Repeat = "repeatable" | "once"

export interface Policy {
  /** Attempts after the first. */
  readonly retries: number
  /** First wait; doubles with every attempt, 20 % jitter. */
  readonly base: Duration.Duration
  /** Upper bound of a wait, unless the server asked for a longer one. */
  readonly max: Duration.Duration
  /** Upper bound of a wait that the server asked for. */
  readonly maxRetryAfter: Duration.Duration
  /** No attempt begins later than this after the first. */
  readonly patience: Duration.Duration
  /** Upper bound of one attempt. */
  readonly attempt: Duration.Duration
}

/**
 * Five retries after 100 ms to 5 s, about 3 s in all; a longer `Retry-After` counts as 30 s. API servers end a call after 60 s (their
 * `--request-timeout`), and may wait 30 s for a webhook.
 */
export const standard: Policy = {
  retries: 5,
  base: Duration.millis(100),
  max: Duration.seconds(5),
  maxRetryAfter: Duration.seconds(30),
  patience: Duration.seconds(30),
  attempt: Duration.seconds(70)
}

type Send = (request: Request) => Effect.Effect<Response, ApiError.ApiError>

/** `limit`: the deadline of the call, instead of the policy's bounds. After it the call fails with reason `Timeout` without a status. */
export interface Options {
  readonly repeat: Repeat
  readonly limit?: Duration.Duration | undefined
  readonly policy: Policy
  /** As of the transport. */
  readonly endsCalls?: boolean | undefined
  /** Awaited before each attempt; that wait does not count towards a limit. */
  readonly pace?: ((request: Request) => Effect.Effect<void>) | undefined
}

export const run = (send: Send, request: Request, options: Options): Effect.Effect<Response, ApiError.ApiError> => {
  const { endsCalls, limit, policy } = options
  // Suspended, because it is made again for each retry.
  const attempt: Send = (one) =>
    Effect.suspend(() => {
      if (one.mayStartUnsafe?.() === false) return Effect.fail(ApiError.leaderFenced(one.context))
      if (endsCalls === true) return send(limit === undefined ? { ...one, limit: policy.attempt } : one)
      const ending = orEnd(one, send(one))
      return limit === undefined ? within(ending, one, policy.attempt) : ending
    })
  if (limit === undefined) return attempts(attempt, request, options)
  return within(attempts(attempt, request, { ...options, policy: { ...policy, patience: limit } }), request, limit)
}

const within = (
  call: Effect.Effect<Response, ApiError.ApiError>,
  { context }: Request,
  duration: Duration.Duration
): Effect.Effect<Response, ApiError.ApiError> =>
  Effect.timeoutOrElse(call, { duration, orElse: () => Effect.fail(ApiError.timeout(context, duration)) })

/** The effect, or the error with which the request is ended before. */
const orEnd = <A>({ endUnsafe }: Request, effect: Effect.Effect<A, ApiError.ApiError>) =>
  endUnsafe === undefined
    ? effect
    : Effect.raceFirst(
        effect,
        Effect.callback<never, ApiError.ApiError>((resume) =>
          Effect.sync(endUnsafe((error) => resume(Effect.fail(error))))
        )
      )

/** The first attempt and its retries. */
const attempts = (
  send: Send,
  request: Request,
  { pace, policy, repeat }: Options
): Effect.Effect<Response, ApiError.ApiError> => {
  if (pace === undefined) return repeating(send, request, { send, policy, repeat })
  const wait = orEnd(request, pace(request))
  const again: Send = (one) => Effect.andThen(wait, send(one))
  return Effect.andThen(wait, repeating(send, request, { send: again, policy, repeat }))
}

/** `again.send` makes an attempt after the first. */
const repeating = (
  send: Send,
  request: Request,
  again: { readonly send: Send; readonly policy: Policy; readonly repeat: Repeat }
): Effect.Effect<Response, ApiError.ApiError> =>
  Effect.flatMap(Clock.monotonicTimeNanos, (started) => {
    const { policy, repeat } = again
    const deadline = Duration.isFinite(policy.patience) ? started + Duration.toNanosUnsafe(policy.patience) : undefined
    // The schedule is made only for a call that fails: nearly all succeed at the first attempt.
    return Effect.catch(send(request), (error) =>
      mayRetry(repeat, error)
        ? orEnd(
            request,
            Effect.retry(failingFirst(error, again.send(request)), ($) => $(schedule(repeat, policy, deadline)))
          )
        : Effect.fail(error)
    )
  })

/** Fails with the error of the attempt that was made already, then makes new ones, so that a schedule sees every failure. */
const failingFirst = <A, E>(error: E, next: Effect.Effect<A, E>): Effect.Effect<A, E> => {
  let isFirst = true
  return Effect.suspend(() => {
    if (!isFirst) return next
    isFirst = false
    return Effect.fail(error)
  })
}

const schedule = (
  repeat: Repeat,
  policy: Policy,
  deadline: bigint | undefined
): Schedule.Schedule<unknown, ApiError.ApiError> =>
  Schedule.min([Schedule.exponential(policy.base), Schedule.spaced(policy.max)]).pipe(
    Schedule.jittered,
    Schedule.setInputType<ApiError.ApiError>(),
    Schedule.modifyDelay(({ duration, input }) => Effect.succeed(waitFor(policy, input, duration))),
    Schedule.while(({ duration, input }) =>
      !mayRetry(repeat, input)
        ? false
        : deadline === undefined
          ? true
          : Effect.map(Clock.monotonicTimeNanos, (now) => now + Duration.toNanosUnsafe(duration) < deadline)
    ),
    Schedule.upTo({ times: policy.retries })
  )

const mayRetry = (repeat: Repeat, error: ApiError.ApiError): boolean =>
  !ApiError.isUntrusted(error) && isRepeatable(repeat, error)

const isRepeatable = (repeat: Repeat, error: ApiError.ApiError): boolean =>
  repeat === "repeatable" ? ApiError.isTransient(error) : ApiError.hasReason(error, "TooManyRequests")

/** `Retry-After` is a lower bound of the wait, up to `maxRetryAfter`. */
const waitFor = (policy: Policy, error: ApiError.ApiError, own: Duration.Duration): Duration.Duration => {
  const retryAfter = ApiError.retryAfter(error)
  return retryAfter === undefined ? own : Duration.max(own, Duration.min(retryAfter, policy.maxRetryAfter))
}

/**
 * The span of one call, all its attempts included: the request and the status of the response, never a body. Only for clients that are
 * traced: a span costs more than the rest of the bookkeeping of a call.
 */
export const traced = (
  { context }: Request,
  call: Effect.Effect<Response, ApiError.ApiError>
): Effect.Effect<Response, ApiError.ApiError> =>
  Effect.useSpan(
    `${context.verb} ${context.resource ?? "raw"}`,
    { kind: "client", attributes: attributesOf(context) },
    (span) =>
      call.pipe(
        Effect.tap(({ status }) => Effect.sync(() => span.attribute("code", status))),
        Effect.tapError(({ reason, status }) =>
          Effect.sync(() => {
            if (status !== undefined) span.attribute("code", status)
            span.attribute("reason", reason._tag)
          })
        )
      )
  )

const attributesOf = ({ name, namespace, path, resource, verb }: ApiError.Context): Record<string, unknown> => ({
  verb,
  path,
  ...(resource === undefined ? {} : { resource }),
  ...(namespace === undefined ? {} : { namespace }),
  ...(name === undefined ? {} : { name })
})
