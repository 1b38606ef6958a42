/**
 * Webhooks of conformance cases: an HTTPS server per case, which the server under test calls by URL, and configurations for the
 * namespace of the case only. Waits for a server that reads configurations from a cache.
 */
import * as Effect from "effect/Effect"
import * as Encoding from "effect/encoding/Base64"
import * as httpsServer from "../support/httpsServer.ts"
import * as tls from "../support/tls.ts"
import { done, merge } from "./assertions.ts"
import type { Subject } from "./Case.ts"
import { at } from "./objects.ts"
import { eventually } from "./roles.ts"

const configurations = "/apis/admissionregistration.k8s.io/v1"

/** Responds to a review: the response, without its uid; a string is the whole body; undefined never responds. */
type Answerer = (request: any) => object | string | undefined

interface Hooked {
  /** `https://127.0.0.1:…` */
  readonly url: string
  readonly caBundle: string
  /** The reviews of a webhook, by its name, without those from before its configuration was effective. */
  readonly asked: (name: string) => ReadonlyArray<any>
}

const authority = tls.authority("conformance webhooks")

const probe = "webhook-probe"

/** A webhook of this name; the given members override. */
type Hook = (hooked: Hooked, namespace: string) => object

export const onConfigMaps = (...operations: ReadonlyArray<string>) => ({
  apiGroups: [""],
  apiVersions: ["v1"],
  resources: ["configmaps"],
  operations
})

export const hook =
  (name: string, more: object = {}): Hook =>
  ({ caBundle, url }, namespace) => ({
    name: `${name}.conformance.example`,
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    timeoutSeconds: 20,
    clientConfig: { url: `${url}/${name}`, caBundle },
    namespaceSelector: { matchLabels: { webhooks: namespace } },
    rules: [onConfigMaps("CREATE", "UPDATE")],
    ...more
  })

export const allowed = { allowed: true }

export const denied = (status?: object) => ({ allowed: false, ...(status === undefined ? {} : { status }) })

export const patching = (...operations: ReadonlyArray<object>) => ({
  allowed: true,
  patchType: "JSONPatch",
  patch: Encoding.encode(JSON.stringify(operations))
})

/** The server of the webhooks, and the label by which their configurations select the namespace. */
export const start = Effect.fnUntraced(function* (
  { ask, namespace }: Subject,
  answerers: Readonly<Record<string, Answerer>>
) {
  const asked = new Map<string, Array<any>>()
  const ca = yield* Effect.promise(() => authority)
  const own = yield* Effect.promise(() => ca.issue("webhook"))
  const server = yield* httpsServer.start((request, response, body) => {
    const name = (request.url ?? "").split("?")[0]?.slice(1) ?? ""
    const { request: review } = JSON.parse(body)
    const isProbe = review.name === probe
    if (!isProbe || name === "ready") asked.set(name, [...(asked.get(name) ?? []), review])
    const answer = isProbe || name === "ready" ? allowed : answerers[name]?.(review)
    if (answer === undefined) return
    response.setHeader("content-type", "application/json")
    response.end(
      typeof answer === "string"
        ? answer
        : JSON.stringify({
            apiVersion: "admission.k8s.io/v1",
            kind: "AdmissionReview",
            response: { uid: review.uid, ...answer }
          })
    )
  }, own)
  done(yield* ask("PATCH", `/api/v1/namespaces/${namespace}`, { metadata: { labels: { webhooks: namespace } } }, merge))
  return {
    url: server.url,
    caBundle: Encoding.encode(ca.cert),
    asked: (name: string): ReadonlyArray<any> => asked.get(name) ?? []
  }
})

/**
 * A configuration that is effective when this returns: its last webhook is called for configmaps and reports it. Deleted with the case.
 * The suffix distinguishes several of one case, and orders them.
 */
export const configure = Effect.fnUntraced(function* (
  { ask, namespace }: Subject,
  hooked: Hooked,
  phase: "mutating" | "validating",
  hooks: ReadonlyArray<Hook>,
  suffix: string = phase
) {
  const path = `${configurations}/${phase}webhookconfigurations`
  const name = `${namespace}-${suffix}`
  const before = hooked.asked("ready").length
  const all = [...hooks, hook("ready", { rules: [onConfigMaps("CREATE")] })]
  const webhooks = all.map((one) => one(hooked, namespace))
  done(yield* ask("POST", path, { metadata: { name }, webhooks }), 201)
  yield* Effect.addFinalizer(() => ask("DELETE", `${path}/${name}`))
  yield* eventually(
    Effect.map(ask("POST", `${at(namespace).configMaps}?dryRun=All`, { metadata: { name: probe } }), () =>
      hooked.asked("ready")
    ),
    (seen) => seen.length > before
  )
})
