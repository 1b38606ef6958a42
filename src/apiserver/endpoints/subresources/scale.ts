/**
 * The scale subresource: `spec.replicas` of a workload as an autoscaling/v1 Scale. Source: pkg/registry/apps and
 * pkg/registry/core/replicationcontroller: ScaleREST.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Selector from "../../../kube/Selector.ts"
import { at, clone, ensureObject, get, isObject, objectAt, put, set, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import * as Admission from "../../admission/Admission.ts"
import * as converted from "../../apiextensions/conversion/converted.ts"
import * as body from "../../body.ts"
import * as jsonPatch from "../patch/jsonPatch.ts"
import * as mergePatch from "../patch/mergePatch.ts"
import * as StatusError from "../../StatusError.ts"
import type { Target } from "../../routing.ts"
import * as fieldValidation from "../../validation/fieldValidation.ts"
import { invalidValue } from "../../validation/validate.ts"
import type { ResourceDefinition } from "../../scheme/ResourceDefinition.ts"
import type { RequestScope } from "../../admission/Admission.ts"
import * as Version from "../../storage/Version.ts"
import * as read from "../read.ts"
import { optionsOf } from "../change.ts"
import type { Change, WriteOptions } from "../change.ts"
import type { SubresourceHandler } from "./subresource.ts"
import * as write from "../write.ts"

const scaleType = "autoscaling.Scale"
const scaleGroup = { group: "autoscaling", kind: "Scale" }

export const scale: SubresourceHandler = Effect.fnUntraced(function* (context, target) {
  const { resource } = target
  const method = context.request.method
  const shown = (version: Version.Version) => JSON.stringify(scaleOf(resource, Version.parse(version)))
  if (method === "GET" || method === "HEAD") {
    const found = yield* StatusError.toEffect(read.find(context, target))
    yield* converted.prepare(context, resource, [found]) ?? Effect.void
    return [200, shown(converted.ready(resource, found))]
  }
  if (method !== "PUT" && method !== "PATCH") {
    yield* StatusError.toEffect(read.find(context, target))
    return yield* StatusError.methodNotAllowed()
  }
  const options = optionsOf(context)
  const { version } = yield* write.replace(context, target, (existing) => scaled(context, target, existing, options))
  return [200, shown(version)]
})

/** The object with the number of replicas that the request asks for. */
const scaled = Effect.fnUntraced(function* (
  context: RequestScope,
  target: Target,
  existing: Version.Version,
  options: WriteOptions
): Effect.fn.Return<Change, StatusError.StatusError> {
  const object = Version.parse(existing)
  const before = scaleOf(target.resource, object)
  const wanted = yield* StatusError.toEffect(sentScale(context, target, before))
  yield* Admission.admitSubresource({
    context,
    target,
    object: wanted,
    before,
    dryRun: options.dryRun,
    as: { ...scaleGroup, version: "v1" }
  })
  const metadata = ensureObject(object, "metadata")
  for (const key of ["resourceVersion", "uid"]) put(metadata, key, textAt(wanted, "metadata", key) || undefined)
  const path = target.resource.customResource?.scale?.replicas ?? workloads.replicas
  const parent = path.slice(0, -1).reduce(ensureObject, object)
  set(parent, path.at(-1) ?? "replicas", yield* StatusError.toEffect(replicasOf(wanted, target.name)))
  return { object, options }
})

const sentScale = (
  context: RequestScope,
  target: Target,
  current: JsonObject
): JsonObject | StatusError.StatusError => {
  const wanted =
    context.request.method === "PUT"
      ? body.optional(context.request, "Scale", fieldValidation.ofBodyAs(context, scaleType))
      : patched(context, current)
  if (StatusError.isRefusal(wanted)) return wanted
  if (!isObject(wanted)) return StatusError.badRequest("the object provided is unrecognized (must be of type Scale)")
  const given = textAt(wanted, "metadata", "name")
  return given === "" || given === target.name
    ? wanted
    : StatusError.badRequest(`the name of the object (${given}) does not match the name on the URL (${target.name})`)
}

/** The paths of a Scale in the built-in kinds. */
const workloads = { replicas: ["spec", "replicas"], statusReplicas: ["status", "replicas"] } as const

const scaleOf = ({ customResource: custom }: ResourceDefinition, object: JsonObject): JsonObject => {
  const metadata = objectAt(object, "metadata") ?? {}
  const kept = ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"]
  const paths = custom?.scale ?? workloads
  const selector =
    custom === undefined
      ? selectorText(at(object, "spec", "selector"))
      : textAt(object, ...(custom.scale?.selector ?? ["", ""]))
  const replicas = at(object, ...paths.replicas) ?? 0
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: Object.fromEntries(kept.flatMap((key) => (metadata[key] === undefined ? [] : [[key, metadata[key]]]))),
    // Go omits a zero (`omitempty`).
    spec: replicas === 0 ? {} : { replicas },
    status: {
      replicas: at(object, ...paths.statusReplicas) ?? 0,
      ...(selector === "" ? {} : { selector })
    }
  }
}

/** The text form of a label selector, or of the map of a replication controller. */
const selectorText = (selector: Json | undefined): string => {
  if (!isObject(selector)) return ""
  const structured = isObject(get(selector, "matchLabels")) || Array.isArray(get(selector, "matchExpressions"))
  const parsed = Selector.fromSpec(structured ? selector : { matchLabels: plain(selector) })
  return Result.isSuccess(parsed) ? Selector.formatLabels(parsed.success) : ""
}

const plain = (labels: JsonObject): Record<string, string> =>
  Object.fromEntries(Object.keys(labels).map((key) => [key, textAt(labels, key)]))

/** A Scale has no lists: strategic merge and apply give the same result as a merge patch. */
const patched = (context: RequestScope, current: JsonObject): Json | StatusError.StatusError => {
  const sent = body.parseJson(context.request.body)
  if (sent === undefined) return StatusError.badRequest("error decoding patch: invalid JSON")
  const result =
    body.contentType(context.request) === "application/json-patch+json"
      ? jsonPatch.apply(current, sent)
      : mergePatch.apply(current, sent)
  if (StatusError.isRefusal(result) || !isObject(result)) return result
  const own = clone(result)
  return fieldValidation.ofPatchedAs(context, scaleType, () => result)(own) ?? own
}

const replicasOf = (wanted: JsonObject, name: string): number | StatusError.StatusError => {
  const replicas = at(wanted, "spec", "replicas") ?? 0
  if (typeof replicas !== "number" || !Number.isInteger(replicas)) {
    return StatusError.badRequest(
      "json: cannot unmarshal value into Go struct field ScaleSpec.spec.replicas of type int32"
    )
  }
  if (replicas < 0) {
    const error = invalidValue("spec.replicas", replicas, "must be greater than or equal to 0")
    return StatusError.invalid(scaleGroup, name, [error])
  }
  return replicas
}
