/**
 * Webhooks over real sockets: the responses to invalid reviews, and API servers - the embedded one and, with `KUBEBUILDER_ASSETS`,
 * a real one - that accept the generated configurations, call the webhooks, and apply their verdicts.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { request } from "node:https"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import { WebhookCaller } from "../../../src/apiserver/webhook/WebhookCaller.ts"
import * as HttpsWebhooks from "../../../src/apiserver/server/webhookCaller.ts"
import * as HttpTransport from "../../../src/platform/HttpTransport.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Listener from "../../../src/platform/listener/Listener.ts"
import { configurations } from "../../../src/manager/webhooks/configurations.ts"
import { bodyLimit, handler } from "../../../src/manager/webhooks/handle.ts"
import { Transport } from "../../../src/layers/Transport.ts"
import * as Webhook from "../../../src/layers/Webhook.ts"
import * as envtest from "../../support/envtest.ts"
import * as tls from "../../support/tls.ts"

const defaults = { filled: "é" }

let fillings = 0

const filling = Webhook.defaulting(ConfigMap, (map) =>
  Effect.sync(() => {
    fillings++
    return { ...map, data: { ...defaults, ...map.data } }
  })
)

const judging = Webhook.validating(
  ConfigMap,
  ({ object, oldObject, user, warn }) =>
    Effect.gen(function* () {
      if (object?.data?.["who"] !== undefined) yield* warn(`asked by ${user.username}`)
      if (object?.data?.["colour"] === "black") return yield* Webhook.deny("no black", { path: "data.colour" })
      if (object?.data?.["broken"] !== undefined) return yield* Effect.die("a bug")
      if (oldObject?.data?.["kept"] !== undefined && object === undefined) return yield* Webhook.deny("it is kept")
    }),
  { operations: ["CREATE", "UPDATE", "DELETE"] }
)

/** Serves both; returns their address and the authority of their certificate. */
const serve = Effect.gen(function* () {
  const ca = yield* Effect.promise(() => tls.authority("webhooks"))
  const own = yield* Effect.promise(() => ca.issue("webhook"))
  const { port } = yield* Listener.listen({
    name: "webhooks",
    setting: "webhook-port",
    address: { host: "127.0.0.1", port: 0 },
    certificate: { cert: own.cert, key: Redacted.make(own.key) },
    methods: ["POST"],
    bodyLimit,
    handle: yield* handler([filling, judging])
  })
  return { url: `https://127.0.0.1:${port}`, ca: ca.cert }
})

interface Heard {
  readonly status: number
  readonly version: string
  readonly body: string
}

const post = (url: string, ca: string, body: string | Buffer, contentType = "application/json") =>
  Effect.callback<Heard>((resume) => {
    const call = request(url, { method: "POST", ca, agent: false, headers: { "content-type": contentType } })
    call.on("error", (error) => resume(Effect.die(error)))
    call.on("response", (response) => {
      const parts: Array<Buffer> = []
      response.on("data", (part: Buffer) => parts.push(part))
      response.on("end", () => {
        const { httpVersion: version, statusCode: status = 0 } = response
        resume(Effect.succeed({ status, version, body: Buffer.concat(parts).toString() }))
      })
    })
    call.end(body)
  })

const configurationOf = (plural: string, kind: string) =>
  Resource.make<KubeObject>()({ group: "admissionregistration.k8s.io", version: "v1", kind, plural, scope: "Cluster" })
const Mutating = configurationOf("mutatingwebhookconfigurations", "MutatingWebhookConfiguration")
const Validating = configurationOf("validatingwebhookconfigurations", "ValidatingWebhookConfiguration")

const soon = { schedule: Schedule.spaced("50 millis"), times: 400 }

const map = (name: string, data: Record<string, string>) => ({ metadata: { name, namespace: "default" }, data })

const target = { namespace: "default", name: "good" }

/**
 * Calls the webhooks as an operator would; reviews have the version that the configurations name. A kube-apiserver 1.20 built with Go 1.18 or later
 * crashes when it logs a patch, so there the webhook changes nothing.
 */
