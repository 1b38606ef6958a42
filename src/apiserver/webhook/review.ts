/**
 * Encodes and decodes reviews, `admission.k8s.io/v1`. Pure and total: a response may be anything. Source:
 * apiserver/pkg/admission/plugin/webhook/request: VerifyAdmissionResponse, including its messages.
 */
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import { parseJson } from "../body.ts"
import { arrayAt, at, get, isObject, objectAt, put, textAt } from "../json.ts"
import type { JsonObject } from "../json.ts"
import type { GroupVersionKind } from "../admission/Admission.ts"
import type { ResourceDefinition } from "../scheme/ResourceDefinition.ts"
import type { Reply } from "./WebhookCaller.ts"
import type { Phase } from "./configuration.ts"
import { isNamespace } from "./matching.ts"
import type { Versioned } from "../admission/attributes.ts"

const apiVersion = "admission.k8s.io/v1"

/** The result of a call. */
export type CallResult =
  | { readonly _tag: "Replied"; readonly uid: string; readonly reply: Reply }
  /** The message after the name of the webhook. */
  | { readonly _tag: "Failed"; readonly why: string }

/** The request as JSON, without a uid. */
export const requestText = (request: Versioned): string => {
  const { dryRun, options = null, ...rest } = requestOf(request)
  return JSON.stringify({ ...rest, object: request.object, oldObject: request.oldObject, dryRun, options })
}

/** The request without a uid and without its objects, as `AdmissionRequest` has it. */
export const requestOf = (request: Versioned): JsonObject => {
  const { as, resource, name, operation, options, target, context } = request
  const { subresource } = target
  const { user } = context.request
  // A path that names a namespace is in it, even where the namespace is what is written.
  const namespace = isNamespace(target.resource) ? target.name : target.namespace
  return {
    kind: groupVersionKind(as ?? resource),
    resource: groupVersionResource(resource),
    ...(subresource === "" ? {} : { subResource: subresource }),
    requestKind: groupVersionKind(as ?? target.resource),
    requestResource: groupVersionResource(target.resource),
    ...(subresource === "" ? {} : { requestSubResource: subresource }),
    ...(name === "" ? {} : { name }),
    ...(namespace === "" ? {} : { namespace }),
    operation,
    userInfo: {
      username: user.name,
      ...(user.uid === undefined ? {} : { uid: user.uid }),
      groups: [...user.groups],
      ...(user.extra === undefined ? {} : { extra: user.extra as unknown as JsonObject })
    },
    dryRun: request.dryRun,
    ...(options === undefined ? {} : { options })
  }
}

const groupVersionKind = ({ group, kind, version }: GroupVersionKind) => ({ group, version, kind })

const groupVersionResource = ({ group, plural, version }: ResourceDefinition) => ({ group, version, resource: plural })

/** The whole review of one call. */
export const reviewText = (uid: string, request: string): string =>
  `{"kind":"AdmissionReview","apiVersion":"${apiVersion}","request":{"uid":${JSON.stringify(uid)},${request.slice(1)}}`

export interface Verdict {
  readonly allowed: boolean
  /** The status of a denial. */
  readonly status: JsonObject | undefined
  /** The text of a JSON patch. */
  readonly patch: string | undefined
  readonly warnings: ReadonlyArray<string>
}

/** Fails with the message after the name of the webhook. */
export const read = (result: CallResult, phase: Phase): Result.Result<Verdict, string> => {
  if (result._tag === "Failed") return Result.fail(`failed to call webhook: ${result.why}`)
  const { reply, uid } = result
  if (reply.status < 200 || reply.status > 299) return Result.fail(`failed to call webhook: ${statusWords(reply)}`)
  const review = parseJson(reply.body)
  if (!isObject(review))
    return Result.fail("failed to call webhook: couldn't get version/kind; json parse error: invalid JSON")
  const given = textAt(review, "kind")
  if (given === "") return Result.fail("failed to call webhook: Object 'Kind' is missing in the answer")
  return Result.mapError(verdictOf(review, uid, phase), (why) => `received invalid webhook response: ${why}`)
}

export const statusWords = ({ body, status }: { readonly status: number; readonly body: string }): string => {
  if (status === 404) return "the server could not find the requested resource"
  if (status >= 500) {
    return `an error on the server (${JSON.stringify(body.slice(0, 2048))}) has prevented the request from succeeding`
  }
  return `the server rejected our request for an unknown reason (${status})`
}

const verdictOf = (review: JsonObject, uid: string, phase: Phase): Result.Result<Verdict, string> => {
  const response = objectAt(review, "response")
  if (response === undefined) return Result.fail("webhook response was absent")
  const given = textAt(response, "uid")
  if (given !== uid) return Result.fail(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(given)}`)
  const [version, kind] = [textAt(review, "apiVersion"), textAt(review, "kind")]
  if (version !== apiVersion || kind !== "AdmissionReview") {
    return Result.fail(`expected webhook response of ${apiVersion}, Kind=AdmissionReview, got ${version}, Kind=${kind}`)
  }
  return Result.map(patchOf(response, phase), (patch) => ({
    allowed: get(response, "allowed") === true,
    status: objectAt(response, "status"),
    patch,
    warnings: arrayAt(response, "warnings").filter((one) => typeof one === "string")
  }))
}

const patchOf = (response: JsonObject, phase: Phase): Result.Result<string | undefined, string> => {
  const patch = textAt(response, "patch")
  const type = at(response, "patchType") ?? undefined
  if (phase === "validating") {
    if (patch !== "") return Result.fail("validating webhook may not return response.patch")
    return type === undefined
      ? Result.succeed(undefined)
      : Result.fail("validating webhook may not return response.patchType")
  }
  if (patch === "" && type === undefined) return Result.succeed(undefined)
  if (type === undefined) return Result.fail("webhook returned response.patch but not response.patchType")
  if (patch === "") return Result.fail("webhook returned response.patchType but not response.patch")
  if (type !== "JSONPatch") return Result.fail(`unsupported patch type ${JSON.stringify(type)}`)
  return Result.mapError(Base64.decodeString(patch), () => "response.patch is not base64")
}

/**
 * The status of a denial: that of the webhook, with the name of the webhook before its message, and with an error code. Source:
 * apiserver/pkg/admission/plugin/webhook/errors: ToStatusErr.
 */
export const denial = (name: string, given: JsonObject | undefined): JsonObject => {
  const denied = `admission webhook ${JSON.stringify(name)} denied the request`
  const said = textAt(given, "message") || textAt(given, "reason")
  const code = at(given, "code")
  const out: JsonObject = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: said === "" ? `${denied} without explanation` : `${denied}: ${said}`
  }
  put(out, "reason", textAt(given, "reason") || undefined)
  put(out, "details", objectAt(given, "details"))
  out["code"] = typeof code === "number" && Number.isInteger(code) && code >= 400 && code <= 599 ? code : 400
  return out
}
