/** The servers that the conformance suite runs on. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { createPrivateKey } from "node:crypto"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import type { IncomingMessage } from "node:http"
import { Agent, request } from "node:https"
import { ApiServer, type Options as ApiServerOptions } from "../../src/apiserver/ApiServer.ts"
import { WebhookCaller } from "../../src/apiserver/webhook/WebhookCaller.ts"
import * as Certificate from "../../src/apiserver/server/certificate.ts"
import * as HttpsServer from "../../src/apiserver/server/HttpsServer.ts"
import * as TokenSigner from "../../src/apiserver/server/tokenSigner.ts"
import * as HttpsWebhooks from "../../src/apiserver/server/webhookCaller.ts"
import { Endpoint } from "../../src/layers/Endpoint.ts"
import * as HttpTransport from "../../src/platform/HttpTransport.ts"
import { Transport } from "../../src/layers/Transport.ts"
import * as envtest from "../support/envtest.ts"
import type { Ask, Part, Reply, Subject } from "./Case.ts"

export interface Backend {
  readonly name: string
  /** Why it cannot run here. */
  readonly skip?: string | undefined
  readonly start: Effect.Effect<Started, unknown, Scope.Scope>
}

interface Started extends Pick<Subject, "transport" | "ask" | "compact" | "as" | "signer"> {
  /** The features that it does not have; cases that need one are skipped, with the feature as the reason. */
  readonly lacks: ReadonlyArray<Part>
}

const caller = (server: string, ca: string) => (token: string | undefined) =>
  HttpTransport.make(Endpoint.fixed({ server, tls: { ca }, token }))

export const real: Backend = {
  name: "a real API server",
  skip: envtest.missing,
  start: Effect.gen(function* () {
    const server = yield* envtest.start(["--enable-admission-plugins=OwnerReferencesPermissionEnforcement"])
    const transport = yield* HttpTransport.make(server.endpoint)
    const ask = yield* asker(server.url, server.ca, server.token)
    const signer = TokenSigner.of(createPrivateKey(yield* Effect.promise(() => readFile(server.tokenKey, "utf8"))))
    const lacks = envtest.lacksCustomObjects ? (["custom objects"] as const) : []
    return { transport, ask, lacks, signer, compact: server.compact, as: caller(server.url, server.ca) }
  })
}

/** The admission plugins that kube-apiserver enables. */
const admission = { nodeTaints: true, ownerReferencesPermission: true, resourceQuota: true, storageProtection: true }
const embedded = (options: ApiServerOptions = {}) =>
  Layer.build(
    ApiServer.layer({ admission, authorization: "RBAC", ...options }).pipe(
      Layer.provide(Layer.succeed(WebhookCaller, HttpsWebhooks.make()))
    )
  ).pipe(Effect.map((context) => Context.get(context, ApiServer)))

export const inProcess: Backend = {
  name: "the embedded server, in process",
  start: Effect.gen(function* () {
    const server = yield* embedded()
    const context = yield* Layer.build(ApiServer.layerTransport.pipe(Layer.provide(Layer.succeed(ApiServer, server))))
    const transport = Context.get(context, Transport)
    return {
      transport,
      ask: askInside(server),
      // The in-process client is the administrator and sends text; the HTTPS server implements bytes, YAML and body limits.
      lacks: ["credentials", "HTTP front"],
      signer: undefined,
      compact: server.compact(),
      as: () => Effect.succeed(transport)
    }
  })
}

export const overHttps: Backend = {
  name: "the embedded server, over HTTPS",
  start: Effect.gen(function* () {
    const signer = TokenSigner.make()
    const server = yield* embedded({ authentication: { signer } })
    const { ca, certificate, key } = yield* Effect.promise(() => Certificate.make(Date.now()))
    const token = Redacted.make("conformance")
    const { port } = yield* HttpsServer.listen({ api: server, certificate, key, token })
    const url = `https://${HttpsServer.host}:${port}`
    const transport = yield* HttpTransport.make(Endpoint.fixed({ server: url, tls: { ca }, token }))
    const ask = yield* asker(url, ca, Redacted.value(token))
    return { transport, ask, lacks: [], signer, compact: server.compact(), as: caller(url, ca) }
  })
}

const headersOf = (options: Parameters<Ask>[3], body: unknown): Record<string, string> => ({
  accept: options?.accept ?? "application/json",
  "user-agent": "conformance/1",
  ...(options?.as === undefined ? {} : { "impersonate-user": options.as.user }),
  ...(options?.as?.group === undefined ? {} : { "impersonate-group": options.as.group }),
  ...(body === undefined ? {} : { "content-type": options?.contentType ?? "application/json" })
})

const textOf = (body: unknown): string =>
  body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body)

const reply = (status: number, headers: Record<string, string>, text: string): Reply => {
  const contentType = headers["content-type"] ?? ""
  return { status, headers, contentType, text, body: parsed(text) }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // plain text, or the lines of a watch
  }
}

const askInside =
  (server: ApiServer["Service"]): Ask =>
  (method, target, body, options) =>
    Effect.gen(function* () {
      const { pathname: path, searchParams: query } = new URL(target, "http://inside")
      const user = { name: "system:admin", groups: ["system:masters", "system:authenticated"] }
      const headers = headersOf(options, body)
      const answer = yield* server.handle({ method, path, query, headers, body: textOf(body), user })
      const head = { ...("headers" in answer ? answer.headers : {}), "content-type": answer.contentType }
      if (answer._tag === "Answer") return reply(answer.status, head, answer.body)
      const [chunks, separator] = answer._tag === "Watch" ? [answer.lines, "\n"] : [answer.text, ""]
      return reply(200, head, (yield* Stream.runCollect(chunks)).join(separator))
    })

const asker = (server: string, ca: string, token: string): Effect.Effect<Ask, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => new Agent({ ca })),
      (agent) => Effect.sync(() => agent.destroy())
    ),
    (agent): Ask =>
      (method, path, body, options) =>
        Effect.promise(async () => {
          const bytes = Buffer.from(textOf(body))
          // Explicit, because Node omits it for methods that rarely have a body.
          const length = body === undefined ? {} : { "content-length": bytes.length }
          const headers = { ...headersOf(options, body), ...length, authorization: `Bearer ${token}` }
          const call = request(server + path, { method, agent, headers })
          call.end(bytes)
          const [response] = (await once(call, "response")) as [IncomingMessage]
          let text = ""
          for await (const part of response.setEncoding("utf8")) text += part
          return reply(response.statusCode ?? 0, response.headers as Record<string, string>, text)
        })
  )
