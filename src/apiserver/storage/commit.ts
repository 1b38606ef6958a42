/**
 * What a request writes to the store, in one synchronous section: versions of objects, with the next revision. The audit log learns from here
 * what a request has written.
 */
import { objectAt, put, textAt } from "../json.ts"
import type { JsonObject } from "../json.ts"
import type { RequestContext } from "../RequestContext.ts"
import type { ResourceDefinition } from "../scheme/ResourceDefinition.ts"
import * as resources from "../scheme/resources.ts"
import * as metadata from "../validation/metadata.ts"
import type { Collection } from "./Collection.ts"
import * as managedFields from "./managedFields.ts"
import * as Version from "./Version.ts"

/** The kinds that share a storage; the selectable fields are those of all of them. */
const resourcesByStorage = new Map<string, ReadonlyArray<ResourceDefinition>>()

const resourcesOf = (storage: string): ReadonlyArray<ResourceDefinition> => {
  const found = resourcesByStorage.get(storage)
  if (found !== undefined) return found
  const created = resources.all.filter((resource) => resource.storage === storage)
  resourcesByStorage.set(storage, created)
  return created
}

export const versionOf = (
  context: RequestContext,
  resource: ResourceDefinition,
  object: JsonObject,
  owners: managedFields.Owners,
  form: string | undefined
): Version.Version => {
  const revision = context.state.collection(resource.storage).upcoming()
  return Version.make(
    resourcesOf(resource.storage),
    metadata.canonical(object, String(revision)),
    revision,
    owners,
    form
  )
}

/** A dry run has no revision: the object has that of the one it would replace, or none. */
export const withoutRevision = (
  context: RequestContext,
  resource: ResourceDefinition,
  version: Version.Version
): Version.Version => {
  const shown = Version.parse(version)
  const before = context.state.collection(resource.storage).get(version.key)
  put(objectAt(shown, "metadata") ?? {}, "resourceVersion", before?.revision.toString())
  return Version.make(resourcesOf(resource.storage), shown, version.revision, version.owners, version.schemaVersion)
}

export const commit = (
  context: RequestContext,
  resource: ResourceDefinition,
  version: Version.Version,
  read: Version.Version = version
): Version.Version => {
  const collection = context.state.collection(resource.storage)
  collection.store(version)
  context.written.last = version
  if (resource.lifetime !== undefined) collection.expiries.note(version, context.now + resource.lifetime * 1000)
  return read
}

/** Removes an object from the store; its last state has the revision of the removal. It is in its stored version by default. */
export const erase = (
  context: RequestContext,
  resource: ResourceDefinition,
  object: JsonObject,
  dryRun: boolean,
  form?: string
): Version.Version => {
  const collection = context.state.collection(resource.storage)
  const before = storedOf(collection, object)
  const last = versionOf(context, resource, object, before?.owners ?? managedFields.none, form ?? before?.schemaVersion)
  if (dryRun) return last
  collection.remove(last)
  context.written.last = last
  return last
}

/** Removes expired objects before a request reads the collection: events have a lifetime. */
export const expire = (context: RequestContext, resource: ResourceDefinition): void => {
  if (resource.lifetime === undefined) return
  const collection = context.state.collection(resource.storage)
  for (const { key, revision } of collection.expiries.take(context.now)) {
    const version = collection.get(key)
    if (version?.revision === revision) erase(context, resource, Version.parse(version), false)
  }
}

/**
 * Overwrites a stored object, without validating the update, in its stored version and without changing its managed fields: for writes
 * by the server in deletions, bindings and evictions.
 */
export const overwrite = (
  context: RequestContext,
  resource: ResourceDefinition,
  object: JsonObject,
  dryRun: boolean
): Version.Version => {
  const before = storedOf(context.state.collection(resource.storage), object)
  const version = versionOf(context, resource, object, before?.owners ?? managedFields.none, before?.schemaVersion)
  return dryRun ? withoutRevision(context, resource, version) : commit(context, resource, version)
}

const storedOf = (collection: Collection, object: JsonObject): Version.Version | undefined =>
  collection.get(Version.keyOf(textAt(object, "metadata", "namespace"), textAt(object, "metadata", "name")))
