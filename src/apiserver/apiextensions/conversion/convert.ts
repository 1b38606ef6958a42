/** Calls conversion webhooks: reviews of a bounded size, at most four at a time, each with its timeout on the Effect clock. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import { reply } from "../../webhook/call.ts"
import type { WebhookCaller } from "../../webhook/WebhookCaller.ts"
import type { JsonObject } from "../../json.ts"
import type { Version } from "../../storage/Version.ts"
import * as StatusError from "../../StatusError.ts"
import type { ResourceDefinition } from "../../scheme/ResourceDefinition.ts"
import * as RequestContext from "../../RequestContext.ts"
import { conversionTimeoutSeconds } from "../Definition.ts"
import * as conversionReview from "./conversionReview.ts"
import type { Wanted } from "../../webhook/WebhookResponses.ts"
import * as converted from "./converted.ts"

/** Maximum number of objects in a review, and of concurrent reviews. */
const [perReview, atOnce] = [100, 4] as const

/** Maximum characters of the objects of a review with several objects, so that the response, which may be longer, stays below `answerLimit`. */
const reviewSize = 1024 * 1024

export interface Converted {
  readonly wanted: Wanted
  /** The objects in their order, or the error message. */
  readonly result: Result.Result<ReadonlyArray<JsonObject>, string>
}

/** Each review succeeds or fails as a whole, independently of the others. */
export const convert = (caller: WebhookCaller, wanted: Wanted): Effect.Effect<ReadonlyArray<Converted>> => {
  const reviews = portions(wanted.objects)
  return Effect.forEach(reviews, (objects) => ask(caller, { ...wanted, objects }), { concurrency: atOnce })
}

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

const ask = (caller: WebhookCaller, wanted: Wanted): Effect.Effect<Converted> =>
  Effect.flatMap(Effect.map(Random.Random, RequestContext.uuid), (uid) => {
    const body = conversionReview.requestText(wanted, uid)
    if (body === undefined) {
      return Effect.succeed({ wanted, result: Result.fail("no supported conversion review versions") })
    }
    return Effect.map(reply(caller, wanted.converter.address, conversionTimeoutSeconds, body), (answer) => ({
      wanted,
      result: Result.isFailure(answer)
        ? conversionReview.failed(wanted, answer.failure)
        : conversionReview.read(wanted, uid, answer.success)
    }))
  })

/** Converts stored revisions to the version of the resource and caches the results on them; returns the error if a review fails. */
export const prepare = (
  caller: WebhookCaller,
  resource: ResourceDefinition,
  versions: ReadonlyArray<Version>
): Effect.Effect<StatusError.StatusError | undefined> => {
  const wanted = converted.wantedOf(resource, versions)
  if (wanted === undefined) return Effect.undefined
  return Effect.map(convert(caller, wanted), (all) => {
    let start = 0
    for (const { result, wanted } of all) {
      if (Result.isFailure(result)) return StatusError.internal(result.failure)
      converted.fill(resource, versions.slice(start, start + wanted.objects.length), result.success)
      start += wanted.objects.length
    }
    return undefined
  })
}
