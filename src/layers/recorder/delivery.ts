/**
 * Gets one write to the server, or gives up with a log line. What may pass is tried twelve times, ten seconds apart (the first
 * pause is shortened at random, so that many processes do not come back together); what the server refuses is not tried again.
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

/** Never fails. While `closing` is open, no failure is waited out: each write gets one try. */
export const deliver = Effect.fnUntraced(function* (client: KubeClient["Service"], write: Write, closing: Latch.Latch) {
  const label = `event ${write.namespace}/${write.name}`
  for (let tries = 1; ; tries++) {
    const result = yield* Effect.result(send(client, write))
    if (result._tag === "Success") return
    const error = result.failure
    if (isExpected(error)) return yield* Effect.logDebug(`${label} was not written: ${error.message}`)
    if (!mayPass(error)) return yield* Effect.logWarning(`${label} was refused: ${error.message}`)
    if (tries >= maxTries || closing.isOpen()) {
      return yield* Effect.logWarning(`${label} could not be written after ${tries} tries: ${error.message}`)
    }
    const delay = tries === 1 ? Math.round(pause * (yield* Random.next)) : pause
    yield* Effect.raceFirst(Effect.sleep(delay), closing.await)
  }
})

/** Stored before (an answer got lost), or its namespace is on its way out: nothing a user should act on. */
const isExpected = (error: ApiError.ApiError): boolean =>
  ApiError.hasReason(error, "AlreadyExists") || ApiError.isNamespaceTerminating(error)

const mayPass = (error: ApiError.ApiError): boolean =>
  ApiError.isTransient(error) || ApiError.hasReason(error, "Conflict", "Credentials")

/** An event that should be patched may be gone by now: events live for an hour. Then it is written anew, count and all. */
const send = (client: KubeClient["Service"], write: Write): Call => {
  const { namespace, name, patch } = write
  // The bodies are built for these kinds in `writes`; `eventTime: null` is what the model types do not know.
  const create: Call =
    write.api === "v1"
      ? client.create(Event, write.create as unknown as Draft<Event>, { namespace })
      : client.create(EventsEvent, write.create as unknown as Draft<EventsEvent>, { namespace })
  if (patch === undefined) return create
  const target = { namespace, name }
  const patched: Call =
    write.api === "v1"
      ? client.patch(Event, target, Patch.merge(patch))
      : client.patch(EventsEvent, target, Patch.merge(patch))
  return Effect.catchIf(
    patched,
    (error) => ApiError.hasReason(error, "NotFound"),
    () => create
  )
}

type Call = Effect.Effect<unknown, ApiError.ApiError>
