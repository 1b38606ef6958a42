/**
 * The attributes of a request for admission by webhooks and policies (admission.Attributes): of a write, of a deletion, and of a connection to a
 * subresource such as `pods/exec`.
 */
import { objectAt, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import type { Target } from "../routing.ts"
import type { ResourceDefinition } from "../scheme/ResourceDefinition.ts"
import type { DeleteOptions } from "../validation/lifecycle.ts"
import { isNamespace } from "../webhook/matching.ts"
import type { Subject } from "../webhook/matching.ts"
import type { Connection, Deletion, GroupVersionKind, RequestScope, Write } from "./Admission.ts"
import * as stored from "./stored.ts"

/** The attributes of a request for admission. */
export interface Attributes extends Subject {
  readonly context: RequestScope
  readonly as: GroupVersionKind | undefined
  readonly target: Target
  readonly name: string
  /** In stored form. */
  readonly object: JsonObject | undefined
  readonly before: JsonObject | undefined
  readonly dryRun: boolean
  /** Undefined for a connection, whose options are the object. */
  readonly options: JsonObject | undefined
}

/** Attributes with the objects as the receiver sees them; null where there is none. */
export interface Versioned extends Omit<Attributes, "object"> {
  /** The kind of the target, or another version of it. */
  readonly resource: ResourceDefinition
  readonly object: Json
  readonly oldObject: Json
}

export const ofWrite = (write: Write, object: JsonObject = write.object): Attributes => {
  const { as, before, dryRun, target, context } = write
  return {
    context,
    as,
    target,
    resources: context.state.registry.all,
    operation: before === undefined ? "CREATE" : "UPDATE",
    name: target.name || textAt(object, "metadata", "name"),
    object,
    before,
    dryRun,
    options: optionsOfWrite(context, before === undefined),
    namespaceLabels: () =>
      isNamespace(target.resource) ? labelsOf(object) : namespaceLabels(context, target.namespace),
    objectLabels: before === undefined ? [labelsOf(object)] : [labelsOf(object), labelsOf(before)]
  }
}

export const ofDeletion = ({ before, name, options: given, target, context }: Deletion): Attributes => ({
  context,
  as: undefined,
  target,
  resources: context.state.registry.all,
  operation: "DELETE",
  name: target.name,
  object: undefined,
  before,
  dryRun: given.dryRun,
  options: optionsOfDeletion(given),
  namespaceLabels: () => namespaceLabels(context, isNamespace(target.resource) ? name : target.namespace),
  objectLabels: [labelsOf(before)]
})

export const ofConnection = ({ context, object, target, as }: Connection): Attributes => ({
  context,
  as,
  target,
  resources: context.state.registry.all,
  operation: "CONNECT",
  name: target.name,
  object,
  before: undefined,
  dryRun: false,
  options: undefined,
  namespaceLabels: () => namespaceLabels(context, target.namespace),
  // The options of a connection are no object with labels: an objectSelector does not match them, unless it is empty.
  objectLabels: []
})

const labelsOf = (object: JsonObject): Record<string, string> | undefined =>
  objectAt(object, "metadata", "labels") as Record<string, string> | undefined

const namespaceLabels = (context: RequestScope, namespace: string): Record<string, string> | undefined => {
  const found = stored.object(context, "namespaces", "", namespace)
  return found === undefined ? undefined : labelsOf(found)
}

const metaVersion = "meta.k8s.io/v1"

/** The options that a review carries, of meta/v1. They are named for the operation: a patch is an update, or it creates. */
const optionsOfWrite = (context: RequestScope, creates: boolean): JsonObject => {
  const { query } = context.request
  const out: JsonObject = { kind: creates ? "CreateOptions" : "UpdateOptions", apiVersion: metaVersion }
  const dryRun = query.getAll("dryRun")
  if (dryRun.length > 0) out["dryRun"] = dryRun
  for (const key of ["fieldManager", "fieldValidation"]) {
    const value = query.get(key)
    if (value !== null && value !== "") out[key] = value
  }
  return out
}

const optionsOfDeletion = (options: DeleteOptions): JsonObject => {
  const { dryRun, gracePeriodSeconds, propagationPolicy, resourceVersion, uid } = options
  const preconditions = {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion })
  }
  return {
    kind: "DeleteOptions",
    apiVersion: metaVersion,
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(Object.keys(preconditions).length === 0 ? {} : { preconditions }),
    ...(dryRun ? { dryRun: ["All"] } : {})
  }
}