const asked = (client: KubeClient["Service"], version: string, patches: boolean) =>
  Effect.gen(function* () {
    const { ca, url } = yield* serve
    const { mutating, validating } = configurations([filling, judging], { name: "maps", at: { url }, ca })
    assert.isDefined(mutating)
    assert.isDefined(validating)
    if (mutating === undefined || validating === undefined) return
    for (const [resource, { webhooks, ...object }] of [
      [Mutating, mutating],
      [Validating, validating]
    ] as const) {
      const [only] = webhooks
      yield* client.create(resource, {
        ...object,
        webhooks: [{ ...only, admissionReviewVersions: [version] }]
      } as never)
    }
    const sent = patches ? {} : defaults
    const black = client.create(ConfigMap, map("black", { ...sent, colour: "black" }), { dryRun: true })
    // A real server notices new configurations after a short time.
    const denial = yield* Effect.retry(Effect.flip(black), soon)
    assert.strictEqual(denial.detail, 'admission webhook "validate.configmaps.core" denied the request: no black')
    assert.strictEqual(denial.status, 422)
    assert.deepStrictEqual(denial.details?.causes, [
      { reason: "FieldValueInvalid", message: "no black", field: "data.colour" }
    ])
    const before = fillings
    const trial = client.create(ConfigMap, map("trial", sent), { dryRun: true })
    yield* Effect.repeat(trial, { ...soon, until: () => fillings > before })
    yield* client.create(ConfigMap, map("good", { ...sent, kept: "yes" }))
    assert.deepStrictEqual((yield* client.get(ConfigMap, target)).data, { ...defaults, kept: "yes" })
    const broken = yield* Effect.flip(client.patch(ConfigMap, target, Patch.merge({ data: { broken: "x" } })))
    assert.strictEqual(broken.status, 500)
    assert.include(
      broken.detail,
      'admission webhook "validate.configmaps.core" denied the request: the webhook is broken'
    )
    const kept = yield* Effect.flip(client.delete(ConfigMap, target))
    assert.strictEqual(kept.detail, 'admission webhook "validate.configmaps.core" denied the request: it is kept')
    yield* client.patch(ConfigMap, target, Patch.merge({ data: { kept: null, who: "?" } }))
    yield* client.delete(ConfigMap, target)
  })

const clientOf = (transport: Layer.Layer<Transport>) =>
  Effect.map(Layer.build(Layer.provide(KubeClient.layer, transport)), (context) => Context.get(context, KubeClient))

/** The embedded server, which calls its webhooks over HTTPS. */
const embedded: Effect.Effect<KubeClient["Service"], never, Scope.Scope> = clientOf(
  ApiServer.layerTransport.pipe(
    Layer.provide(ApiServer.layer()),
    Layer.provide(Layer.succeed(WebhookCaller, HttpsWebhooks.make()))
  )
)

const isMissing = envtest.isMissing("webhooks of a real API server")

describe("webhooks over HTTPS", () => {
  it.live("respond to any request, over HTTP/1.1", () =>
    Effect.gen(function* () {
      const { ca, url } = yield* serve
      const path = `${url}${judging.path}`
      const cases: ReadonlyArray<readonly [number, string | Buffer, string?]> = [
        [400, ""],
        [400, "{"],
        [400, Buffer.from([0xff, 0x00, 0xfe])],
        [400, "[".repeat(200_000)],
        [400, "{}", "application/yaml"],
        [413, Buffer.alloc(bodyLimit + 1, " ")],
        [400, Buffer.alloc(bodyLimit, " ")]
      ]
      for (const [status, body, contentType] of cases) {
        const heard = yield* post(path, ca, body, contentType)
        assert.deepStrictEqual([heard.status, heard.version], [status, "1.1"])
        assert.strictEqual(JSON.parse(heard.body).response.status.code, status)
      }
      assert.strictEqual((yield* post(`${url}/elsewhere`, ca, "{}")).status, 404)
    }).pipe(Effect.scoped)
  )

  it.live("are called by the embedded server", () =>
    Effect.gen(function* () {
      yield* asked(yield* embedded, "v1", true)
    }).pipe(Effect.scoped)
  )

  for (const version of ["v1", "v1beta1"]) {
    it.live.skipIf(isMissing)(
      `are asked by a real server, in ${version}`,
      () =>
        Effect.gen(function* () {
          const server = yield* envtest.start()
          const transport = Layer.succeed(Transport, yield* HttpTransport.make(server.endpoint))
          yield* asked(yield* clientOf(transport), version, server.version.minor > 20)
        }).pipe(Effect.scoped),
      180_000
    )
  }
})
