/**
 * Conversion webhooks of conformance cases: a CRD with two versions, in which the same number has different names, and an HTTPS server
 * for each case that converts them. The webhook is effective when `converting` returns.
 */
import * as Effect from "effect/Effect"
import * as Encoding from "effect/encoding/Base64"
import * as httpsServer from "../support/httpsServer.ts"
import * as tls from "../support/tls.ts"
import type { Subject } from "./Case.ts"
import { collectionOf, defined, version } from "./definitions.ts"

const authority = tls.authority("conformance conversions")

/** Converts a whole object to another version. */
export type Convert = (object: any, apiVersion: string) => object

/** `spec.size` of v1 is `spec.replicas` of v2; the colour of v1 is an annotation in v2. */
export const rename: Convert = (object, apiVersion) => {
  const { metadata, spec, status } = object
  const { color, replicas, size, ...rest } = spec
  const { "example.com/color": kept, ...annotations } = metadata.annotations ?? {}
  const isNew = apiVersion.endsWith("/v2")
  const number = isNew ? size : replicas
  const painted = isNew ? {} : kept === undefined ? {} : { color: kept }
  return {
    ...object,
    apiVersion,
    metadata: {
      ...metadata,
      annotations: isNew && color !== undefined ? { ...annotations, "example.com/color": color } : annotations
    },
    spec: { ...rest, ...(number === undefined ? {} : isNew ? { replicas: number } : { size: number }), ...painted },
    ...(status === undefined ? {} : { status })
  }
}

const specOf = (number: string, more: object = {}) => ({
  type: "object",
  required: [number],
  properties: { [number]: { type: "integer", minimum: 1, maximum: 3 }, name: { type: "string" }, ...more }
})

const schemaOf = (spec: object) => ({
  openAPIV3Schema: {
    type: "object",
    properties: { spec, status: { type: "object", properties: { ready: { type: "integer" } } } }
  }
})

const column = (path: string) => [{ name: "Number", type: "integer", jsonPath: path }]

const subresources = { status: {} }

export const v1 = (more: object = {}) =>
  version("v1", {
    storage: false,
    schema: schemaOf(specOf("size", { color: { type: "string" } })),
    subresources,
    additionalPrinterColumns: column(".spec.size"),
    ...more
  })

export const v2 = (more: object = {}) =>
  version("v2", {
    schema: schemaOf(specOf("replicas", { port: { type: "integer", default: 80 } })),
    subresources,
    additionalPrinterColumns: column(".spec.replicas"),
    ...more
  })

export interface Converting {
  readonly url: string
  readonly caBundle: string
  /** The collections of the two versions. */
  readonly old: string
  readonly new: string
  /** Requests of reviews, oldest first. */
  readonly asked: ReadonlyArray<any>
  /** Sets the response to a review from now on, without its uid. */
  readonly respond: (respond: (request: any) => object) => void
}

/** The response that converts all objects. */
export const converted = (request: any, convert: Convert = rename): object => ({
  result: { status: "Success" },
  convertedObjects: request.objects.map((one: any) => convert(one, request.desiredAPIVersion))
})

/** `spec.conversion` with a webhook at this address. */
export const conversion = (url: string, caBundle: string, more: object = {}) => ({
  strategy: "Webhook",
  webhook: { clientConfig: { url, caBundle }, conversionReviewVersions: ["v1"], ...more }
})

export const converting = Effect.fnUntraced(function* (subject: Subject, spec: object = {}) {
  let respond: (request: any) => object = (request) => converted(request)
  const asked: Array<any> = []
  const ca = yield* Effect.promise(() => authority)
  const own = yield* Effect.promise(() => ca.issue("conversion"))
  const server = yield* httpsServer.start((_request, response, body) => {
    const { apiVersion, kind, request } = JSON.parse(body)
    asked.push(request)
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify({ apiVersion, kind, response: { uid: request.uid, ...respond(request) } }))
  }, own)
  const caBundle = Encoding.encode(ca.cert)
  const old = yield* defined(subject, {
    versions: [v1(), v2()],
    conversion: conversion(`${server.url}/convert`, caBundle),
    ...spec
  })
  const made: Converting = {
    url: server.url,
    caBundle,
    old,
    new: collectionOf(subject, "v2"),
    asked,
    respond: (next) => {
      respond = next
    }
  }
  return made
})
