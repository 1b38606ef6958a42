/**
 * The webhooks of a test: those that the program declares, request through the very routes that it serves them by, without a socket and in the
 * test's time; and functions under addresses of one's own. Handlers may use the cluster's client, so they are connected when it stands.
 */
import * as Effect from "effect/Effect"
import * as Patch from "../kube/Patch.ts"
import * as WebhookCaller from "../apiserver/webhook/WebhookCaller.ts"
import type { Services } from "../layers/Controller.ts"
import { KubeClient } from "../layers/KubeClient.ts"
import { CustomResourceDefinition } from "../manager/crds/Definitions.ts"
import type { HttpResponse, Handler } from "../layers/http/handler.ts"
import { configurations } from "../manager/webhooks/configurations.ts"
import { handler } from "../manager/webhooks/handle.ts"
import type { Webhook } from "../layers/Webhook.ts"

/** By address, or as the program declares them. */
export type Webhooks = Readonly<Record<string, WebhookCaller.Handler>> | ReadonlyArray<Webhook<Services>>

const isDeclared = (webhooks: Webhooks): webhooks is ReadonlyArray<Webhook<Services>> => Array.isArray(webhooks)

/** Where declared webhooks are, as their configurations say. */
const url = "https://webhooks.test"

/** Calls the handler that it was connected to last. */
export const caller = (webhooks: Webhooks): Caller => new Caller(isDeclared(webhooks) ? {} : webhooks)

class Caller implements WebhookCaller.WebhookCaller {
  private served: Handler | undefined
  private readonly functions: WebhookCaller.WebhookCaller

  constructor(byUrl: Readonly<Record<string, WebhookCaller.Handler>>) {
    this.functions = WebhookCaller.handlers(byUrl)
  }

  readonly call = (call: WebhookCaller.Call): Effect.Effect<WebhookCaller.Reply, WebhookCaller.Unreachable> =>
    this.served === undefined ? this.functions.call(call) : ask(this.served, call)

  connectUnsafe(handler: Handler): void {
    this.served = handler
  }
}

/** As if it had come over HTTPS. */
const ask = (handler: Handler, { body, url }: WebhookCaller.Call): Effect.Effect<WebhookCaller.Reply> =>
  Effect.suspend(() => {
    const { pathname, searchParams } = new URL(url)
    const request = { method: "POST", path: pathname, query: searchParams, contentType: "application/json" }
    return handler({ ...request, bearer: undefined, body: Effect.succeed(body) })
  }).pipe(Effect.map(replyOf))

/** Reviews are answered with one text. */
const replyOf = ({ body, status }: HttpResponse): WebhookCaller.Reply => ({
  status,
  body: typeof body === "string" ? body : ""
})

/** Serves declared webhooks and registers them with the server. A kind that is converted must be defined by then. */
export const connect = <E, R>(
  webhooks: Webhooks,
  apply: (objects: ReadonlyArray<object>) => Effect.Effect<unknown, E, R>
) =>
  Effect.gen(function* () {
    const caller = yield* WebhookCaller.WebhookCaller
    if (!isDeclared(webhooks) || !(caller instanceof Caller)) return
    // A test that declares what cannot be served has a bug, and fails with a defect.
    caller.connectUnsafe(yield* Effect.orDie(handler(webhooks)))
    const { conversions, mutating, validating } = configurations(webhooks, { name: "webhooks", at: { url } })
    yield* apply([mutating, validating].filter((one) => one !== undefined))
    const client = yield* KubeClient
    for (const { conversion, definition } of conversions) {
      yield* client.patch(CustomResourceDefinition, { name: definition }, Patch.merge({ spec: { conversion } }))
    }
  })
