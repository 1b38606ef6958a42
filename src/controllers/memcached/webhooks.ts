/**
 * What is checked and filled in before a Memcached is stored: what its Schemas say, and that its name can be a label, which no Schema of a
 * kind can say. Only a cluster that is told of them asks them; without them the definition still holds.
 */
import * as Effect from "effect/Effect"
import * as Webhook from "../../layers/Webhook.ts"
import { Memcached } from "./kind.ts"

/** A label's value has so many characters at most. */
const longest = 63

const tooLong = `must be no more than ${longest} characters, because its pods are labelled with it`

export const webhooks = [
  Webhook.defaulting(Memcached, Effect.succeed),
  Webhook.validating(Memcached, (review) =>
    review.operation === "CREATE" && review.object.metadata.name.length > longest
      ? Effect.fail(Webhook.deny(tooLong, { path: "metadata.name" }))
      : Effect.void
  )
]
