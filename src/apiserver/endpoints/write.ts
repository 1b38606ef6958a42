/** create and update; all patches end here as an update. The objects passed in are changed in place; objects are stored as text. */
import { at, ensureObject, equal, get, objectAt, put, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import * as body from "../body.ts"
import * as converted from "../apiextensions/conversion/converted.ts"
import type { Collection } from "../storage/Collection.ts"
import * as fields from "../storage/fields.ts"
import * as managedFields from "../storage/managedFields.ts"
import * as resources from "../scheme/resources.ts"
import { apiVersion, hasStatus } from "../scheme/ResourceDefinition.ts"
import type { ResourceDefinition } from "../scheme/ResourceDefinition.ts"
import * as StatusError from "../StatusError.ts"
import type { Target } from "../routing.ts"
import * as addresses from "../validation/addresses.ts"
import * as lifecycle from "../validation/lifecycle.ts"
import * as metadata from "../validation/metadata.ts"
import * as validate from "../validation/validate.ts"
import * as RequestContext from "../RequestContext.ts"
import type { RequestScope } from "../admission/Admission.ts"
import * as Version from "../storage/Version.ts"

export interface WriteOptions {
  readonly dryRun: boolean
  /** The field manager. */
  readonly manager: string
  /** The managed fields after the write, where an apply has computed them. */
  readonly owners?: managedFields.Owners
}

/** The write options of the query; the manager defaults to the product in the User-Agent, as in kube-apiserver. */
export const optionsOf = (context: RequestScope): WriteOptions => {
  const { headers, query } = context.request
  return {
    dryRun: body.dryRun(query.getAll("dryRun")),
    manager: query.get("fieldManager") || (headers["user-agent"] ?? "").split("/")[0] || "unknown"
  }
}

/** The kinds that share a storage; the selectable fields are those of all of them. */
const resourcesByStorage = new Map<string, ReadonlyArray<ResourceDefinition>>()

const resourcesOf = (storage: string): ReadonlyArray<ResourceDefinition> => {
  const found = resourcesByStorage.get(storage)
  if (found !== undefined) return found
  const created = resources.all.filter((resource) => resource.storage === storage)
  resourcesByStorage.set(storage, created)
  return created
}

/** How often a generated name is drawn again when it is taken. */
const generateTries = 8

export const create = (
  context: RequestScope,
  target: Target,
  object: JsonObject,
  options: WriteOptions
): Version.Version => {
  const { resource, namespace } = target
  const collection = context.state.collection(resource.storage)
  if (resource.customResource?.terminating === true) {
    throw StatusError.notAllowedWhile("create", "custom resource definition is terminating")
  }
  checkNamespace(target, object)
  const generated = textAt(object, "metadata", "name") === ""
  metadata.create(context, resource, object, namespace)
  if (generated) regenerateName(context, target, object)
  resource.defaults?.(object)
  // Fields that admission and the server set have no manager.
  const ownersBeforeAdmission =
    options.owners ?? (isRewritten(resource) ? undefined : ownersOfNew(context, target, object, options))
  const written = { context, target, object, before: undefined, dryRun: options.dryRun }
  context.state.admission.admit(written)
  resource.onCreate?.(object)
  const owners = ownersBeforeAdmission ?? ownersOfNew(context, target, object, options)
  addresses.allocate(context, resource, object)
  validate.object(resource, object)
  context.state.admission.check(written)
  const name = textAt(object, "metadata", "name")
  if (collection.get(Version.keyOf(resource.namespaced ? namespace : "", name)) !== undefined) {
    throw StatusError.alreadyExists(resource, name)
  }
  return save(context, resource, object, owners, options.dryRun)
}

/** PUT of an object that does not exist, for kinds that allow it: the name comes from the path, and a resourceVersion is an error. */
export const createNamed = (
  context: RequestScope,
  target: Target,
  object: JsonObject,
  options: WriteOptions
): Version.Version => {
  const sent = ensureObject(object, "metadata")
  if (textAt(sent, "uid") !== "" || !["", "0"].includes(textAt(sent, "resourceVersion"))) {
    throw StatusError.notFound(target.resource, target.name)
  }
  sent["name"] = target.name
  return create(context, { ...target, name: "" }, object, options)
}

const regenerateName = (context: RequestScope, target: Target, object: JsonObject): void => {
  const collection = context.state.collection(target.resource.storage)
  for (let i = 1; i < generateTries; i++) {
    const name = textAt(object, "metadata", "name")
    if (name === "" || collection.get(Version.keyOf(target.namespace, name)) === undefined) return
    put(objectAt(object, "metadata") ?? {}, "name", undefined)
    metadata.create(context, target.resource, object, target.namespace)
  }
}

/** A missing namespace becomes that of the path; another one is rejected. */
export const checkNamespace = ({ resource, namespace }: Target, object: JsonObject): void => {
  const given = textAt(object, "metadata", "namespace")
  if (given !== "" && given !== (resource.namespaced ? namespace : "")) {
    throw StatusError.badRequest(
      "the namespace of the provided object does not match the namespace sent on the request"
    )
  }
}

/** Stores a validated object, in the storage version of its kind. */
const save = (
  context: RequestScope,
  resource: ResourceDefinition,
  object: JsonObject,
  owners: managedFields.Owners,
  dryRun: boolean
): Version.Version => {
  const { read, stored } = converted.kept(
    context,
    resource,
    versionOf(context, resource, object, owners, converted.schemaVersionOf(resource))
  )
  return dryRun ? withoutRevision(context, resource, read) : commit(context, resource, stored, read)
}

const versionOf = (
  context: RequestScope,
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
const withoutRevision = (
  context: RequestScope,
  resource: ResourceDefinition,
  version: Version.Version
): Version.Version => {
  const shown = Version.parse(version)
  const before = context.state.collection(resource.storage).get(version.key)
  put(objectAt(shown, "metadata") ?? {}, "resourceVersion", before?.revision.toString())
  return Version.make(resourcesOf(resource.storage), shown, version.revision, version.owners, version.schemaVersion)
}

const commit = (
  context: RequestScope,
  resource: ResourceDefinition,
  version: Version.Version,
  read: Version.Version = version
): Version.Version => {
  const collection = context.state.collection(resource.storage)
  collection.store(version)
  if (resource.lifetime !== undefined) collection.expiries.note(version, context.now + resource.lifetime * 1000)
  return read
}

/** Removes an object from the store; its last state has the revision of the removal. It is in its stored version by default. */
export const erase = (
  context: RequestScope,
  resource: ResourceDefinition,
  object: JsonObject,
  dryRun: boolean,
  form?: string
): Version.Version => {
  const collection = context.state.collection(resource.storage)
  const before = storedOf(collection, object)
  const last = versionOf(context, resource, object, before?.owners ?? managedFields.none, form ?? before?.schemaVersion)
  if (!dryRun) collection.remove(last)
  return last
}

/** Removes expired objects before a request reads the collection: events have a lifetime. */
export const expire = (context: RequestScope, resource: ResourceDefinition): void => {
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
  context: RequestScope,
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

export interface Updated {
  readonly version: Version.Version
  readonly created: boolean
}

/** `object` is the whole new state that the client sent; `existing` is the present one. */
export const update = (
  context: RequestScope,
  target: Target,
  object: JsonObject,
  existing: Version.Version,
  options: WriteOptions
): Version.Version => {
  const { resource, name } = target
  checkIdentity(target, object)
  const before = Version.parse(existing)
  checkPreconditions(resource, object, before, name)
  const sentOwners = managedFields.sent(object, existing.owners)
  const next = merged(context, target, object, before)
  const written = { context, target, object: next, before, dryRun: options.dryRun }
  const whole = target.subresource === ""
  context.state.admission.admit(written)
  if (whole) addresses.allocate(context, resource, next, before)
  metadata.update(resource, next, before, target.subresource)
  if (whole) validate.object(resource, next, before)
  else validate.part(resource, target.subresource, next, before)
  context.state.admission.check(written)
  const difference = fields.between(before, next, resources.shapeOf(resource))
  const owners = options.owners ?? ownersAfter(context, target, existing.owners, sentOwners, difference, options)
  if (lifecycle.isFinished(resource, next, before))
    return erase(context, resource, next, options.dryRun, converted.schemaVersionOf(resource))
  const isSame = difference === undefined && managedFields.equalOwners(owners, existing.owners)
  // Fields that are not managed may differ too.
  const isWritten = isCurrent(context, resource, existing)
  if (isSame && isWritten && equal(metadata.canonical(next, String(existing.revision)), before)) return existing
  return save(context, resource, next, owners, options.dryRun)
}

/** Whether an object is in the present storage version; one that is not is rewritten, even when nothing changes. */
const isCurrent = (
  context: RequestScope,
  { customResource: custom, storage }: ResourceDefinition,
  { key }: Version.Version
): boolean =>
  custom === undefined || context.state.collection(storage).get(key)?.schemaVersion === custom.storageVersion

const writerOf = ({ resource, subresource }: Target, { manager }: WriteOptions): managedFields.Manager => ({
  manager,
  operation: "Update",
  apiVersion: apiVersion(resource),
  subresource
})

/** Fields of a new object that the server sets. */
const serverFields = (resource: ResourceDefinition): ReadonlyArray<string> =>
  resource.kind === "Namespace" ? ["spec", "status"] : hasStatus(resource) ? ["status"] : []

/** Kinds that `onCreate` rewrites: stringData of a Secret, the name label of a Namespace. */
const isRewritten = (resource: ResourceDefinition): boolean =>
  resource.group === "" && (resource.kind === "Secret" || resource.kind === "Namespace")

const ownersOfNew = (
  context: RequestScope,
  target: Target,
  object: JsonObject,
  options: WriteOptions
): managedFields.Owners =>
  managedFields.createdBy(
    object,
    resources.shapeOf(target.resource),
    serverFields(target.resource),
    writerOf(target, options),
    RequestContext.timestamp(context.now)
  )

/**
 * Clients may edit managedFields, though not through subresources. An object without managedFields stays without: an apply assigns all
 * existing fields to one manager.
 */
const ownersAfter = (
  context: RequestScope,
  target: Target,
  live: managedFields.Owners,
  sentOwners: ReturnType<typeof managedFields.sent>,
  difference: fields.Difference | undefined,
  options: WriteOptions
): managedFields.Owners => {
  const base = target.subresource !== "" || sentOwners === "nothing" ? live : sentOwners === "reset" ? [] : sentOwners
  if (base.length === 0 || difference === undefined) return managedFields.equalOwners(base, live) ? live : base
  return managedFields.updated(base, difference, writerOf(target, options), RequestContext.timestamp(context.now))
}

/** The object must be the one that the path names; checked before its existence. */
export const checkIdentity = (target: Target, object: JsonObject): void => {
  const given = textAt(object, "metadata", "name")
  if (given !== "" && given !== target.name) {
    throw StatusError.badRequest(
      `the name of the object (${given}) does not match the name on the URL (${target.name})`
    )
  }
  checkNamespace(target, object)
}

const checkPreconditions = (
  resource: ResourceDefinition,
  object: JsonObject,
  before: JsonObject,
  name: string
): void => {
  const uid = textAt(object, "metadata", "uid")
  const currentUid = textAt(before, "metadata", "uid")
  if (uid !== "" && uid !== currentUid) {
    throw StatusError.conflict(
      resource,
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${currentUid}`
    )
  }
  const version = textAt(object, "metadata", "resourceVersion")
  if (version === "" || version === "0") {
    if (resource.unconditionalUpdate) return
    // The storage reports this error, with the resource instead of the kind.
    throw StatusError.invalid({ group: resource.group, kind: resource.plural }, name, [
      {
        field: "metadata.resourceVersion",
        reason: "FieldValueInvalid",
        message: "Invalid value: 0x0: must be specified for an update"
      }
    ])
  }
  if (version !== textAt(before, "metadata", "resourceVersion")) throw StatusError.modified(resource, name)
}

/** The parts of the new state that the endpoint may change. */
const merged = (context: RequestScope, target: Target, object: JsonObject, before: JsonObject): JsonObject => {
  const { resource, subresource } = target
  switch (subresource) {
    case "status":
      return withStatusOf(context, resource, object, before)
    case "finalize":
      return { ...withPart(before, "spec", get(object, "spec")), metadata: ensureObject(object, "metadata") }
    case "ephemeralcontainers": {
      const spec = { ...objectAt(before, "spec") }
      put(spec, "ephemeralContainers", at(object, "spec", "ephemeralContainers"))
      const next = withPart(before, "spec", spec)
      resource.defaults?.(next)
      return next
    }
    default:
      if (hasStatus(resource)) put(object, "status", get(before, "status"))
      resource.onUpdate?.(object, before, RequestContext.timestamp(context.now))
      resource.defaults?.(object)
      return object
  }
}

/** The previous state, with one member replaced. */
const withPart = (before: JsonObject, part: string, value: Json | undefined): JsonObject => {
  const next = Version.copy(before)
  put(next, part, value)
  return next
}

/** The status endpoint changes the status, and metadata except for a few members. */
const withStatusOf = (
  context: RequestScope,
  resource: ResourceDefinition,
  object: JsonObject,
  before: JsonObject
): JsonObject => {
  const next = withPart(before, "status", get(object, "status"))
  const metadata = ensureObject(object, "metadata")
  for (const member of resource.statusKeeps) put(metadata, member, at(before, "metadata", member))
  next["metadata"] = metadata
  resource.onUpdate?.(next, before, RequestContext.timestamp(context.now))
  return next
}
