/**
 * Answers a request that webhooks have a say in: does it, calls those whose answer is missing, and does it again, until nothing is
 * missing. Each call has its webhook's own time, on the server's clock. Calls that are wanted together are made together.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type { ApiResponse } from "../../Api.ts"
import * as Turn from "../../Turn.ts"
import { Unanswered } from "./Consultation.ts"
import type { Consultation, Outcome, Question } from "./Consultation.ts"
import * as review from "./review.ts"
import { answerLimit, tooLong } from "./WebhookCaller.ts"
import type { WebhookCaller } from "./WebhookCaller.ts"

/** `ask` runs the whole request in one synchronous section. */
export const consult = (
  caller: WebhookCaller,
  consultation: Consultation,
  ask: () => ApiResponse
): Effect.Effect<ApiResponse> =>
  Effect.suspend(() => {
    consultation.rewind()
    const found = attempt(ask)
    if (!(found instanceof Unanswered)) return Effect.succeed(found)
    const calls = Effect.forEach(found.questions, (question) => settle(caller, consultation, question), {
      concurrency: "unbounded",
      discard: true
    })
    return Effect.andThen(calls, consult(caller, consultation, ask))
  })

const attempt = (ask: () => ApiResponse): ApiResponse | Unanswered => {
  try {
    return ask()
  } catch (thrown) {
    if (thrown instanceof Unanswered) return thrown
    throw thrown
  }
}

const settle = (caller: WebhookCaller, consultation: Consultation, question: Question): Effect.Effect<void> =>
  Effect.map(call(caller, question), (outcome) => consultation.record(question, outcome))

const call = (caller: WebhookCaller, { hook, request }: Question): Effect.Effect<Outcome> =>
  Effect.flatMap(Effect.map(Random.Random, Turn.uuid), (uid) => {
    const { ca, service, timeoutSeconds, url } = hook
    const failed = (why: string): Outcome => ({ _tag: "Failed", why: `Post ${JSON.stringify(url)}: ${why}` })
    return caller.call({ url, service, ca, body: review.reviewText(uid, request) }).pipe(
      Effect.map((reply): Outcome =>
        reply.body.length > answerLimit ? failed(tooLong) : { _tag: "Replied", uid, reply }
      ),
      Effect.catchTag("Unreachable", ({ message }) => Effect.succeed(failed(message))),
      // A webhook in the process may have a bug; the server is as little concerned as by one elsewhere.
      Effect.catchDefect((defect) => Effect.succeed(failed(defect instanceof Error ? defect.message : String(defect)))),
      Effect.timeoutOption(`${timeoutSeconds} seconds`),
      Effect.map(Option.getOrElse(() => failed("context deadline exceeded")))
    )
  })
