/** Properties of reviews: any text is a review or an `InvalidReview`, and the response has the version and uid of the request. */
import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { isDeepStrictEqual } from "node:util"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import type { Json } from "../../../src/apiserver/json.ts"
import { apply } from "../../../src/apiserver/endpoints/patch/jsonPatch.ts"
import * as Admission from "../../../src/manager/webhooks/admission.ts"
import { checkProperty } from "../../support/property.ts"
import { json } from "./json.ts"

/** Mostly the valid value, so that often only one member is invalid. */
const often = (usual: string, others: Schema.Codec<Json>) =>
  Schema.Union([...Array.from({ length: 8 }, () => Schema.Literal(usual)), others])

const any = json(1) as Schema.Codec<Json>
const metadata = Schema.Struct({ name: Schema.Literals(["a", "b"]) })
const object = Schema.Struct({ metadata, spec: json(2) })
const some = Schema.Union([object, object, object, Schema.Null, any])

const Review = Schema.Struct({
  kind: often("AdmissionReview", any),
  apiVersion: Schema.Union([
    ...Array.from({ length: 4 }, () => Schema.Literals(["admission.k8s.io/v1", "admission.k8s.io/v1beta1"])),
    any
  ]),
  request: Schema.Struct({
    uid: often("u-1", any),
    operation: Schema.Union([
      ...Array.from({ length: 4 }, () => Schema.Literals(["CREATE", "UPDATE", "DELETE", "CONNECT"])),
      any
    ]),
    kind: any,
    name: any,
    namespace: any,
    userInfo: Schema.Union([any, Schema.Struct({ username: any, uid: any, groups: any, extra: any })]),
    dryRun: any,
    options: any,
    object: some,
    oldObject: some
  })
})

const parsed = (value: unknown): any => JSON.parse(JSON.stringify(value))

const reviews = Arbitrary.map(Arbitrary.schema(Review), parsed)
const texts = Arbitrary.schema(Schema.Union([Schema.String, json(2)]))
const verdicts = Arbitrary.map(
  Arbitrary.all([reviews, Arbitrary.schema(object)] as const),
  ([review, result]) => [review, parsed(result)] as const
)

const isText = (value: unknown): value is string => typeof value === "string"

/** What the API requires of a review. */
const isReview = (value: any): boolean => {
  const { apiVersion, kind, request } = value
  const has = (field: string) => {
    const one = request[field]
    return typeof one === "object" && one !== null && typeof one.metadata === "object" && !Array.isArray(one)
  }
  return (
    kind === "AdmissionReview" &&
    ["admission.k8s.io/v1", "admission.k8s.io/v1beta1"].includes(apiVersion) &&
    isText(request.uid) &&
    request.uid !== "" &&
    (request.operation === "CONNECT" ||
      (request.operation === "CREATE" && has("object")) ||
      (request.operation === "UPDATE" && has("object") && has("oldObject")) ||
      (request.operation === "DELETE" && has("oldObject")))
  )
}

/** The object after the patch; undefined if the patch is invalid. */
const patched = (object: KubeObject, patch: string): unknown => {
  const text = Base64.decodeString(patch)
  return Result.isSuccess(text) ? apply(object as unknown as Json, JSON.parse(text.success)) : undefined
}

const allowed = { refusal: undefined, object: undefined, warnings: [] }

describe("Admission", () => {
  checkProperty("any text is a review, or an InvalidReview with a message", texts, (value) => {
    const found = Admission.read(isText(value) ? value : JSON.stringify(value))
    return Result.isSuccess(found) || (found.failure.message !== "" && !found.failure.message.includes("\n"))
  })

  checkProperty("a review is read if and only if its request is complete", reviews, (value) => {
    const found = Admission.read(JSON.stringify(value))
    return Result.isSuccess(found) === isReview(value)
  })

  checkProperty("an object that the operation does not have is left out", reviews, (value) => {
    const found = Admission.read(JSON.stringify(value))
    if (Result.isFailure(found)) return true
    const { object, oldObject, operation } = found.success.request
    return (
      (object !== undefined) === ["CREATE", "UPDATE"].includes(operation) &&
      (oldObject !== undefined) === ["UPDATE", "DELETE"].includes(operation)
    )
  })

  checkProperty("an InvalidReview keeps version and uid where they can be read", reviews, (value) => {
    const found = Admission.read(JSON.stringify(value))
    if (Result.isSuccess(found)) return true
    const { apiVersion, response } = parsed(Admission.errorResponse(found.failure, 400))
    const isKnown = value.kind === "AdmissionReview" && String(value.apiVersion).startsWith("admission.k8s.io/v1")
    return (
      response.allowed === false &&
      (!isKnown ||
        !["admission.k8s.io/v1", "admission.k8s.io/v1beta1"].includes(value.apiVersion) ||
        (apiVersion === value.apiVersion && response.uid === (isText(value.request.uid) ? value.request.uid : "")))
    )
  })

  checkProperty("a response has the version and uid of its request", reviews, (value) => {
    const found = Admission.read(JSON.stringify(value))
    if (Result.isFailure(found)) return true
    const told = parsed(Admission.answer(found.success, allowed))
    return told.apiVersion === value.apiVersion && told.response.uid === value.request.uid && told.response.allowed
  })

  checkProperty(
    "the patch turns the object into the result; there is none where they are equal",
    verdicts,
    ([value, result]) => {
      const found = Admission.read(JSON.stringify(value))
      if (Result.isFailure(found)) return true
      const { object } = found.success.request
      const told = parsed(Admission.answer(found.success, { ...allowed, object: result as KubeObject })).response
      if (object === undefined || isDeepStrictEqual(object, result)) return !("patch" in told) && !("patchType" in told)
      return told.patchType === "JSONPatch" && isDeepStrictEqual(patched(object, told.patch), result)
    }
  )
})
