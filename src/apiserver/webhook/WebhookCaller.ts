/**
 * Calls webhooks: sends a text to an address and returns the text of the response. `review.ts` encodes and decodes reviews, and
 * `call.ts` applies timeouts. `server/webhookCaller.ts` calls over HTTPS; `handlers` are functions in the same process, for tests.
 * Without one, all calls fail.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { isObject } from "../json.ts"
import type { JsonObject } from "../json.ts"

/** A service of the cluster, as a configuration names it. */
export interface ServiceReference {
  /** Of the service. */
  readonly namespace: string
  /** Of the service. */
  readonly name: string
  /** Port of the service; 443 by default. */
  readonly port: number
}

/** A call of a webhook. */
export interface Call {
  /** The URL, with the timeout in the query. The host of a service is `<name>.<namespace>.svc`. */
  readonly url: string
  /** Set where the webhook is a service, whose address a resolver has to find. */
  readonly service: ServiceReference | undefined
  /** PEM: the only trusted authorities; those of the system where undefined. */
  readonly ca: string | undefined
  /** An `AdmissionReview` as JSON. */
  readonly body: string
}

/** The response of a webhook. */
export interface Reply {
  /** Of HTTP. */
  readonly status: number
  /** The body, not validated yet; it should be an `AdmissionReview`. */
  readonly body: string
}

/** The call failed without a response. The message follows the address: `connect ECONNREFUSED 127.0.0.1:443`. */
export class Unreachable extends Data.TaggedError("Unreachable")<{ readonly message: string }> {}

/** Maximum bytes of a response: a patch may replace a whole object, in base64. */
export const answerLimit = 8 * 1024 * 1024

/** The error for a longer response. */
export const tooLong = `the answer is longer than ${answerLimit} bytes`

/** The caller of webhooks. By default every call fails. */
export interface WebhookCaller {
  /** Interrupted at the timeout of the webhook. */
  readonly call: (call: Call) => Effect.Effect<Reply, Unreachable>
}

export const WebhookCaller = Context.Reference<WebhookCaller>("effect-controller-manager/apiserver/WebhookCaller", {
  defaultValue: () => ({
    call: () => Effect.fail(new Unreachable({ message: "this server calls no webhooks" }))
  })
})

/** Handles a review: returns the whole `AdmissionReview` with the response, or any other value that a test needs. */
export type Handler = (review: JsonObject) => Effect.Effect<unknown>

/**
 * Webhooks as functions, by their address without query: `https://hooks.example/validate`, or
 * `https://<name>.<namespace>.svc:<port>/<path>` for a service. A string is the body itself; any other value is sent as JSON.
 */
export const handlers = (byUrl: Readonly<Record<string, Handler>>): WebhookCaller => ({
  call: ({ body, url }) =>
    Effect.suspend(() => {
      const address = url.split("?")[0] ?? ""
      const handler = Object.hasOwn(byUrl, address) ? byUrl[address] : undefined
      const review: unknown = JSON.parse(body)
      if (handler === undefined || !isObject(review)) return new Unreachable({ message: `no handler for ${address}` })
      return Effect.map(handler(review), (answer) => ({
        status: 200,
        body: typeof answer === "string" ? answer : JSON.stringify(answer)
      }))
    })
})
