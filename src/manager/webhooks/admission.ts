/**
 * Reads the request of an AdmissionReview and writes its response. Versions v1 and v1beta1 have the same fields; only the envelope differs. A
 * changed object is sent as a JSON patch in base64, a denial as a `Status`. Pure and total. Source: admission.k8s.io/v1, v1beta1.
 */
import * as Result from "effect/Result"
import * as Base64 from "effect/encoding/Base64"
import type { KubeObject } from "../../kube/Meta.ts"
import * as Status from "../../kube/Status.ts"
import type { Kind, Operation, Request, UserInfo, Verdict } from "../../layers/webhook/Request.ts"
import { diff } from "./diff.ts"
import {
  type Envelope,
  type Fields,
  type InvalidReview,
  isFields,
  newest,
  parse,
  type ReviewKind,
  textAt
} from "./review.ts"

const reviewKind: ReviewKind = { group: "admission.k8s.io", kind: "AdmissionReview" }

export interface Admitted {
  readonly apiVersion: string
  readonly request: Request
}

const operations: ReadonlyArray<string> = ["CREATE", "UPDATE", "DELETE", "CONNECT"]

const isOperation = (text: string): text is Operation => operations.includes(text)

export const read = (text: string): Result.Result<Admitted, InvalidReview> =>
  Result.flatMap(parse(reviewKind, text), (envelope) => requestOf(envelope))

const requestOf = ({ apiVersion, request, uid }: Envelope): Result.Result<Admitted, InvalidReview> => {
  const invalid = (message: string) => Result.fail({ apiVersion, uid, message })
  const operation = textAt(request, "operation")
  if (!isOperation(operation)) return invalid("the request has no operation that is known")
  const present = { object: presentIn(request["object"]), oldObject: presentIn(request["oldObject"]) }
  const missing = needed[operation].find((field) => present[field] === undefined)
  if (missing !== undefined) return invalid(`the request is a ${operation} and has no ${missing}`)
  const told = (field: Part) => (needed[operation].includes(field) ? present[field] : undefined)
  return Result.succeed({
    apiVersion,
    request: {
      uid,
      operation,
      kind: kindOf(request["kind"]),
      name: textAt(request, "name"),
      namespace: textAt(request, "namespace") || undefined,
      subresource: textAt(request, "subResource") || undefined,
      user: userOf(request["userInfo"]),
      dryRun: request["dryRun"] === true,
      options: request["options"],
      object: told("object"),
      oldObject: told("oldObject")
    }
  })
}

type Part = "object" | "oldObject"

/** A CONNECT has options instead of an object. */
const needed: Readonly<Record<Operation, ReadonlyArray<Part>>> = {
  CREATE: ["object"],
  UPDATE: ["object", "oldObject"],
  DELETE: ["oldObject"],
  CONNECT: []
}

const presentIn = (value: unknown): KubeObject | undefined => (isObject(value) ? value : undefined)

const isObject = (value: unknown): value is KubeObject => isFields(value) && isFields(value["metadata"])

const kindOf = (value: unknown): Kind => {
  const fields = isFields(value) ? value : {}
  return { group: textAt(fields, "group"), version: textAt(fields, "version"), kind: textAt(fields, "kind") }
}

const userOf = (value: unknown): UserInfo => {
  const fields = isFields(value) ? value : {}
  const extra = isFields(fields["extra"]) ? fields["extra"] : {}
  return {
    username: textAt(fields, "username"),
    uid: textAt(fields, "uid") || undefined,
    groups: texts(fields["groups"]),
    extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, texts(values)]))
  }
}

const texts = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : []

/** The AdmissionReview of a response. */
export const answer = ({ apiVersion, request }: Admitted, verdict: Verdict): Fields => ({
  kind: reviewKind.kind,
  apiVersion,
  response: {
    uid: request.uid,
    allowed: verdict.refusal === undefined,
    ...(verdict.refusal === undefined
      ? { status: { metadata: {}, code: 200 }, ...patchOf(request.object, verdict.object) }
      : { status: verdict.refusal }),
    ...(verdict.warnings.length === 0 ? {} : { warnings: verdict.warnings })
  }
})

const patchOf = (object: KubeObject | undefined, result: KubeObject | undefined) => {
  const operations = object === undefined || result === undefined ? [] : diff(object, result)
  return operations.length === 0 ? {} : { patch: Base64.encode(JSON.stringify(operations)), patchType: "JSONPatch" }
}

/** The response to an invalid review, with the uid if there is one. */
export const errorResponse = (invalid: InvalidReview, code: number): Fields => ({
  kind: reviewKind.kind,
  apiVersion: invalid.apiVersion,
  response: { uid: invalid.uid, allowed: false, status: failure(code, invalid.message) }
})

/** The response if no envelope could be read. */
export const invalidReview = (message: string): InvalidReview => ({ apiVersion: newest(reviewKind), uid: "", message })

const reasons: Readonly<Record<number, string>> = {
  400: "BadRequest",
  408: "Timeout",
  413: "RequestEntityTooLarge",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout"
}

const failure = (code: number, message: string): Status.Status =>
  Status.failure({ code, reason: reasons[code] ?? "InternalError", message })
