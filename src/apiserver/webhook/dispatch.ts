/**
 * Handles a request that needs webhooks: processes it, calls the webhooks whose response is missing, and processes it again, until no
 * response is missing. Each call has its webhook's own timeout, on the server's clock. Calls that are missing together run concurrently.
 */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import type { ApiResponse } from "../Api.ts"
import { convert } from "../apiextensions/conversion/convert.ts"
import { ConversionRequired } from "../apiextensions/conversion/converted.ts"
import * as RequestContext from "../RequestContext.ts"
import { reply } from "./call.ts"
import { MissingResponses } from "./WebhookResponses.ts"
import type { WebhookResponses, CallResult, AdmissionCall } from "./WebhookResponses.ts"
import * as review from "./review.ts"
import type { WebhookCaller } from "./WebhookCaller.ts"

/** Whether it was thrown because a webhook has to be called before the request can be answered. */
export const isUnfinished = (thrown: unknown): thrown is MissingResponses | ConversionRequired =>
  thrown instanceof MissingResponses || thrown instanceof ConversionRequired

/** `handle` processes the whole request in one synchronous section. */
export const dispatch = (
  caller: WebhookCaller,
  webhookResponses: WebhookResponses,
  handle: () => ApiResponse
): Effect.Effect<ApiResponse> =>
  Effect.suspend(() => {
    webhookResponses.rewind()
    const found = attempt(handle)
    if (!isUnfinished(found)) return Effect.succeed(found)
    return Effect.andThen(obtain(caller, webhookResponses, found), dispatch(caller, webhookResponses, handle))
  })

const attempt = (handle: () => ApiResponse): ApiResponse | MissingResponses | ConversionRequired => {
  try {
    return handle()
  } catch (thrown) {
    if (isUnfinished(thrown)) return thrown
    throw thrown
  }
}

const obtain = (
  caller: WebhookCaller,
  webhookResponses: WebhookResponses,
  found: MissingResponses | ConversionRequired
): Effect.Effect<void> =>
  found instanceof ConversionRequired
    ? Effect.map(convert(caller, found.wanted), (all) => {
        for (const { result, wanted } of all) webhookResponses.recordConversion(wanted, result)
      })
    : Effect.forEach(
        found.calls,
        (call) => Effect.map(send(caller, call), (result) => webhookResponses.record(call, result)),
        { concurrency: "unbounded", discard: true }
      )

const send = (caller: WebhookCaller, { hook, request }: AdmissionCall): Effect.Effect<CallResult> =>
  Effect.flatMap(Effect.map(Random.Random, RequestContext.uuid), (uid) =>
    Effect.map(
      reply(caller, hook.address, hook.timeoutSeconds, review.reviewText(uid, request)),
      (answer): CallResult =>
        Result.isFailure(answer)
          ? { _tag: "Failed", why: answer.failure }
          : { _tag: "Replied", uid, reply: answer.success }
    )
  )
