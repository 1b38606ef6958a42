/** Calls conversion webhooks: reviews of a bounded size, at most four at a time, each with its timeout on the Effect clock. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import { reply } from "../../webhook/call.ts"
import type { WebhookCaller } from "../../webhook/WebhookCaller.ts"
import type { JsonObject } from "../../json.ts"
import * as RequestContext from "../../RequestContext.ts"
import { conversionTimeoutSeconds } from "../Definition.ts"
import * as conversionReview from "./conversionReview.ts"

/** Maximum number of objects in a review, and of concurrent reviews. */
const [perReview, atOnce] = [100, 4] as const

/** Maximum characters of the objects of a review with several objects, so that the response, which may be longer, stays below `answerLimit`. */
const reviewSize = 1024 * 1024

/** The objects in their order, or the message of the first review that failed. */
type Converted = Result.Result<ReadonlyArray<JsonObject>, string>

export const convert = (caller: WebhookCaller, wanted: conversionReview.Wanted): Effect.Effect<Converted> =>
  Effect.map(
    Effect.forEach(portions(wanted.objects), (objects) => ask(caller, { ...wanted, objects }), { concurrency: atOnce }),
    (reviews) => Result.map(Result.all(reviews), (all) => all.flat())
  )

const portions = (objects: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> => {
  const out: Array<ReadonlyArray<string>> = []
  let start = 0
  let size = 0
  for (const [index, { length }] of objects.entries()) {
    if (index > start && (index - start === perReview || size + length > reviewSize)) {
      out.push(objects.slice(start, index))
      start = index
      size = 0
    }
    size += length
  }
  if (start < objects.length) out.push(objects.slice(start))
  return out
}

const ask = (caller: WebhookCaller, wanted: conversionReview.Wanted): Effect.Effect<Converted> =>
  Effect.flatMap(Effect.map(Random.Random, RequestContext.uuid), (uid) => {
    const body = conversionReview.requestText(wanted, uid)
    if (body === undefined) return Effect.succeed(Result.fail("no supported conversion review versions"))
    return Effect.map(reply(caller, wanted.converter.address, conversionTimeoutSeconds, body), (answer) =>
      Result.isFailure(answer)
        ? conversionReview.failed(wanted, answer.failure)
        : conversionReview.read(wanted, uid, answer.success)
    )
  })
