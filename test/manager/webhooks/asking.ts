/** Calls the routes of webhooks without a socket. */
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import { type HttpRequest, type Handler, text as answer } from "../../../src/layers/http/handler.ts"

export interface Asking {
  readonly method?: string
  readonly path?: string
  readonly query?: string
  readonly contentType?: string | undefined
  /** A text, or a value that is sent as JSON; undefined: longer than the limit. */
  readonly body: unknown
}

export interface Told {
  readonly status: number
  readonly contentType: string | undefined
  // oxlint-disable-next-line typescript/no-explicit-any -- answers are looked into freely
  readonly review: any
}

export const post = (handler: Handler, path: string, body: unknown, more: Partial<Asking> = {}): Effect.Effect<Told> =>
  ask(handler, { path, body, ...more })

const ask = (handler: Handler, { body, method = "POST", path = "/", query = "", ...more }: Asking) => {
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body)
  const request: HttpRequest = {
    method,
    path,
    query: new URLSearchParams(query),
    bearer: undefined,
    contentType: "contentType" in more ? more.contentType : "application/json",
    body: Effect.succeed(text ?? answer(413, "the body is too long\n"))
  }
  return Effect.map(handler(request), ({ body, contentType, status }): Told => ({
    status,
    contentType,
    review: typeof body === "string" ? parsed(body) : undefined
  }))
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The operations of the patch in a response. */
export const patchOf = ({ review }: Told): unknown =>
  review.response.patch === undefined
    ? undefined
    : JSON.parse(Result.getOrThrow(Base64.decodeString(review.response.patch)))

export const gadget = (spec: object, metadata: object = {}) => ({
  apiVersion: "demo.example.com/v2",
  kind: "Gadget",
  metadata: { name: "one", namespace: "ns", ...metadata },
  spec
})

/** A review about gadgets. */
export const review = (request: object, version = "v1") => ({
  apiVersion: `admission.k8s.io/${version}`,
  kind: "AdmissionReview",
  request: {
    uid: "u-1",
    operation: "CREATE",
    kind: { group: "demo.example.com", version: "v2", kind: "Gadget" },
    resource: { group: "demo.example.com", version: "v2", resource: "gadgets" },
    name: "one",
    namespace: "ns",
    userInfo: { username: "jane", groups: ["dev"], extra: { scopes: ["a"] } },
    object: null,
    oldObject: null,
    dryRun: false,
    options: null,
    ...request
  }
})
