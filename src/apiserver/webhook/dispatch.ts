/**
 * Answers a request that webhooks have a say in: does it, calls those whose answer is missing, and does it again, until nothing is
 * missing. Each call has its webhook's own time, on the server's clock. Calls that are wanted together are made together.
 */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import type { ApiResponse } from "../Api.ts"
import { convert } from "../apiextensions/conversion/convert.ts"
import { Unconverted } from "../apiextensions/conversion/forms.ts"
import * as RequestContext from "../RequestContext.ts"
import { reply } from "./call.ts"
import { Unanswered } from "./WebhookResponses.ts"
import type { Consultation, Outcome, Question } from "./WebhookResponses.ts"
import * as review from "./review.ts"
import type { WebhookCaller } from "./WebhookCaller.ts"

/** Whether something was thrown because a webhook has to be called first. */
export const isUnfinished = (thrown: unknown): thrown is Unanswered | Unconverted =>
  thrown instanceof Unanswered || thrown instanceof Unconverted

/** `ask` runs the whole request in one synchronous section. */
export const consult = (
  caller: WebhookCaller,
  consultation: Consultation,
  ask: () => ApiResponse
): Effect.Effect<ApiResponse> =>
  Effect.suspend(() => {
    consultation.rewind()
    const found = attempt(ask)
    if (!isUnfinished(found)) return Effect.succeed(found)
    return Effect.andThen(finish(caller, consultation, found), consult(caller, consultation, ask))
  })

const attempt = (ask: () => ApiResponse): ApiResponse | Unanswered | Unconverted => {
  try {
    return ask()
  } catch (thrown) {
    if (isUnfinished(thrown)) return thrown
    throw thrown
  }
}

const finish = (
  caller: WebhookCaller,
  consultation: Consultation,
  found: Unanswered | Unconverted
): Effect.Effect<void> =>
  found instanceof Unconverted
    ? Effect.map(convert(caller, found.wanted), (all) => {
        for (const { result, wanted } of all) consultation.recordConversion(wanted, result)
      })
    : Effect.forEach(found.questions, (question) => settle(caller, consultation, question), {
        concurrency: "unbounded",
        discard: true
      })

const settle = (caller: WebhookCaller, consultation: Consultation, question: Question): Effect.Effect<void> =>
  Effect.map(call(caller, question), (outcome) => consultation.record(question, outcome))

const call = (caller: WebhookCaller, { hook, request }: Question): Effect.Effect<Outcome> =>
  Effect.flatMap(Effect.map(Random.Random, RequestContext.uuid), (uid) =>
    Effect.map(reply(caller, hook.address, hook.timeoutSeconds, review.reviewText(uid, request)), (answer): Outcome =>
      Result.isFailure(answer)
        ? { _tag: "Failed", why: answer.failure }
        : { _tag: "Replied", uid, reply: answer.success }
    )
  )
