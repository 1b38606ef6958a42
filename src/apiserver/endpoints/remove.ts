/** delete and deletecollection. `validation/lifecycle.ts` decides what a deletion does; this executes it. */
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
import * as read from "./read.ts"
import * as listOptions from "./listOptions.ts"
import * as write from "./write.ts"

interface Removed {
  readonly gone: boolean
  readonly version: Version.Version
}

export const remove = (context: RequestScope, target: Target, encoder: Encoder): string => {
  const options = optionsOf(context, body.optional(context.request, "DeleteOptions") ?? {})
  const version = read.find(context, target)
  admit(context, target, version, options)
  const removed = removeOne(context, target.resource, version, options)
  if (removed.gone && !target.resource.returnsDeleted) return JSON.stringify(success(target.resource, removed.version))
  return encoder.encode(removed.version)
}

/** Deletes the objects that a list with the same query returns, each like a single deletion; returns that list. */
export const removeCollection = (context: RequestScope, target: Target, encoder: Encoder): string => {
  const options = optionsOf(context, body.optional(context.request, "DeleteOptions") ?? {})
  const { metadata, versions } = read.choose(context, target)
  const collection = context.state.collection(target.resource.storage)
  // A page of an older revision may contain deleted objects.
  const present = converted.served(
    context,
    target.resource,
    versions.flatMap(({ key }) => collection.get(key) ?? [])
  )
  const refusal = firstRefusal(present, (version) => admit(context, target, version, options))
  const removed = present
    .slice(0, refusal?.index)
    .map((version) => removeOne(context, target.resource, version, options).version)
  if (refusal !== undefined) throw refusal.why
  return encoder.encodeList(removed, metadata)
}

/**
 * Admission checks all objects before any is removed, because a request that waits for webhooks is processed again. The objects before
 * the first error are removed, as by kube-apiserver.
 */
const firstRefusal = (
  versions: ReadonlyArray<Version.Version>,
  admit: (version: Version.Version) => void
): { readonly index: number; readonly why: StatusError.StatusError } | undefined => {
  for (const [index, version] of versions.entries()) {
    try {
      admit(version)
    } catch (thrown) {
      if (thrown instanceof StatusError.StatusError) return { index, why: thrown }
      throw thrown
    }
  }
  return undefined
}

const admit = (
  context: RequestScope,
  target: Target,
  version: Version.Version,
  options: lifecycle.DeleteOptions
): void => {
  const { name } = version
  context.state.admission.remove({ context, target, name, before: Version.parse(version), options })
}

/** `version` is in the version of `kind`; the stored object, of which only metadata changes, is written. */
export const removeOne = (
  context: RequestScope,
  resource: ResourceDefinition,
  version: Version.Version,
  options: lifecycle.DeleteOptions
): Removed => {
  const object = Version.parse(context.state.collection(resource.storage).get(version.key) ?? version)
  lifecycle.checkPreconditions(resource, object, options)
  holdForCleanup(resource, object)
  switch (lifecycle.markDeleted(context, resource, object, options)) {
    case "gone":
      return {
        gone: true,
        version: converted.carry(resource, version, write.erase(context, resource, object, options.dryRun))
      }
    case "changed":
      return {
        gone: false,
        version: converted.carry(resource, version, write.overwrite(context, resource, object, options.dryRun))
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
export const optionsOf = (context: RequestScope, sent: JsonObject): lifecycle.DeleteOptions => {
  const query = context.request.query
  const grace = at(sent, "gracePeriodSeconds") ?? listOptions.integer(query, "gracePeriodSeconds")
  const orphan = at(sent, "orphanDependents") ?? orphanOf(query.get("orphanDependents"))
  const policy = textAt(sent, "propagationPolicy") || (query.get("propagationPolicy") ?? "")
  const dryRuns = at(sent, "dryRun")
  if (grace !== undefined && typeof grace !== "number")
    throw StatusError.badRequest("gracePeriodSeconds must be a number")
  if (policy !== "" && orphan !== undefined) throw bothPolicies(policy)
  if (policy !== "" && !lifecycle.isPolicy(policy)) throw unsupportedPolicy(policy)
  return {
    gracePeriodSeconds: grace,
    propagationPolicy: policy === "" ? legacyPolicy(orphan) : policy,
    uid: textAt(sent, "preconditions", "uid") || undefined,
    resourceVersion: textAt(sent, "preconditions", "resourceVersion") || undefined,
    dryRun: body.dryRun(Array.isArray(dryRuns) ? dryRuns : query.getAll("dryRun"), "DeleteOptions")
  }
}

const orphanOf = (text: string | null): boolean | undefined => (text === null ? undefined : listOptions.isTrue(text))

const legacyPolicy = (orphan: Json | undefined): string | undefined =>
  orphan === true ? "Orphan" : orphan === false ? "Background" : undefined

const bothPolicies = (policy: string): StatusError.StatusError =>
  StatusError.invalid({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", [
    invalidValue("propagationPolicy", policy, "orphanDependents and deletionPropagation cannot be both set")
  ])

const unsupportedPolicy = (policy: string): StatusError.StatusError =>
  StatusError.invalid({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", [
    {
      field: "propagationPolicy",
      reason: "FieldValueNotSupported",
      message: `Unsupported value: ${JSON.stringify(policy)}: supported values: "Foreground", "Background", "Orphan", "nil"`
    }
  ])
