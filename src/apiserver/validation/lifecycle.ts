/**
 * Deletion: grace periods, finalizers and propagation policies; and creation, which needs a namespace that is not being deleted.
 * Controllers delete dependents and the content of namespaces. Source: apiserver, registry/rest: BeforeDelete;
 * plugin/namespace/lifecycle; the Pod strategy.
 */
import { arrayAt, at, ensureObject, get, numberAt, put, textAt } from "../json.ts"
import type { JsonObject } from "../json.ts"
import * as resources from "../scheme/resources.ts"
import * as StatusError from "../StatusError.ts"
import type { Target } from "../routing.ts"
import type { ResourceDefinition } from "../scheme/ResourceDefinition.ts"
import * as RequestContext from "../RequestContext.ts"

const namespaceKind = resources.all.find((resource) => resource.kind === "Namespace")

/** Rejects creates in a missing or terminating namespace. */
export const admitNamespace = (
  context: RequestContext.RequestContext,
  { resource, namespace }: Target,
  name: string
): StatusError.StatusError | undefined => {
  if (!resource.namespaced || namespaceKind === undefined) return undefined
  const found = context.state.collection(namespaceKind.storage).get(namespace)
  if (found === undefined) return StatusError.notFound(namespaceKind, namespace)
  if (found.fields?.["status.phase"] !== "Terminating") return undefined
  const message = `unable to create new content in namespace ${namespace} because it is being terminated`
  return StatusError.forbidden(resource, name, message, [
    {
      reason: "NamespaceTerminating",
      message: `namespace ${namespace} is being terminated`,
      field: "metadata.namespace"
    }
  ])
}

const immortal = new Set(["default", "kube-system", "kube-public"])

export const refuseImmortal = (resource: ResourceDefinition, name: string): StatusError.StatusError | undefined =>
  resource.kind === "Namespace" && immortal.has(name)
    ? StatusError.forbidden(resource, name, "this namespace may not be deleted")
    : undefined

/** Whether this update completes a pending deletion. */
export const isFinished = (resource: ResourceDefinition, next: JsonObject, before: JsonObject): boolean =>
  textAt(before, "metadata", "deletionTimestamp") !== "" &&
  (at(before, "metadata", "deletionGracePeriodSeconds") ?? 0) === 0 &&
  !isHeld(resource, next)

/** Finalizers of the object, and those of a namespace's spec. */
const isHeld = (resource: ResourceDefinition, object: JsonObject): boolean =>
  arrayAt(object, "metadata", "finalizers").length > 0 ||
  (resource.kind === "Namespace" && arrayAt(object, "spec", "finalizers").length > 0)

export interface DeleteOptions {
  readonly gracePeriodSeconds: number | undefined
  readonly propagationPolicy: string | undefined
  readonly uid: string | undefined
  readonly resourceVersion: string | undefined
  readonly dryRun: boolean
}

/** Refuses to delete an object that is not the one of the preconditions. */
export const refusePreconditions = (
  resource: ResourceDefinition,
  object: JsonObject,
  options: DeleteOptions
): StatusError.StatusError | undefined => {
  const name = textAt(object, "metadata", "name")
  const uid = textAt(object, "metadata", "uid")
  const version = textAt(object, "metadata", "resourceVersion")
  // kube-apiserver reports the kind here, not the resource.
  const named = { ...resource, plural: resource.kind }
  if (options.uid !== undefined && options.uid !== uid) {
    return StatusError.conflict(
      named,
      name,
      `the UID in the precondition (${options.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`
    )
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== version) {
    return StatusError.conflict(
      named,
      name,
      `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${version}). The object might have been modified`
    )
  }
  return undefined
}

/**
 * Applies a delete request to the object: `gone` if it can be removed at once, `changed` if it is marked and waits for finalizers or
 * its grace period, `unchanged` if it was already marked.
 */
export const markDeleted = (
  context: RequestContext.RequestContext,
  resource: ResourceDefinition,
  object: JsonObject,
  options: DeleteOptions
): "gone" | "changed" | "unchanged" => {
  const metadata = ensureObject(object, "metadata")
  const finalizersChanged = propagate(metadata, options.propagationPolicy ?? defaultPolicy(resource, metadata))
  if (textAt(metadata, "deletionTimestamp") !== "") {
    const pending = numberAt(metadata, "deletionGracePeriodSeconds")
    const asked = options.gracePeriodSeconds
    const shorter = asked !== undefined && asked < pending
    if (shorter) setGrace(context, metadata, asked, pending)
    if (numberAt(metadata, "deletionGracePeriodSeconds") === 0 && !isHeld(resource, object)) return "gone"
    return shorter || finalizersChanged ? "changed" : "unchanged"
  }
  const grace = graceOf(resource, object, options)
  if (grace === 0 && !isHeld(resource, object)) return "gone"
  metadata["deletionTimestamp"] = RequestContext.timestamp(context.now + grace * 1000)
  const generation = get(metadata, "generation")
  if (typeof generation === "number") metadata["generation"] = generation + 1
  if (resource.kind === "Namespace") ensureObject(object, "status")["phase"] = "Terminating"
  else metadata["deletionGracePeriodSeconds"] = grace
  return "changed"
}

/** The grace period of a pending deletion can only be shortened, counted from the first request. */
const setGrace = (
  context: RequestContext.RequestContext,
  metadata: JsonObject,
  asked: number,
  pending: number
): void => {
  const due = Date.parse(textAt(metadata, "deletionTimestamp"))
  const start = Number.isNaN(due) ? context.now : due - pending * 1000
  metadata["deletionTimestamp"] = RequestContext.timestamp(start + Math.max(0, asked) * 1000)
  metadata["deletionGracePeriodSeconds"] = Math.max(0, asked)
}

/** Only scheduled pods get a grace period. */
const graceOf = (resource: ResourceDefinition, object: JsonObject, options: DeleteOptions): number => {
  if (resource.kind !== "Pod" || textAt(object, "spec", "nodeName") === "") return 0
  const phase = textAt(object, "status", "phase")
  if (phase === "Failed" || phase === "Succeeded") return 0
  const own = at(object, "spec", "terminationGracePeriodSeconds")
  const grace = options.gracePeriodSeconds ?? (typeof own === "number" ? own : 30)
  return grace < 0 ? 1 : grace
}

const policies: Readonly<Record<string, string>> = {
  Foreground: "foregroundDeletion",
  Orphan: "orphan",
  Background: ""
}

/** The policy of a deletion without one: Orphan for some resources, unless a finalizer of the object decides. */
const defaultPolicy = (resource: ResourceDefinition, metadata: JsonObject): string | undefined => {
  const finalizers = arrayAt(metadata, "finalizers")
  const hasPolicyFinalizer = finalizers.includes("orphan") || finalizers.includes("foregroundDeletion")
  return resource.orphans && !hasPolicyFinalizer ? "Orphan" : undefined
}

/** Sets the finalizer of the propagation policy for the garbage collector; without a policy, keeps the present ones. */
const propagate = (metadata: JsonObject, policy: string | undefined): boolean => {
  if (policy === undefined) return false
  const wanted = policies[policy] ?? ""
  const before = arrayAt(metadata, "finalizers")
  const kept = before.filter((one) => one === wanted || (one !== "foregroundDeletion" && one !== "orphan"))
  const after = wanted === "" || kept.includes(wanted) ? kept : [...kept, wanted]
  put(metadata, "finalizers", after)
  return after.length !== before.length || after.some((one, index) => one !== before[index])
}

export const isPolicy = (text: string): boolean => Object.hasOwn(policies, text)
