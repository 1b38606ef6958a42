/** delete and deletecollection. `validation/lifecycle.ts` decides what a deletion does; this executes it. */
import * as Effect from "effect/Effect"
import { at, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import * as body from "../body.ts"
import * as converted from "../apiextensions/conversion/converted.ts"
import { holdForCleanup } from "../apiextensions/Definition.ts"
import * as StatusError from "../StatusError.ts"
import type { Target } from "../routing.ts"
import { invalidValue } from "../validation/validate.ts"
import * as lifecycle from "../validation/lifecycle.ts"
import type { ResourceDefinition } from "../scheme/ResourceDefinition.ts"
import type { RequestScope } from "../admission/Admission.ts"
import * as Version from "../storage/Version.ts"
import type { Encoder } from "../printers/Encoder.ts"
import type { Effectful } from "./change.ts"
import * as read from "./read.ts"
import { retried } from "./write.ts"
import * as listOptions from "./listOptions.ts"
import { erase, overwrite } from "../storage/commit.ts"

interface Removed {
  readonly gone: boolean
  readonly version: Version.Version
}

type Verb = (context: RequestScope, target: Target, encoder: Encoder) => Effectful<string>

export const remove: Verb = (context, target, encoder) => {
  const options = sentOptions(context)
  if (StatusError.isRefusal(options)) return options
  const found = read.find(context, target)
  if (StatusError.isRefusal(found)) return found
  return StatusError.andThen(admitted(context, target, found.key, options), (removed) => {
    if (removed === "absent") return StatusError.notFound(target.resource, target.name)
    const { gone, version } = removed
    return Effect.succeed(
      gone && !target.resource.returnsDeleted
        ? JSON.stringify(success(target.resource, version))
        : encoder.encode(version)
    )
  })
}

/**
 * Deletes the objects that a list with the same query returns, each like a single deletion; returns that list. The objects before the first
 * error are removed, as by kube-apiserver.
 */
export const removeCollection: Verb = (context, target, encoder) => {
  const options = sentOptions(context)
  if (StatusError.isRefusal(options)) return options
  const chosen = read.choose(context, target)
  if (StatusError.isRefusal(chosen)) return chosen
  const { metadata, versions } = chosen
  const removed = Effect.forEach(versions, ({ key }) => admitted(context, target, key, options))
  return Effect.map(removed, (all) =>
    encoder.encodeList(
      all.flatMap((one) => (one === "absent" ? [] : one.version)),
      metadata
    )
  )
}

const sentOptions = (context: RequestScope): lifecycle.DeleteOptions | StatusError.StatusError => {
  const sent = body.optional(context.request, "DeleteOptions")
  return StatusError.isRefusal(sent) ? sent : optionsOf(context, sent ?? {})
}

/** Deletes an object that admission has seen as it is; an object that changes meanwhile is admitted again. */
const admitted = (
  context: RequestScope,
  target: Target,
  key: string,
  options: lifecycle.DeleteOptions
): Effectful<Removed | "absent"> => {
  const { resource } = target
  const collection = context.state.collection(resource.storage)
  const name = key.slice(key.lastIndexOf("/") + 1)
  return retried(context, { ...target, name }, (): Effectful<Removed | "absent" | undefined> => {
    const stored = collection.get(key)
    if (stored === undefined) return Effect.succeed("absent")
    return StatusError.after(converted.prepare(context, resource, [stored]), () => {
      const version = converted.ready(resource, stored)
      const deletion = { context, target, name: version.name, before: Version.parse(version), options }
      return StatusError.after(context.state.admission.remove(deletion), () =>
        collection.get(key) === stored
          ? StatusError.toEffect(removeOne(context, resource, version, options))
          : Effect.undefined
      )
    })
  })
}

/** `version` is in the version of `kind`; the stored object, of which only metadata changes, is written. */
export const removeOne = (
  context: RequestScope,
  resource: ResourceDefinition,
  version: Version.Version,
  options: lifecycle.DeleteOptions
): Removed | StatusError.StatusError => {
  const object = Version.parse(context.state.collection(resource.storage).get(version.key) ?? version)
  const refusal = lifecycle.refusePreconditions(resource, object, options)
  if (refusal !== undefined) return refusal
  holdForCleanup(resource, object)
  switch (lifecycle.markDeleted(context, resource, object, options)) {
    case "gone":
      return {
        gone: true,
        version: converted.carry(resource, version, erase(context, resource, object, options.dryRun))
      }
    case "changed":
      return {
        gone: false,
        version: converted.carry(resource, version, overwrite(context, resource, object, options.dryRun))
      }
    case "unchanged":
      return { gone: false, version }
  }
}

const success = (resource: ResourceDefinition, version: Version.Version): Json => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Success",
  details: {
    name: version.name,
    ...(resource.group === "" ? {} : { group: resource.group }),
    kind: resource.plural,
    uid: textAt(Version.parse(version), "metadata", "uid")
  }
})

/** The options of the body, or of the query where the body has none. */
export const optionsOf = (
  context: RequestScope,
  sent: JsonObject
): lifecycle.DeleteOptions | StatusError.StatusError => {
  const query = context.request.query
  const grace = at(sent, "gracePeriodSeconds") ?? listOptions.integer(query, "gracePeriodSeconds")
  if (StatusError.isRefusal(grace)) return grace
  const orphan = at(sent, "orphanDependents") ?? orphanOf(query.get("orphanDependents"))
  const policy = textAt(sent, "propagationPolicy") || (query.get("propagationPolicy") ?? "")
  const dryRuns = at(sent, "dryRun")
  if (grace !== undefined && typeof grace !== "number") {
    return StatusError.badRequest("gracePeriodSeconds must be a number")
  }
  if (policy !== "" && orphan !== undefined) return bothPolicies(policy)
  if (policy !== "" && !lifecycle.isPolicy(policy)) return unsupportedPolicy(policy)
  const unsupported = Array.isArray(dryRuns) ? dryRuns.find((one) => one !== "All") : undefined
  if (unsupported !== undefined) return unsupportedDryRun(unsupported)
  return {
    gracePeriodSeconds: grace,
    propagationPolicy: policy === "" ? legacyPolicy(orphan) : policy,
    uid: textAt(sent, "preconditions", "uid") || undefined,
    resourceVersion: textAt(sent, "preconditions", "resourceVersion") || undefined,
    dryRun: Array.isArray(dryRuns) ? dryRuns.length > 0 : query.has("dryRun")
  }
}

const orphanOf = (text: string | null): boolean | undefined => (text === null ? undefined : listOptions.isTrue(text))

const legacyPolicy = (orphan: Json | undefined): string | undefined =>
  orphan === true ? "Orphan" : orphan === false ? "Background" : undefined

const bothPolicies = (policy: string): StatusError.StatusError =>
  StatusError.invalid({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", [
    invalidValue("propagationPolicy", policy, "orphanDependents and deletionPropagation cannot be both set")
  ])

const unsupportedDryRun = (value: Json): StatusError.StatusError =>
  StatusError.invalid({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", [
    {
      field: "dryRun",
      reason: "FieldValueNotSupported",
      message: `Unsupported value: ${JSON.stringify(value)}: supported values: "All"`
    }
  ])

const unsupportedPolicy = (policy: string): StatusError.StatusError =>
  StatusError.invalid({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", [
    {
      field: "propagationPolicy",
      reason: "FieldValueNotSupported",
      message: `Unsupported value: ${JSON.stringify(policy)}: supported values: "Foreground", "Background", "Orphan", "nil"`
    }
  ])
