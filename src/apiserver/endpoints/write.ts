/**
 * create and update, the two ways in which objects enter the store; every kind of patch ends here as an update. The
 * objects passed in belong to this file and are changed in place; what is stored is text.
 */
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
  /** Name that ownership of the changed fields is recorded under. */
  readonly manager: string
  /** Who owns what afterwards, where an apply has settled it already. */
  readonly owners?: managedFields.Owners
}

/** The options in the query; the manager defaults to the name of the client's program, as the reference server does. */
export const optionsOf = (context: RequestScope): WriteOptions => {
  const { headers, query } = context.request
  return {
    dryRun: body.dryRun(query.getAll("dryRun")),
    manager: query.get("fieldManager") || (headers["user-agent"] ?? "").split("/")[0] || "unknown"
  }
}

/** Kinds that share a storage all contribute to what selectors can see. */
const sharing = new Map<string, ReadonlyArray<Kind>>()

const kindsOf = (storage: string): ReadonlyArray<Kind> => {
  const found = sharing.get(storage)
  if (found !== undefined) return found
  const created = kinds.all.filter((kind) => kind.storage === storage)
  sharing.set(storage, created)
  return created
}

/** How often a generated name that is taken is drawn again. */
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
  // What admission and the server add is nobody's.
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

/** PUT of an object that is not there, for kinds that allow it: the name comes from the path, a version would be a lie. */
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

/** A namespace left out is the path's; another one is refused. */
export const checkNamespace = ({ kind, namespace }: Target, object: JsonObject): void => {
  const given = textAt(object, "metadata", "namespace")
  if (given !== "" && given !== (kind.namespaced ? namespace : "")) {
    throw StatusError.badRequest(
      "the namespace of the provided object does not match the namespace sent on the request"
    )
  }
}

/** Stores an object that has passed every rule, in the form in which its kind is stored. */
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

/** A dry run has no revision of its own: it shows that of the object it would replace, or none. */
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

/** Removes an object for good; its last state carries the revision of the removal. It is in the form it is stored in, unless said otherwise. */
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

/** Drops what has outlived its time, before anybody looks: events, whose lifetime ends without anybody deleting them. */
export const expire = (context: RequestScope, kind: Kind): void => {
  if (kind.lifetime === undefined) return
  const collection = context.state.collection(kind.storage)
  for (const { key, revision } of collection.expiries.take(context.now)) {
    const version = collection.get(key)
    if (version?.revision === revision) erase(context, kind, Version.parse(version), false)
  }
}

/**
 * Writes a changed object over a stored one without the rules of updates, in the form it has, and without a new owner: for what the
 * server does by itself in deletions and bindings.
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

/** `object` is the whole new state as the client wants it; `existing` what it is to replace. */
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
  // What nobody can own may differ all the same.
  const isWritten = isCurrent(context, kind, existing)
  if (isSame && isWritten && equal(metadata.canonical(next, String(existing.revision)), before)) return existing
  return save(context, kind, next, owners, options.dryRun)
}

/** Whether an object is in the version that is stored now: one that is not is written anew, even when nothing changes. */
const isCurrent = (context: RequestScope, { custom, storage }: Kind, { key }: Version.Version): boolean =>
  custom === undefined || context.state.collection(storage).get(key)?.form === custom.storageVersion

const writerOf = ({ kind, subresource }: Target, { manager }: WriteOptions): managedFields.Manager => ({
  manager,
  operation: "Update",
  apiVersion: apiVersion(kind),
  subresource
})

/** Members of a new object that are the server's doing, whoever made it. */
const serversOwn = (kind: Kind): ReadonlyArray<string> =>
  kind.kind === "Namespace" ? ["spec", "status"] : hasStatus(kind) ? ["status"] : []

/** Kinds of which `onCreate` is a part of reading: a secret's plain strings, a namespace's own label. */
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
 * Clients may edit the record itself, though not through subresources. An object of which nothing is recorded stays so: an
 * apply will credit what it finds to one manager.
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

/** The object must be the one the path names, before anybody asks whether it exists. */
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
    // Said by the storage, which knows the resource and not the kind.
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

/** Which parts of the new state count depends on the endpoint. */
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

/** What was there, with one member replaced. */
const withPart = (before: JsonObject, part: string, value: Json | undefined): JsonObject => {
  const next = Version.copy(before)
  put(next, part, value)
  return next
}

/** The status endpoint lets the metadata through but for a few members, and nothing else beside the status. */
const withStatusOf = (context: RequestScope, kind: Kind, object: JsonObject, before: JsonObject): JsonObject => {
  const next = withPart(before, "status", get(object, "status"))
  const metadata = ensureObject(object, "metadata")
  for (const member of kind.statusKeeps) put(metadata, member, at(before, "metadata", member))
  next["metadata"] = metadata
  kind.onUpdate?.(next, before, RequestContext.timestamp(context.now))
  return next
}
