/**
 * Sends one write to the server, or gives up with a log line. A transient failure is retried up to twelve attempts, ten seconds apart (the
 * first wait is shortened at random, so that many processes do not retry together); a write that the server rejects is not retried.
 * Source: client-go recordToSink and recordEvent.
 */
import * as Effect from "effect/Effect"
import type * as Latch from "effect/Latch"
import * as Random from "effect/Random"
import * as ApiError from "../../kube/ApiError.ts"
import type { Draft } from "../../kube/Meta.ts"
import * as Patch from "../../kube/Patch.ts"
import { Event, EventsEvent } from "../../kube/resources.ts"
import type { KubeClient } from "../KubeClient.ts"
import type { Write } from "./writes.ts"

export const maxTries = 12
/** Milliseconds. */
export const pause = 10_000

/** Never fails. While `closing` is open, it does not wait for retries: each write has one attempt. */
export const deliver = Effect.fnUntraced(function* (client: KubeClient["Service"], write: Write, closing: Latch.Latch) {
  const label = `event ${write.namespace}/${write.name}`
  for (let tries = 1; ; tries++) {
    const result = yield* Effect.result(send(client, write))
    if (result._tag === "Success") return
    const error = result.failure
    if (isExpected(error)) return yield* Effect.logDebug(`${label} was not written: ${error.message}`)
    if (!isRetryable(error)) return yield* Effect.logWarning(`${label} was refused: ${error.message}`)
    if (tries >= maxTries || closing.isOpen()) {
      return yield* Effect.logWarning(`${label} could not be written after ${tries} tries: ${error.message}`)
    }
    const delay = tries === 1 ? Math.round(pause * (yield* Random.next)) : pause
    yield* Effect.raceFirst(Effect.sleep(delay), closing.await)
  }
})

/** Already stored (a response was lost), or its namespace is terminating: no user has to act on it. */
const isExpected = (error: ApiError.ApiError): boolean =>
  ApiError.hasReason(error, "AlreadyExists") || ApiError.isNamespaceTerminating(error)

const isRetryable = (error: ApiError.ApiError): boolean =>
  ApiError.isTransient(error) || ApiError.hasReason(error, "Conflict", "Credentials")

/** An event to patch may be gone, because servers keep events for an hour. Then it is created again, with its count. */
const send = (client: KubeClient["Service"], write: Write): Call => {
  const { namespace, name, patch } = write
  // The bodies are built for these kinds in `writes`; `eventTime: null` is what the model types do not know.
  const create: Call =
    write.api === "v1"
      ? client.create(Event, write.create as unknown as Draft<Event>, { namespace, returns: "nothing" })
      : client.create(EventsEvent, write.create as unknown as Draft<EventsEvent>, { namespace, returns: "nothing" })
  if (patch === undefined) return create
  const target = { namespace, name }
  const patched: Call =
    write.api === "v1"
      ? client.patch(Event, target, Patch.merge(patch), { returns: "nothing" })
      : client.patch(EventsEvent, target, Patch.merge(patch), { returns: "nothing" })
  return Effect.catchIf(
    patched,
    (error) => ApiError.hasReason(error, "NotFound"),
    () => create
  )
}

type Call = Effect.Effect<unknown, ApiError.ApiError>
