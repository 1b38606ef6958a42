/** The address of a webhook, and a call with its timeout. */
import * as Base64 from "effect/encoding/Base64"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { numberAt, objectAt, textAt } from "../json.ts"
import type { JsonObject } from "../json.ts"
import { answerLimit, tooLong } from "./WebhookCaller.ts"
import type { Call, Reply, ServiceReference, WebhookCaller } from "./WebhookCaller.ts"

/** The address of a webhook, and its trusted authorities. */
export type Address = Omit<Call, "body">

/** The address of a `clientConfig`, with the timeout of the webhook. */
export const addressOf = (config: JsonObject | undefined, timeoutSeconds: number): Address => {
  const service = serviceOf(objectAt(config, "service"))
  return {
    url: withTimeout(urlOf(config, service), timeoutSeconds),
    service,
    ca: authorityOf(textAt(config, "caBundle"))
  }
}

const serviceOf = (service: JsonObject | undefined): ServiceReference | undefined =>
  service === undefined
    ? undefined
    : { namespace: textAt(service, "namespace"), name: textAt(service, "name"), port: numberAt(service, "port") || 443 }

const urlOf = (config: JsonObject | undefined, service: ServiceReference | undefined): string => {
  if (service === undefined) return textAt(config, "url")
  const path = textAt(config, "service", "path")
  return `https://${service.name}.${service.namespace}.svc:${service.port}${path}`
}

const withTimeout = (url: string, seconds: number): string => `${url}?timeout=${seconds}s`

const authorityOf = (bundle: string): string | undefined => {
  if (bundle === "") return undefined
  const read = Base64.decodeString(bundle)
  // An invalid bundle trusts no authority, not even those of the system.
  return Result.isSuccess(read) ? read.success : bundle
}

/** One call of a webhook within its timeout, on the clock of the server. The error messages are those of apiserver/pkg/util/webhook. */
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
    // A defect of a webhook in the process fails the call, as one of a remote webhook does.
    Effect.catchDefect((defect) => Effect.succeed(failed(defect instanceof Error ? defect.message : String(defect)))),
    Effect.timeoutOption(`${timeoutSeconds} seconds`),
    Effect.map(Option.getOrElse(() => failed("context deadline exceeded")))
  )
}
