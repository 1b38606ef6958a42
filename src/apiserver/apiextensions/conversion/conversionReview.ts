/**
 * ConversionReview requests and responses. A review converts all of its objects or fails; of the metadata, a webhook may change
 * labels and annotations only. Pure, and total for any response. Source: apiextensions-apiserver, pkg/apiserver/conversion:
 * webhookConverter, with its error texts.
 */
import * as Result from "effect/Result"
import { statusWords } from "../../webhook/review.ts"
import type { Reply } from "../../webhook/WebhookCaller.ts"
import { parseJson } from "../../body.ts"
import { arrayAt, at, equal, get, isObject, objectAt, put, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import type { Errors } from "../../validation/kinds/field.ts"
import * as formats from "../../validation/kinds/formats.ts"
import type { Converter } from "../../scheme/ResourceDefinition.ts"

/** Objects of one CustomResourceDefinition to convert to one version. */
export interface Wanted {
  readonly converter: Converter
  /** Name of the version. */
  readonly to: string
  /** As JSON, with kind and apiVersion, and without a resourceVersion, which conversion may not change. */
  readonly objects: ReadonlyArray<string>
}

const group = "apiextensions.k8s.io"

const apiVersionOf = ({ group }: Converter, version: string): string => `${group}/${version}`

/** Undefined if the webhook supports no ConversionReview version of this server. */
export const requestText = ({ converter, objects, to }: Wanted, uid: string): string | undefined => {
  if (converter.reviewVersion === undefined) return undefined
  const head = `"kind":"ConversionReview","apiVersion":"${group}/${converter.reviewVersion}"`
  const desired = JSON.stringify(apiVersionOf(converter, to))
  return `{${head},"request":{"uid":${JSON.stringify(uid)},"desiredAPIVersion":${desired},"objects":[${objects.join(",")}]}}`
}

/** The converted objects in their order, or the error message. */
export const read = (wanted: Wanted, uid: string, reply: Reply): Result.Result<ReadonlyArray<JsonObject>, string> => {
  const given = givenBy(wanted.converter, uid, reply)
  if (Result.isFailure(given)) return failed(wanted, given.failure)
  const found = given.success
  const expected = wanted.objects.length
  if (found.length !== expected) {
    return Result.fail(`${about(wanted)} returned ${found.length} objects, expected ${expected}`)
  }
  const out: Array<JsonObject> = []
  for (const [index, text] of wanted.objects.entries()) {
    const one = oneOf(wanted, parseJson(text), found[index], index)
    if (Result.isFailure(one)) return Result.fail(`${about(wanted)} returned ${one.failure}`)
    out.push(one.success)
  }
  return Result.succeed(out)
}

/** The start of an error message, `conversion webhook for g.example/v1, Kind=Widget`, with the version before the conversion. */
const about = ({ converter, objects }: Wanted): string => {
  const apiVersion = textAt(parseJson(objects[0] ?? "{}"), "apiVersion")
  return `conversion webhook for ${apiVersion}, Kind=${converter.kind}`
}

export const failed = (wanted: Wanted, why: string): Result.Result<never, string> =>
  Result.fail(`${about(wanted)} failed: ${why}`)

const givenBy = (
  { reviewVersion }: Converter,
  uid: string,
  reply: Reply
): Result.Result<ReadonlyArray<Json>, string> => {
  if (reply.status < 200 || reply.status > 299) return Result.fail(statusWords(reply))
  const review = parseJson(reply.body)
  if (!isObject(review)) return Result.fail("couldn't get version/kind; json parse error: invalid JSON")
  const [version, kind] = [textAt(review, "apiVersion"), textAt(review, "kind")]
  if (kind === "") return Result.fail("Object 'Kind' is missing in the answer")
  // kube-apiserver does not validate apiVersion, kind and uid of v1beta1 responses.
  const strict = reviewVersion === "v1"
  if (strict && (version !== `${group}/v1` || kind !== "ConversionReview")) {
    return Result.fail(`expected webhook response of ${group}/v1, Kind=ConversionReview, got ${version}, Kind=${kind}`)
  }
  const response = objectAt(review, "response")
  if (response === undefined) return Result.fail("no response provided")
  const own = textAt(response, "uid")
  if (strict && own !== uid)
    return Result.fail(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(own)}`)
  const status = textAt(response, "result", "status")
  if (status !== "Success") {
    return Result.fail(textAt(response, "result", "message") || `response.result.status was '${status}', not 'Success'`)
  }
  return Result.succeed(arrayAt(response, "convertedObjects"))
}

/** One converted object, or the part of the error message after `returned`. */
const oneOf = (
  { converter, to }: Wanted,
  original: Json | undefined,
  converted: Json | undefined,
  index: number
): Result.Result<JsonObject, string> => {
  const invalid = (why: string) => Result.fail(`invalid object at index ${index}: ${why}`)
  if (!isObject(converted)) return invalid("Object 'Kind' is missing")
  const expected = apiVersionOf(converter, to)
  const apiVersion = textAt(converted, "apiVersion")
  if (apiVersion !== expected) return invalid(`invalid groupVersion (expected ${expected}, received ${apiVersion})`)
  const kind = textAt(converted, "kind")
  if (kind !== converter.kind) return invalid(`invalid kind (expected ${converter.kind}, received ${kind})`)
  const before = objectAt(original, "metadata") ?? {}
  const after = objectAt(converted, "metadata")
  for (const [key, name] of [
    ["name", "name"],
    ["namespace", "namespace"],
    ["uid", "UID"]
  ] as const) {
    const [old, given] = [textAt(before, key), textAt(after, key)]
    if (old !== given) return Result.fail(`invalid object: must have the same ${name}: ${old} != ${given}`)
  }
  return Result.map(
    Result.mapError(metadataOf(before, at(converted, "metadata")), (why) => `invalid metadata: ${why}`),
    (metadata) => {
      const { apiVersion: _apiVersion, kind: _kind, ...rest } = converted
      return { ...rest, metadata }
    }
  )
}

const decided = ["labels", "annotations"] as const

const metadataOf = (before: JsonObject, given: Json | undefined): Result.Result<JsonObject, string> => {
  if (given === undefined) return Result.fail("missing metadata in converted object")
  if (!isObject(given)) return Result.fail(`invalid metadata of type ${typeOf(given)} in converted object`)
  const out: JsonObject = { ...before }
  for (const field of decided) {
    const value = get(given, field) ?? undefined
    const fault = value === undefined || equal(value, get(before, field)) ? undefined : faultOf(field, value)
    if (fault !== undefined) return Result.fail(fault)
    put(out, field, value)
  }
  return Result.succeed(out)
}

const faultOf = (field: (typeof decided)[number], value: Json): string | undefined => {
  if (!isObject(value)) return `invalid metadata.${field} of type ${typeOf(value)} in converted object`
  for (const [key, one] of Object.entries(value)) {
    if (typeof one !== "string") {
      return `metadata.${field}[${key}] must be a string, but is ${typeOf(one)} in converted object`
    }
  }
  const errors: Errors = []
  if (field === "labels") formats.labels(errors, "metadata.labels", value)
  else formats.annotations(errors, "metadata.annotation", value)
  const faults = errors.map(({ field, message }) => `${field}: ${message}`)
  return faults.length > 1 ? `[${faults.join(", ")}]` : faults[0]
}

/** The Go type of a value, as kube-apiserver prints it. */
const typeOf = (value: Json): string => {
  if (value === null) return "<nil>"
  if (Array.isArray(value)) return "[]interface {}"
  switch (typeof value) {
    case "object":
      return "map[string]interface {}"
    case "boolean":
      return "bool"
    case "number":
      return Number.isInteger(value) ? "int64" : "float64"
    default:
      return "string"
  }
}
