/** One try to create an object. Source: apiserver/pkg/registry/generic/registry: Store.Create. */
import { objectAt, put, textAt } from "../json.ts"
import type { JsonObject } from "../json.ts"
import type { RequestScope, Write } from "../admission/Admission.ts"
import type * as converted from "../apiextensions/conversion/converted.ts"
import * as RequestContext from "../RequestContext.ts"
import type { Target } from "../routing.ts"
import { apiVersion, hasStatus } from "../scheme/ResourceDefinition.ts"
import type { ResourceDefinition } from "../scheme/ResourceDefinition.ts"
import * as resources from "../scheme/resources.ts"
import * as StatusError from "../StatusError.ts"
import * as managedFields from "../storage/managedFields.ts"
import * as Version from "../storage/Version.ts"
import * as addresses from "../validation/addresses.ts"
import * as metadata from "../validation/metadata.ts"
import * as validate from "../validation/validate.ts"
import { keptOf, refuseNamespace, save, writerOf } from "./change.ts"
import type { Change, Effectful, Ready, WriteOptions } from "./change.ts"

/** What a create does that finds the name taken: refuse, or start again and update. */
export type Taken = (resource: ResourceDefinition, name: string) => StatusError.StatusError | undefined

export const refused: Taken = StatusError.alreadyExists

export const startAgain: Taken = () => undefined

/** Undefined when it has to start again: another request has taken the name, or an address of the object. */
export const tryCreate = (
  context: RequestScope,
  target: Target,
  read: () => Change | StatusError.StatusError,
  taken: Taken
): Effectful<Version.Version | undefined> => {
  const { admission } = context.state
  const change = read()
  if (StatusError.isRefusal(change)) return change
  const { object, options } = change
  const written = { context, target, object, before: undefined, dryRun: options.dryRun }
  const managers = beforeAdmission(context, target, object, options)
  if (StatusError.isRefusal(managers)) return managers
  return StatusError.after(admission.admit(written), () => {
    const ready = validated(written, options, managers)
    if (StatusError.isRefusal(ready)) return ready
    return StatusError.after(keptOf(context, target.resource, ready), (kept) =>
      StatusError.after(admission.check(written), () => StatusError.toEffect(committed(written, ready, kept, taken)))
    )
  })
}

/** The last section: nothing waits any more. */
const committed = (
  written: Write,
  ready: Ready,
  kept: converted.Kept | undefined,
  taken: Taken
): Version.Version | StatusError.StatusError | undefined => {
  const { context, dryRun, object, target } = written
  const { admission } = context.state
  const unserved = refuseUnserved(context, target.resource)
  if (unserved !== undefined) return unserved
  const key = Version.keyOf(target.resource.namespaced ? target.namespace : "", textAt(object, "metadata", "name"))
  const isTaken = context.state.collection(target.resource.storage).get(key) !== undefined
  const refusal = isTaken ? taken(target.resource, textAt(object, "metadata", "name")) : undefined
  if (!ready.isAllocated() || (isTaken && refusal === undefined)) return undefined
  const atCommit = admission.atCommit(written)
  if (StatusError.isRefusal(atCommit)) return atCommit
  // A quota is charged before the name is looked up, as by kube-apiserver: the quota controller corrects the usage.
  atCommit?.()
  return refusal ?? save(context, target.resource, ready, kept, dryRun)
}

const validated = (
  { context, object, target }: Write,
  options: WriteOptions,
  managers: managedFields.Owners | undefined
): Ready | StatusError.StatusError => {
  target.resource.onCreate?.(object, context.request.user)
  const owners = managers ?? ownersOfNew(context, target, object, options)
  const isAllocated = addresses.allocate(context, target.resource, object)
  if (StatusError.isRefusal(isAllocated)) return isAllocated
  const invalid = validate.object(target.resource, object)
  if (invalid !== undefined) return invalid
  context.warnings.push(...validate.warnings(target.resource, object))
  return { object, owners, isAllocated }
}

/** A definition may be deleted while a request waits: nothing is created in what it has left. */
const refuseUnserved = ({ state }: RequestScope, resource: ResourceDefinition): StatusError.StatusError | undefined => {
  if (resource.customResource === undefined) return undefined
  const served = state.registry.find(`${apiVersion(resource)}/${resource.plural}`)
  if (served === undefined) return StatusError.unknownPath()
  return served.customResource?.terminating === true
    ? StatusError.notAllowedWhile("create", "custom resource definition is terminating")
    : undefined
}

/** Completes the object; returns its managed fields, because fields that admission and the server set have no manager. */
const beforeAdmission = (
  context: RequestScope,
  target: Target,
  object: JsonObject,
  options: WriteOptions
): managedFields.Owners | StatusError.StatusError | undefined => {
  const { resource, namespace } = target
  const refusal = refuseUnserved(context, resource) ?? refuseNamespace(target, object) ?? metadata.refuseVersion(object)
  if (refusal !== undefined) return refusal
  const generated = textAt(object, "metadata", "name") === ""
  metadata.create(context, resource, object, namespace)
  if (generated) regenerateName(context, target, object)
  resource.defaults?.(object)
  return options.owners ?? (isRewritten(resource) ? undefined : ownersOfNew(context, target, object, options))
}

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

/** How often a generated name is drawn again when it is taken. */
const generateTries = 8

const regenerateName = (context: RequestScope, target: Target, object: JsonObject): void => {
  const collection = context.state.collection(target.resource.storage)
  for (let i = 1; i < generateTries; i++) {
    const name = textAt(object, "metadata", "name")
    if (name === "" || collection.get(Version.keyOf(target.namespace, name)) === undefined) return
    put(objectAt(object, "metadata") ?? {}, "name", undefined)
    metadata.create(context, target.resource, object, target.namespace)
  }
}
