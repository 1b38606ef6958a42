/** A server with webhooks as functions: short configurations, responses, and a record of the reviews. */
import * as Effect from "effect/Effect"
import * as Encoding from "effect/encoding/Base64"
import * as Layer from "effect/Layer"
import type { Options } from "../../../src/apiserver/ApiServer.ts"
import * as Caller from "../../../src/apiserver/webhook/WebhookCaller.ts"
import * as client from "../client.ts"

export const configurations = "/apis/admissionregistration.k8s.io/v1"

export const everyWrite = { apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], operations: ["*"] }

export const onConfigMaps = { apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["*"] }

/** A webhook of this name at `https://hooks.example/<name>`. */
export const hook = (name: string, more: object = {}) => ({
  name: `${name}.hooks.example`,
  admissionReviewVersions: ["v1"],
  sideEffects: "None",
  clientConfig: { url: `https://hooks.example/${name}` },
  rules: [onConfigMaps],
  ...more
})

export const configure = (phase: "mutating" | "validating", webhooks: ReadonlyArray<object>, name: string = phase) =>
  client.post(`${configurations}/${phase}webhookconfigurations`, { metadata: { name }, webhooks })

export const answer = (review: any, response: object) => ({
  apiVersion: "admission.k8s.io/v1",
  kind: "AdmissionReview",
  response: { uid: review.request.uid, allowed: true, ...response }
})

export const patching = (...operations: ReadonlyArray<object>) => ({
  patchType: "JSONPatch",
  patch: Encoding.encode(JSON.stringify(operations))
})

export type Answerer = (review: any) => Effect.Effect<unknown>

/** All webhooks of this host, by name; their reviews are appended to `asked`. */
export const layer = (answerers: Readonly<Record<string, Answerer>>, asked: Array<any> = [], options: Options = {}) =>
  client.layer(options).pipe(
    Layer.provide(
      Layer.succeed(
        Caller.WebhookCaller,
        Caller.handlers(
          Object.fromEntries(
            Object.entries(answerers).map(([name, answerer]) => [
              `https://hooks.example/${name}`,
              (review) => {
                asked.push(review["request"])
                return answerer(review)
              }
            ])
          )
        )
      )
    )
  )

export const says =
  (response: object): Answerer =>
  (review) =>
    Effect.succeed(answer(review, response))
