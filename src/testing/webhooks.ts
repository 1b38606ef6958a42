/**
 * The webhooks of a test: those that the program declares, called through the routes that serve them, without a socket and in the test's
 * time; or functions by address. Handlers may use the cluster's client, so they are connected after it has been built.
 */
import * as Effect from "effect/Effect"
import * as Patch from "../kube/Patch.ts"
import * as WebhookCaller from "../apiserver/webhook/WebhookCaller.ts"
import type { Services } from "../layers/Controller.ts"
import { KubeClient } from "../layers/KubeClient.ts"
import { CustomResourceDefinition } from "../manager/crds/Definitions.ts"
import type { HttpResponse, Handler } from "../layers/http/handler.ts"
import { type Configurations, configurations } from "../manager/webhooks/configurations.ts"
import { handler } from "../manager/webhooks/handle.ts"
import type { Webhook } from "../layers/Webhook.ts"

/** Functions by address, or webhooks as the program declares them. */
export type Webhooks = Readonly<Record<string, WebhookCaller.Handler>> | ReadonlyArray<Webhook<Services>>

const isDeclared = (webhooks: Webhooks): webhooks is ReadonlyArray<Webhook<Services>> => Array.isArray(webhooks)

/** The address of declared webhooks in their configurations. */
const url = "https://webhooks.test"

/** Calls the handler that was connected last. */
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

/** Calls the handler as if the request had arrived over HTTPS. */
const ask = (handler: Handler, { body, url }: WebhookCaller.Call): Effect.Effect<WebhookCaller.Reply> =>
  Effect.suspend(() => {
    const { pathname, searchParams } = new URL(url)
    const request = { method: "POST", path: pathname, query: searchParams, contentType: "application/json" }
    return handler({ ...request, bearer: undefined, body: Effect.succeed(body) })
  }).pipe(Effect.map(replyOf))

/** A review is always one text. */
const replyOf = ({ body, status }: HttpResponse): WebhookCaller.Reply => ({
  status,
  body: typeof body === "string" ? body : ""
})

/** Serves declared webhooks and registers them with the server. The CustomResourceDefinition of a converted kind has to exist before. */
export const connect = <E, R>(
  webhooks: Webhooks,
  apply: (objects: ReadonlyArray<object>) => Effect.Effect<unknown, E, R>
) =>
  Effect.gen(function* () {
    const caller = yield* WebhookCaller.WebhookCaller
    if (!isDeclared(webhooks) || !(caller instanceof Caller)) return
    // A test that declares a webhook that cannot be served has a bug, and fails with a defect.
    caller.connectUnsafe(yield* Effect.orDie(handler(webhooks)))
    yield* register(configurations(webhooks, { name: "webhooks", at: { url } }), apply)
  })

/** Writes the configurations of webhooks to the server. */
export const register = <E, R>(
  { conversions, mutating, validating }: Configurations,
  apply: (objects: ReadonlyArray<object>) => Effect.Effect<unknown, E, R>
) =>
  Effect.gen(function* () {
    yield* apply([mutating, validating].filter((one) => one !== undefined))
    const client = yield* KubeClient
    for (const { conversion, definition } of conversions) {
      yield* client.patch(CustomResourceDefinition, { name: definition }, Patch.merge({ spec: { conversion } }))
    }
  })
