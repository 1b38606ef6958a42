/** Where a webhook is, and one call of it. */
import * as Base64 from "effect/encoding/Base64"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { numberAt, objectAt, textAt } from "../json.ts"
import type { JsonObject } from "../json.ts"
import { answerLimit, tooLong } from "./WebhookCaller.ts"
import type { Call, Reply, ServiceReference, WebhookCaller } from "./WebhookCaller.ts"

/** Where a webhook is, and the authorities that may vouch for it. */
export type Address = Omit<Call, "body">

/** Of a `clientConfig`, with the time that the webhook has. */
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
  // What is no bundle is no authority either, and not the system's.
  return Result.isSuccess(read) ? read.success : bundle
}

/**
 * One call of a webhook, within its time, on the server's clock. A failure is what `webhook.CallWebhook` of the reference server says.
 */
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
