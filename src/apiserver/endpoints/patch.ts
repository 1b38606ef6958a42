/** patch: reads the object in the version of the path, applies the patch, and continues as an update. */
import type * as Effect from "effect/Effect"
import { clone, get, isObject, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import * as body from "../body.ts"
import * as applyPatch from "./patch/applyPatch.ts"
import * as lastApplied from "./patch/lastApplied.ts"
import * as jsonPatch from "./patch/jsonPatch.ts"
import * as mergePatch from "./patch/mergePatch.ts"
import * as strategicPatch from "./patch/strategicPatch.ts"
import * as StatusError from "../StatusError.ts"
import type { Target } from "../routing.ts"
import * as fieldValidation from "../validation/fieldValidation.ts"
import { apiVersion, hasStatus } from "../scheme/ResourceDefinition.ts"
import * as resources from "../scheme/resources.ts"
import * as RequestContext from "../RequestContext.ts"
import type { RequestScope } from "../admission/Admission.ts"
import * as Version from "../storage/Version.ts"
import { served, servedUnowned } from "../printers/Encoder.ts"
import { isTrue } from "./listOptions.ts"
import { refuseIdentity } from "./change.ts"
import type { Change, WriteOptions } from "./change.ts"
import * as write from "./write.ts"

export const mediaTypes = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml"
} as const

export const patch = (
  context: RequestScope,
  target: Target,
  options: WriteOptions
): Effect.Effect<write.Updated, StatusError.StatusError> => {
  const type = body.contentType(context.request)
  return type === mediaTypes.apply
    ? apply(context, target, options)
    : write.replace(context, target, (existing) => {
        const object = patched(context, target, existing, type)
        return StatusError.isRefusal(object) ? object : { options, object }
      })
}

const patched = (
  context: RequestScope,
  target: Target,
  existing: Version.Version,
  type: string
): JsonObject | StatusError.StatusError => {
  const result = () =>
    type === mediaTypes.json ? edited(context, target, existing) : merged(context, target, existing, type)
  const patched = result()
  if (StatusError.isRefusal(patched)) return patched
  if (!isObject(patched)) return StatusError.unprocessable("the patch does not result in an object")
  // An error quotes the patched object, which decoding changes: it is made again for the error.
  const decode =
    type === mediaTypes.strategic
      ? fieldValidation.ofMerged(context, target.resource, () => body.parseJson(context.request.body) ?? null)
      : fieldValidation.ofPatched(context, target.resource, result)
  return body.accept(patched, target.resource, decode)
}

const sentBy = (context: RequestScope): Json | StatusError.StatusError => {
  const sent = body.parseJson(context.request.body)
  return sent === undefined ? StatusError.badRequest("error decoding patch: invalid JSON") : sent
}

/** The result of a JSON patch: a copy, because an operation may put one value in two places. */
const edited = (
  context: RequestScope,
  { resource }: Target,
  existing: Version.Version
): Json | StatusError.StatusError => {
  const sent = sentBy(context)
  if (StatusError.isRefusal(sent)) return sent
  const result = jsonPatch.apply(served(resource, existing), sent)
  return StatusError.isRefusal(result) ? result : clone(result)
}

/**
 * The result of a merge. It shares structure with its two inputs, which are parsed for this alone, so it may be changed in place;
 * nothing is in it twice.
 */
const merged = (
  context: RequestScope,
  target: Target,
  existing: Version.Version,
  type: string
): Json | StatusError.StatusError => {
  const sent = sentBy(context)
  if (StatusError.isRefusal(sent)) return sent
  // Lists of a custom resource have no merge keys.
  const accepted = Object.values(mediaTypes).filter(
    (one) => target.resource.customResource === undefined || one !== mediaTypes.strategic
  )
  if (type === mediaTypes.apply || type === mediaTypes.json || !accepted.some((one) => one === type)) {
    return StatusError.unsupportedMediaType(accepted)
  }
  if (!isObject(sent)) return StatusError.badRequest("error decoding patch: json: cannot unmarshal value into Go value")
  const current = mayChangeManagedFields(sent)
    ? served(target.resource, existing)
    : servedUnowned(target.resource, existing)
  return type === mediaTypes.merge
    ? mergePatch.apply(current, sent)
    : strategicPatch.apply(current, sent, resources.shapeOf(target.resource))
}

