/**
 * Sends telemetry to a collector that may be slow, faulty or unreachable: then the data is lost, the program logs it once, and nothing else
 * happens. Requests have a deadline and a concurrency limit. After a rejected request its exporter drops its data and pauses for a minute, so
 * memory is bounded.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Semaphore from "effect/Semaphore"

/** The deadline of a request. */
const deadline = Duration.seconds(5)

/** Concurrent requests. */
const mostAtOnce = 4

/** Requests in flight and waiting. Each holds at most a thousand spans or lines, so a burst of twenty thousand fits. */
const mostKept = 20

/** `collector`: its address, for messages. */
export const guard = (client: HttpClient.HttpClient, collector: string): HttpClient.HttpClient => {
  let kept = 0
  const turns = Semaphore.makeUnsafe(mostAtOnce)
  /** True after a failure was logged, until a request succeeds. */
  let isDown = false
  const failed = (why: string) =>
    Effect.suspend(() => {
      if (isDown) return Effect.void
      isDown = true
      return Effect.annotateLogs(Effect.logWarning("Telemetry does not arrive and is dropped"), {
        collector,
        error: why
      })
    })
  const arrived = Effect.suspend(() => {
    if (!isDown) return Effect.void
    isDown = false
    return Effect.annotateLogs(Effect.logInfo("Telemetry arrives again"), { collector })
  })
  return HttpClient.transform(client, (response, request) =>
    Effect.suspend(() => {
      // Dropped without a retry: the collector is too slow already.
      if (kept >= mostKept) {
        return Effect.andThen(failed("it takes less than there is"), Effect.fail(turnedAway(request)))
      }
      kept++
      return response.pipe(
        Effect.timeoutOrElse({ duration: deadline, orElse: () => Effect.fail(late(request)) }),
        turns.withPermits(1),
        Effect.tap(({ status }) => (status < 300 ? arrived : failed(`it answers with ${status}`))),
        Effect.tapError(({ reason }) => failed(because(reason))),
        Effect.ensuring(Effect.sync(() => void kept--))
      )
    })
  )
}

const turnedAway = (request: HttpClientRequest.HttpClientRequest) =>
  new HttpClientError.HttpClientError({ reason: new HttpClientError.EncodeError({ request }) })

const late = (request: HttpClientRequest.HttpClientRequest) =>
  new HttpClientError.HttpClientError({
    reason: new HttpClientError.TransportError({
      request,
      description: `no answer within ${Duration.format(deadline)}`
    })
  })

/** Names neither the request nor its headers, which may contain a credential. */
const because = (reason: HttpClientError.HttpClientErrorReason): string => {
  const { cause, description } = reason
  const inner = cause instanceof Error ? (cause.cause ?? cause) : undefined
  const code = inner instanceof Error && "code" in inner && typeof inner.code === "string" ? inner.code : undefined
  return description ?? code ?? (inner instanceof Error ? inner.message : reason._tag)
}
