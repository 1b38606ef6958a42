/**
 * One call of a webhook, within its time, on the server's clock. Whatever goes wrong on the way is told in the reference server's words; what
 * the answer says is the caller's business.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { Address } from "./hooks.ts"
import { answerLimit, tooLong } from "./WebhookCaller.ts"
import type { Reply, WebhookCaller } from "./WebhookCaller.ts"

export const reply = (
  caller: WebhookCaller,
  address: Address,
  timeoutSeconds: number,
  body: string
): Effect.Effect<Result.Result<Reply, string>> => {
  const failed = (why: string) => Result.fail(`Post ${JSON.stringify(address.url)}: ${why}`)
  return caller.call({ ...address, body }).pipe(
    Effect.map((reply) => (reply.body.length > answerLimit ? failed(tooLong) : Result.succeed(reply))),
    Effect.catchTag("Unreachable", ({ message }) => Effect.succeed(failed(message))),
    // A webhook in the process may have a bug; the server is as little concerned as by one elsewhere.
    Effect.catchDefect((defect) => Effect.succeed(failed(defect instanceof Error ? defect.message : String(defect)))),
    Effect.timeoutOption(`${timeoutSeconds} seconds`),
    Effect.map(Option.getOrElse(() => failed("context deadline exceeded")))
  )
}
