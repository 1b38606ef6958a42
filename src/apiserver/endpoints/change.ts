/** The new state of an object that a request asks for, and what creates and updates have in common. */
import type * as Effect from "effect/Effect"
import { textAt } from "../json.ts"
import type { JsonObject } from "../json.ts"
import type { RequestScope } from "../admission/Admission.ts"
import * as converted from "../apiextensions/conversion/converted.ts"
import type { Target } from "../routing.ts"
import { apiVersion } from "../scheme/ResourceDefinition.ts"
import type { ResourceDefinition } from "../scheme/ResourceDefinition.ts"
import * as StatusError from "../StatusError.ts"
import { commit, versionOf, withoutRevision } from "../storage/commit.ts"
import type * as managedFields from "../storage/managedFields.ts"
import type { Version } from "../storage/Version.ts"

export interface WriteOptions {
  readonly dryRun: boolean
  /** The field manager. */
  readonly manager: string
  /** The managed fields after the write, where an apply has computed them. */
  readonly owners?: managedFields.Owners
}

/** The write options of the query, which `writeOptions.ts` has checked; the manager defaults to the product in the User-Agent, as in kube-apiserver. */
export const optionsOf = (context: RequestScope): WriteOptions => {
  const { headers, query } = context.request
  return {
    dryRun: query.has("dryRun"),
    manager: query.get("fieldManager") || (headers["user-agent"] ?? "").split("/")[0] || "unknown"
  }
}

/** The new state of an object, whole as a client sends it, and how to write it. */
export interface Change {
  readonly object: JsonObject
  readonly options: WriteOptions
}

export type Effectful<A> = Effect.Effect<A, StatusError.StatusError>

export const writerOf = ({ resource, subresource }: Target, { manager }: WriteOptions): managedFields.Manager => ({
  manager,
  operation: "Update",
  apiVersion: apiVersion(resource),
  subresource
})

/** A valid object that is ready to be stored. */
export interface Ready {
  readonly object: JsonObject
  readonly owners: managedFields.Owners
  /** Whether the addresses that it was given are still its own. */
  readonly isAllocated: () => boolean
}

/** The object in the storage version of its kind, where a webhook converts it; undefined otherwise. */
export const keptOf = (
  context: RequestScope,
  resource: ResourceDefinition,
  { object, owners }: Ready
): Effectful<converted.Kept> | undefined =>
  converted.kept(context, resource, () => versionOf(context, resource, object, owners, resource.version))

/** Stores a valid object, in the storage version of its kind. */
export const save = (
  context: RequestScope,
  resource: ResourceDefinition,
  { object, owners }: Ready,
  kept: converted.Kept | undefined,
  dryRun: boolean
): Version => {
  const version = () => versionOf(context, resource, object, owners, converted.schemaVersionOf(resource))
  if (kept === undefined)
    return dryRun ? withoutRevision(context, resource, version()) : commit(context, resource, version())
  const { read, stored } = converted.keptAt(resource, kept, context.state.collection(resource.storage).upcoming())
  return dryRun ? withoutRevision(context, resource, read) : commit(context, resource, stored, read)
}

/** A missing namespace becomes that of the path; another one is refused. */
export const refuseNamespace = (
  { resource, namespace }: Target,
  object: JsonObject
): StatusError.StatusError | undefined => {
  const given = textAt(object, "metadata", "namespace")
  return given === "" || given === (resource.namespaced ? namespace : "")
    ? undefined
    : StatusError.badRequest("the namespace of the provided object does not match the namespace sent on the request")
}

/** Refuses an object that is not the one that the path names, whether that exists or not. */
export const refuseIdentity = (target: Target, object: JsonObject): StatusError.StatusError | undefined => {
  const given = textAt(object, "metadata", "name")
  return given === "" || given === target.name
    ? refuseNamespace(target, object)
    : StatusError.badRequest(`the name of the object (${given}) does not match the name on the URL (${target.name})`)
}