/**
 * Whether a merge patch may change managedFields: only then are they written into the object and parsed again, which doubles the cost of
 * a small patch.
 */
const mayChangeManagedFields = (sent: JsonObject): boolean => {
  const metadata = get(sent, "metadata")
  if (hasDirective(sent) || (metadata !== undefined && !isObject(metadata))) return true
  return metadata !== undefined && (hasDirective(metadata) || Object.hasOwn(metadata, "managedFields"))
}

/** `$patch`, `$retainKeys` and the like. */
const hasDirective = (sent: JsonObject): boolean => Object.keys(sent).some((key) => key.startsWith("$"))

/** Server-side apply creates an object that does not exist. Objects are in stored form. */
const apply = (
  context: RequestScope,
  target: Target,
  options: WriteOptions
): Effect.Effect<write.Updated, StatusError.StatusError> =>
  write.upsert(context, target, (existing) => applied(context, target, existing, options))

const applied = (
  context: RequestScope,
  target: Target,
  existing: Version.Version | undefined,
  options: WriteOptions
): Change | StatusError.StatusError => {
  const { resource, name, subresource } = target
  const query = context.request.query
  if ((query.get("fieldManager") ?? "") === "") return managerRequired()
  const sent = body.parseJson(context.request.body)
  if (!isObject(sent)) return StatusError.badRequest("error decoding YAML: the body of an apply is one object")
  if (textAt(sent, "apiVersion") === "" || textAt(sent, "kind") === "") {
    return StatusError.badRequest("error decoding YAML: Object 'Kind' is missing")
  }
  const whole = body.configuration(sent, resource, fieldValidation.ofApplied(resource))
  if (StatusError.isRefusal(whole)) return whole
  const config = onlyPart(target, whole)
  const refusal = subresource === "" ? refuseIdentity(target, config) : undefined
  if (refusal !== undefined) return refusal
  if (existing === undefined && subresource !== "") return StatusError.notFound(resource, name)
  const live = existing === undefined ? undefined : { object: Version.parse(existing), owners: existing.owners }
  const isKubectl = options.manager === lastApplied.manager && subresource === ""
  const shape = resources.shapeOf(resource)
  const allowed =
    isKubectl && live !== undefined ? lastApplied.unchanged(live.object, apiVersion(resource), shape) : undefined
  const result = applyPatch.apply(live, config, {
    allowed,
    manager: { manager: options.manager, operation: "Apply", apiVersion: apiVersion(resource), subresource },
    force: isTrue(query.get("force")),
    time: RequestContext.timestamp(context.now),
    shape,
    settle: (merged) =>
      resource.customResource === undefined ? void resources.asStored(resource, merged) : resource.defaults?.(merged)
  })
  if (StatusError.isRefusal(result)) return result
  if (isKubectl) lastApplied.follow(result.object, whole)
  return { object: result.object, options: { ...options, owners: result.owners } }
}

/** An apply manages only the fields that its endpoint can change. */
const onlyPart = ({ resource, subresource }: Target, config: JsonObject): JsonObject => {
  if (subresource === "status" || subresource === "approval") {
    const status = get(config, "status")
    return status === undefined ? {} : { status }
  }
  if (hasStatus(resource)) delete config["status"]
  return config
}

const managerRequired = (): StatusError.StatusError =>
  StatusError.invalid({ group: "meta.k8s.io", kind: "PatchOptions" }, "", [
    { field: "fieldManager", reason: "FieldValueRequired", message: "Required value: is required for apply patch" }
  ])
