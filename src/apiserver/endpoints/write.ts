/** create and update; all patches end here as an update. The objects passed in are changed in place; objects are stored as text. */
import { at, ensureObject, equal, get, objectAt, put, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import * as body from "../body.ts"
import * as forms from "../apiextensions/conversion/forms.ts"
import type { Collection } from "../storage/Collection.ts"
import * as fields from "../storage/fields.ts"
import * as managedFields from "../storage/managedFields.ts"
import * as kinds from "../scheme/kinds.ts"
import { apiVersion, hasStatus } from "../scheme/Kind.ts"
import type { Kind } from "../scheme/Kind.ts"
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
const sharing = new Map<string, ReadonlyArray<Kind>>()

const kindsOf = (storage: string): ReadonlyArray<Kind> => {
  const found = sharing.get(storage)
  if (found !== undefined) return found
  const created = kinds.all.filter((kind) => kind.storage === storage)
  sharing.set(storage, created)
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
  const { kind, namespace } = target
  const collection = context.state.collection(kind.storage)
  if (kind.custom?.terminating === true) {
    throw StatusError.notAllowedWhile("create", "custom resource definition is terminating")
  }
  checkNamespace(target, object)
  const generated = textAt(object, "metadata", "name") === ""
  metadata.create(context, kind, object, namespace)
  if (generated) drawAgain(context, target, object)
  kind.defaults?.(object)
  // Fields that admission and the server set have no manager.
  const early = options.owners ?? (isRewritten(kind) ? undefined : madeBy(context, target, object, options))
  const written = { context, target, object, before: undefined, dryRun: options.dryRun }
  context.state.admission.admit(written)
  kind.onCreate?.(object)
  const owners = early ?? madeBy(context, target, object, options)
  addresses.allocate(context, kind, object)
  validate.object(kind, object)
  context.state.admission.check(written)
  const name = textAt(object, "metadata", "name")
  if (collection.get(Version.keyOf(kind.namespaced ? namespace : "", name)) !== undefined) {
    throw StatusError.alreadyExists(kind, name)
  }
  return save(context, kind, object, owners, options.dryRun)
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
    throw StatusError.notFound(target.kind, target.name)
  }
  sent["name"] = target.name
  return create(context, { ...target, name: "" }, object, options)
}

const drawAgain = (context: RequestScope, target: Target, object: JsonObject): void => {
  const collection = context.state.collection(target.kind.storage)
  for (let i = 1; i < generateTries; i++) {
    const name = textAt(object, "metadata", "name")
    if (name === "" || collection.get(Version.keyOf(target.namespace, name)) === undefined) return
    put(objectAt(object, "metadata") ?? {}, "name", undefined)
    metadata.create(context, target.kind, object, target.namespace)
  }
}

/** A missing namespace becomes that of the path; another one is rejected. */
export const checkNamespace = ({ kind, namespace }: Target, object: JsonObject): void => {
  const given = textAt(object, "metadata", "namespace")
  if (given !== "" && given !== (kind.namespaced ? namespace : "")) {
    throw StatusError.badRequest(
      "the namespace of the provided object does not match the namespace sent on the request"
    )
  }
}

/** Stores a validated object, in the storage version of its kind. */
const save = (
  context: RequestScope,
  kind: Kind,
  object: JsonObject,
  owners: managedFields.Owners,
  dryRun: boolean
): Version.Version => {
  const { read, stored } = forms.kept(context, kind, versionOf(context, kind, object, owners, forms.formOf(kind)))
  return dryRun ? undone(context, kind, read) : commit(context, kind, stored, read)
}

const versionOf = (
  context: RequestScope,
  kind: Kind,
  object: JsonObject,
  owners: managedFields.Owners,
  form: string | undefined
): Version.Version => {
  const revision = context.state.collection(kind.storage).upcoming()
  return Version.make(kindsOf(kind.storage), metadata.canonical(object, String(revision)), revision, owners, form)
}

/** A dry run has no revision: the object has that of the one it would replace, or none. */
const undone = (context: RequestScope, kind: Kind, version: Version.Version): Version.Version => {
  const shown = Version.parse(version)
  const before = context.state.collection(kind.storage).get(version.key)
  put(objectAt(shown, "metadata") ?? {}, "resourceVersion", before?.revision.toString())
  return Version.make(kindsOf(kind.storage), shown, version.revision, version.owners, version.form)
}

const commit = (
  context: RequestScope,
  kind: Kind,
  version: Version.Version,
  read: Version.Version = version
): Version.Version => {
  const collection = context.state.collection(kind.storage)
  collection.store(version)
  if (kind.lifetime !== undefined) collection.expiries.note(version, context.now + kind.lifetime * 1000)
  return read
}

/** Removes an object from the store; its last state has the revision of the removal. It is in its stored version by default. */
export const erase = (
  context: RequestScope,
  kind: Kind,
  object: JsonObject,
  dryRun: boolean,
  form?: string
): Version.Version => {
  const collection = context.state.collection(kind.storage)
  const before = storedOf(collection, object)
  const last = versionOf(context, kind, object, before?.owners ?? managedFields.none, form ?? before?.form)
  if (!dryRun) collection.remove(last)
  return last
}

/** Removes expired objects before a request reads the collection: events have a lifetime. */
export const expire = (context: RequestScope, kind: Kind): void => {
  if (kind.lifetime === undefined) return
  const collection = context.state.collection(kind.storage)
  for (const { key, revision } of collection.expiries.take(context.now)) {
    const version = collection.get(key)
    if (version?.revision === revision) erase(context, kind, Version.parse(version), false)
  }
}

