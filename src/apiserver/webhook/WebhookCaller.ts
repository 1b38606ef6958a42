/**
 * How the server reaches a webhook: a text goes to an address, a text comes back. It knows nothing of reviews, which `review.ts`
 * writes and reads, and nothing of deadlines, which are `consult.ts`'s. Over HTTPS it is `http/webhookCaller.ts`; `handlers`
 * are functions of the same process, for tests. A server that is given none reaches nobody.
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
  /** Of the service; 443 unless its configuration says otherwise. */
  readonly port: number
}

/** A review on its way to a webhook. */
export interface Call {
  /** With the webhook's timeout in the query. A service's host is `<name>.<namespace>.svc`. */
  readonly url: string
  /** Where the webhook is a service: only a resolver can tell its address. */
  readonly service: ServiceReference | undefined
  /** PEM: the only authorities to trust. Undefined: the system's. */
  readonly ca: string | undefined
  /** An `AdmissionReview` as JSON. */
  readonly body: string
}

/** What the webhook answered. */
export interface Reply {
  /** Of HTTP. */
  readonly status: number
  /** Meant to be an `AdmissionReview`; not looked into before. */
  readonly body: string
}

/** There was no answer. The message is what is told after the address: `connect ECONNREFUSED 127.0.0.1:443`. */
export class Unreachable extends Data.TaggedError("Unreachable")<{ readonly message: string }> {}

/** Bytes of an answer that are read at most; a patch may replace a whole object, which travels in base64. */
export const answerLimit = 8 * 1024 * 1024

/** What the server says of an answer that it does not read to its end. */
export const tooLong = `the answer is longer than ${answerLimit} bytes`

/** Who carries the calls. None by default: every webhook is unreachable. */
export interface WebhookCaller {
  /** Is interrupted when the webhook's time is up. */
  readonly call: (call: Call) => Effect.Effect<Reply, Unreachable>
}

export const WebhookCaller = Context.Reference<WebhookCaller>("effect-controller-manager/apiserver/WebhookCaller", {
  defaultValue: () => ({
    call: () => Effect.fail(new Unreachable({ message: "this server calls no webhooks" }))
  })
})

/** Answers a review: the whole `AdmissionReview` of the answer, or whatever else a test wants the server to be told. */
export type Handler = (review: JsonObject) => Effect.Effect<unknown>

/**
 * Webhooks as functions, by the address without its query: `https://hooks.example/validate`, or
 * `https://<name>.<namespace>.svc:<port>/<path>` for a service. A text is answered as it is, anything else as JSON.
 */
export const handlers = (byUrl: Readonly<Record<string, Handler>>): WebhookCaller => ({
  call: ({ body, url }) =>
    Effect.suspend(() => {
      const address = url.split("?")[0] ?? ""
      const handler = Object.hasOwn(byUrl, address) ? byUrl[address] : undefined
      const review: unknown = JSON.parse(body)
      if (handler === undefined || !isObject(review)) return new Unreachable({ message: `nobody answers ${address}` })
      return Effect.map(handler(review), (answer) => ({
        status: 200,
        body: typeof answer === "string" ? answer : JSON.stringify(answer)
      }))
    })
})
