/**
 * The status of policies: which generation has been checked, and what the check of its types has found. It is written within the request that writes
 * a policy, where kube-controller-manager writes it a moment later. Source: pkg/controller/validatingadmissionpolicystatus.
 */
import { ensureObject, numberAt, objectAt, put } from "../json.ts"
import type { Json } from "../json.ts"
import type { RequestScope } from "../admission/Admission.ts"
import * as RequestContext from "../RequestContext.ts"
import { apiVersion } from "../scheme/ResourceDefinition.ts"
import type { ResourceDefinition } from "../scheme/ResourceDefinition.ts"
import * as resources from "../scheme/resources.ts"
import { select } from "../storage/Collection.ts"
import * as commit from "../storage/commit.ts"
import * as fields from "../storage/fields.ts"
import * as managedFields from "../storage/managedFields.ts"
import * as Version from "../storage/Version.ts"
import { storage } from "./configuration.ts"
import { check } from "./typeChecking.ts"

/** Whether a write to the resource may need a new status. */
export const concerns = (resource: ResourceDefinition): boolean => resource.storage === storage

/** Revisions whose status is up to date. */
const settled = new WeakSet<Version.Version>()

export const sync = (context: RequestScope, resource: ResourceDefinition): void => {
  const all = { namespace: "", labels: [], fields: [] }
  for (const version of select(context.state.collection(storage), all, context.state.log.revision())) {
    if (!settled.has(version)) settled.add(settle(context, resource, version))
  }
}

const manager = "validatingadmissionpolicy-status-controller"

const settle = (context: RequestScope, resource: ResourceDefinition, version: Version.Version): Version.Version => {
  const before = Version.parse(version)
  const generation = numberAt(before, "metadata", "generation")
  if (generation <= numberAt(before, "status", "observedGeneration")) return version
  const object = Version.parse(version)
  const status = ensureObject(object, "status")
  put(status, "observedGeneration", generation)
  const expressionWarnings = check(context, objectAt(object, "spec"))
  // An empty list is dropped, as Go encodes it.
  const typeChecking = expressionWarnings.length === 0 ? {} : { expressionWarnings }
  put(status, "typeChecking", typeChecking as unknown as Json)
  const difference = fields.between(before, object, resources.shapeOf(resource))
  const owner = { manager, operation: "Apply", apiVersion: apiVersion(resource), subresource: "status" } as const
  const time = RequestContext.timestamp(context.now)
  const owners =
    difference === undefined ? version.owners : managedFields.updated(version.owners, difference, owner, time)
  const next = commit.versionOf(context, resource, object, owners, version.schemaVersion)
  return commit.commit(context, resource, next)
}