/**
 * Overwrites a stored object, without validating the update, in its stored version and without changing its managed fields: for writes
 * by the server in deletions, bindings and evictions.
 */
export const overwrite = (context: RequestScope, kind: Kind, object: JsonObject, dryRun: boolean): Version.Version => {
  const before = storedOf(context.state.collection(kind.storage), object)
  const version = versionOf(context, kind, object, before?.owners ?? managedFields.none, before?.form)
  return dryRun ? undone(context, kind, version) : commit(context, kind, version)
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
  const { kind, name } = target
  checkIdentity(target, object)
  const before = Version.parse(existing)
  checkPreconditions(kind, object, before, name)
  const claimed = managedFields.sent(object, existing.owners)
  const next = merged(context, target, object, before)
  const written = { context, target, object: next, before, dryRun: options.dryRun }
  const whole = target.subresource === ""
  context.state.admission.admit(written)
  if (whole) addresses.allocate(context, kind, next, before)
  metadata.update(kind, next, before, target.subresource)
  if (whole) validate.object(kind, next, before)
  else validate.part(kind, target.subresource, next, before)
  context.state.admission.check(written)
  const difference = fields.between(before, next, kinds.shapeOf(kind))
  const owners = options.owners ?? ownersAfter(context, target, existing.owners, claimed, difference, options)
  if (lifecycle.isFinished(kind, next, before)) return erase(context, kind, next, options.dryRun, forms.formOf(kind))
  const isSame = difference === undefined && managedFields.equalOwners(owners, existing.owners)
  // Fields that are not managed may differ too.
  const isWritten = isCurrent(context, kind, existing)
  if (isSame && isWritten && equal(metadata.canonical(next, String(existing.revision)), before)) return existing
  return save(context, kind, next, owners, options.dryRun)
}

/** Whether an object is in the present storage version; one that is not is rewritten, even when nothing changes. */
const isCurrent = (context: RequestScope, { custom, storage }: Kind, { key }: Version.Version): boolean =>
  custom === undefined || context.state.collection(storage).get(key)?.form === custom.storageVersion

const writerOf = ({ kind, subresource }: Target, { manager }: WriteOptions): managedFields.Manager => ({
  manager,
  operation: "Update",
  apiVersion: apiVersion(kind),
  subresource
})

/** Fields of a new object that the server sets. */
const serversOwn = (kind: Kind): ReadonlyArray<string> =>
  kind.kind === "Namespace" ? ["spec", "status"] : hasStatus(kind) ? ["status"] : []

/** Kinds that `onCreate` rewrites: stringData of a Secret, the name label of a Namespace. */
const isRewritten = (kind: Kind): boolean => kind.group === "" && (kind.kind === "Secret" || kind.kind === "Namespace")

const madeBy = (
  context: RequestScope,
  target: Target,
  object: JsonObject,
  options: WriteOptions
): managedFields.Owners =>
  managedFields.createdBy(
    object,
    kinds.shapeOf(target.kind),
    serversOwn(target.kind),
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
  claimed: ReturnType<typeof managedFields.sent>,
  difference: fields.Difference | undefined,
  options: WriteOptions
): managedFields.Owners => {
  const base = target.subresource !== "" || claimed === "nothing" ? live : claimed === "reset" ? [] : claimed
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

const checkPreconditions = (kind: Kind, object: JsonObject, before: JsonObject, name: string): void => {
  const uid = textAt(object, "metadata", "uid")
  const currentUid = textAt(before, "metadata", "uid")
  if (uid !== "" && uid !== currentUid) {
    throw StatusError.conflict(
      kind,
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${currentUid}`
    )
  }
  const version = textAt(object, "metadata", "resourceVersion")
  if (version === "" || version === "0") {
    if (kind.unconditionalUpdate) return
    // The storage reports this error, with the resource instead of the kind.
    throw StatusError.invalid({ group: kind.group, kind: kind.plural }, name, [
      {
        field: "metadata.resourceVersion",
        reason: "FieldValueInvalid",
        message: "Invalid value: 0x0: must be specified for an update"
      }
    ])
  }
  if (version !== textAt(before, "metadata", "resourceVersion")) throw StatusError.modified(kind, name)
}

/** The parts of the new state that the endpoint may change. */
const merged = (context: RequestScope, target: Target, object: JsonObject, before: JsonObject): JsonObject => {
  const { kind, subresource } = target
  switch (subresource) {
    case "status":
      return withStatusOf(context, kind, object, before)
    case "finalize":
      return { ...withPart(before, "spec", get(object, "spec")), metadata: ensureObject(object, "metadata") }
    case "ephemeralcontainers": {
      const spec = { ...objectAt(before, "spec") }
      put(spec, "ephemeralContainers", at(object, "spec", "ephemeralContainers"))
      const next = withPart(before, "spec", spec)
      kind.defaults?.(next)
      return next
    }
    default:
      if (hasStatus(kind)) put(object, "status", get(before, "status"))
      kind.onUpdate?.(object, before, RequestContext.timestamp(context.now))
      kind.defaults?.(object)
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
const withStatusOf = (context: RequestScope, kind: Kind, object: JsonObject, before: JsonObject): JsonObject => {
  const next = withPart(before, "status", get(object, "status"))
  const metadata = ensureObject(object, "metadata")
  for (const member of kind.statusKeeps) put(metadata, member, at(before, "metadata", member))
  next["metadata"] = metadata
  kind.onUpdate?.(next, before, RequestContext.timestamp(context.now))
  return next
}
