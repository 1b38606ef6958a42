/** One try to update an object. Source: apiserver/pkg/registry/generic/registry: Store.Update. */
import * as Effect from "effect/Effect"
import { at, ensureObject, equal, get, objectAt, put, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import type { RequestScope, Write } from "../admission/Admission.ts"
import * as converted from "../apiextensions/conversion/converted.ts"
import * as RequestContext from "../RequestContext.ts"
import type { Target } from "../routing.ts"
import { hasStatus } from "../scheme/ResourceDefinition.ts"
import type { ResourceDefinition } from "../scheme/ResourceDefinition.ts"
import * as resources from "../scheme/resources.ts"
import * as StatusError from "../StatusError.ts"
import { erase } from "../storage/commit.ts"
import * as fields from "../storage/fields.ts"
import * as managedFields from "../storage/managedFields.ts"
import * as Version from "../storage/Version.ts"
import * as addresses from "../validation/addresses.ts"
import * as lifecycle from "../validation/lifecycle.ts"
import * as metadata from "../validation/metadata.ts"
import * as validate from "../validation/validate.ts"
import { keptOf, refuseIdentity, save, writerOf } from "./change.ts"
import type { Change, Effectful, Ready, WriteOptions } from "./change.ts"

/** Undefined when the object has changed since it was read. */
export const tryUpdate = (
  context: RequestScope,
  target: Target,
  stored: Version.Version,
  change: (existing: Version.Version) => Change | Effectful<Change>
): Effectful<Version.Version | undefined> =>
  StatusError.after(converted.prepare(context, target.resource, [stored]), () => {
    const existing = converted.ready(target.resource, stored)
    const changed = change(existing)
    const next = (change: Change) => admitted(context, target, { existing, stored }, change)
    return Effect.isEffect(changed) ? StatusError.andThen(changed, next) : next(changed)
  })

/** An object as it was read. */
interface Read {
  /** As it is stored; the commit compares by identity. */
  readonly stored: Version.Version
  /** In the version of the request. */
  readonly existing: Version.Version
}

const admitted = (
  context: RequestScope,
  target: Target,
  { existing, stored }: Read,
  { object, options }: Change
): Effectful<Version.Version | undefined> => {
  const { resource, name } = target
  const { admission } = context.state
  const other = refuseIdentity(target, object)
  if (other !== undefined) return other
  const before = Version.parse(existing)
  const refusal = refusePreconditions(resource, object, before, name)
  if (refusal !== undefined) return refusal
  const sentOwners = managedFields.sent(object, existing.owners)
  const next = merged(context, target, object, before)
  const written = { context, target, object: next, before, dryRun: options.dryRun }
  return StatusError.after(admission.admit(written), () => {
    const ready = validated(written, existing, options, sentOwners)
    if (StatusError.isRefusal(ready)) return ready
    return StatusError.after(ready.outcome === "changed" ? keptOf(context, resource, ready) : undefined, (kept) =>
      StatusError.after(admission.check(written), () =>
        StatusError.toEffect(committed(written, { existing, stored }, ready, kept))
      )
    )
  })
}

const validated = (
  { before, context, object: next, target }: Write & { readonly before: JsonObject },
  existing: Version.Version,
  options: WriteOptions,
  sentOwners: ReturnType<typeof managedFields.sent>
): Changed | StatusError.StatusError => {
  const { resource, subresource } = target
  const isAllocated = subresource === "" ? addresses.allocate(context, resource, next, before) : addresses.none
  if (StatusError.isRefusal(isAllocated)) return isAllocated
  const added = metadata.refuseNewFinalizers(resource, next, before)
  if (added !== undefined) return added
  metadata.update(resource, next, before, subresource)
  const invalid =
    subresource === "" ? validate.object(resource, next, before) : validate.part(resource, subresource, next, before)
  if (invalid !== undefined) return invalid
  if (subresource === "") context.warnings.push(...validate.warnings(resource, next))
  const difference = fields.between(before, next, resources.shapeOf(resource))
  const owners = options.owners ?? ownersAfter(context, target, existing.owners, sentOwners, difference, options)
  const outcome = lifecycle.isFinished(resource, next, before)
    ? "finished"
    : isUnchanged(context, resource, { before, difference, existing, next, owners })
      ? "unchanged"
      : "changed"
  return { object: next, owners, isAllocated, outcome }
}

/** The last section: nothing waits any more. */
const committed = (
  written: Write,
  { existing, stored }: Read,
  ready: Changed,
  kept: converted.Kept | undefined
): Version.Version | StatusError.StatusError | undefined => {
  const { context, dryRun, object, target } = written
  const { resource } = target
  if (context.state.collection(resource.storage).get(stored.key) !== stored || !ready.isAllocated()) return undefined
  const atCommit = context.state.admission.atCommit(written)
  if (StatusError.isRefusal(atCommit)) return atCommit
  atCommit?.()
  if (ready.outcome === "unchanged") return existing
  if (ready.outcome === "changed") return save(context, resource, ready, kept, dryRun)
  return erase(context, resource, object, dryRun, converted.schemaVersionOf(resource))
}

interface Changed extends Ready {
  /** `finished`: the update completes a deletion. */
  readonly outcome: "changed" | "finished" | "unchanged"
}

interface Comparison {
  readonly before: JsonObject
  readonly next: JsonObject
  readonly difference: fields.Difference | undefined
  readonly existing: Version.Version
  readonly owners: managedFields.Owners
}

/** Fields that are not managed may differ too. */
const isUnchanged = (
  context: RequestScope,
  resource: ResourceDefinition,
  { before, difference, existing, next, owners }: Comparison
): boolean =>
  difference === undefined &&
  managedFields.equalOwners(owners, existing.owners) &&
  isCurrent(context, resource, existing) &&
  equal(metadata.canonical(next, String(existing.revision)), before)

/** Whether an object is in the present storage version; one that is not is rewritten, even when nothing changes. */
const isCurrent = (
  context: RequestScope,
  { customResource: custom, storage }: ResourceDefinition,
  { key }: Version.Version
): boolean =>
  custom === undefined || context.state.collection(storage).get(key)?.schemaVersion === custom.storageVersion

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

/** Refuses an update of another object or of another version than the client has read. */
const refusePreconditions = (
  resource: ResourceDefinition,
  object: JsonObject,
  before: JsonObject,
  name: string
): StatusError.StatusError | undefined => {
  const uid = textAt(object, "metadata", "uid")
  const currentUid = textAt(before, "metadata", "uid")
  if (uid !== "" && uid !== currentUid) {
    return StatusError.conflict(
      resource,
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${currentUid}`
    )
  }
  const version = textAt(object, "metadata", "resourceVersion")
  if (version === "" || version === "0") {
    if (resource.unconditionalUpdate) return undefined
    // The storage reports this error, with the resource instead of the kind.
    return StatusError.invalid({ group: resource.group, kind: resource.plural }, name, [
      {
        field: "metadata.resourceVersion",
        reason: "FieldValueInvalid",
        message: "Invalid value: 0x0: must be specified for an update"
      }
    ])
  }
  return version === textAt(before, "metadata", "resourceVersion") ? undefined : StatusError.modified(resource, name)
}

/** The parts of the new state that the endpoint may change. */
const merged = (context: RequestScope, target: Target, object: JsonObject, before: JsonObject): JsonObject => {
  const { resource, subresource } = target
  switch (subresource) {
    case "status":
      return withStatusOf(context, resource, object, before)
    case "approval": {
      const conditions = at(object, "status", "conditions")
      const approved = { ...object, status: { ...objectAt(before, "status"), conditions: conditions ?? [] } }
      return withStatusOf(context, resource, approved, before)
    }
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
