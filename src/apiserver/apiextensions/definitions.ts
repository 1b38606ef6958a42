/**
 * Reconciles stored CustomResourceDefinitions within the request that writes them: conditions, served resources, and the
 * deletion of custom resources when a definition is deleted. It is idempotent, and also runs after a write to an object whose
 * definition is terminating. The next request sees the result. Source: apiextensions-apiserver,
 * pkg/controller/{status,establish,finalizer}.
 */
import { arrayAt, ensureObject, objectAt, put, textAt } from "../json.ts"
import type { JsonObject } from "../json.ts"
import * as Version from "../storage/Version.ts"
import * as lifecycle from "../validation/lifecycle.ts"
import type { ResourceDefinition } from "../scheme/ResourceDefinition.ts"
import * as RequestContext from "../RequestContext.ts"
import type { RequestScope } from "../admission/Admission.ts"
import { select } from "../storage/Collection.ts"
import * as commit from "../storage/commit.ts"
import * as Definition from "./Definition.ts"
import * as names from "./names.ts"

const everything = { namespace: "", labels: [], fields: [] }

/** Whether a write to the resource may change what is served. */
export const concerns = ({ customResource: custom, storage }: ResourceDefinition): boolean =>
  storage === Definition.storage || custom?.terminating === true

export const sync = (context: RequestScope): void => {
  const resource = context.state.registry.find("apiextensions.k8s.io/v1/customresourcedefinitions")
  if (resource === undefined) return
  const stored = select(context.state.collection(resource.storage), everything, context.state.log.revision())
  const present = new Set(stored.map(({ name }) => name))
  for (const name of context.state.registry.definitions()) if (!present.has(name)) withdraw(context, name)
  for (const version of stored) settle(context, resource, version)
}

const withdraw = (context: RequestScope, definition: string): void => {
  const [first] = context.state.registry.resourcesOf(definition)
  context.state.registry.put(definition, [])
  if (first !== undefined) context.state.collection(first.storage).watchers.finishAll()
}

const settle = (context: RequestScope, resource: ResourceDefinition, version: Version.Version): void => {
  const definition = Version.parse(version)
  if (Definition.isTerminating(definition)) {
    finish(context, resource, definition)
    return
  }
  const others = select(context.state.collection(resource.storage), everything, context.state.log.revision())
    .filter(({ name }) => name !== version.name)
    .map(Version.parse)
  const status = names.statusOf(definition, others, RequestContext.timestamp(context.now))
  if (status !== objectAt(definition, "status")) {
    put(definition, "status", status)
    commit.overwrite(context, resource, definition, false)
  }
  if (Definition.isTrue(definition, "Established")) serve(context, version, definition)
}

/** Revision of the definition from which each resource was made, to skip unchanged definitions. */
const served = new WeakMap<ResourceDefinition, number>()

const serve = (context: RequestScope, { name, revision }: Version.Version, definition: JsonObject): void => {
  const [first] = context.state.registry.resourcesOf(name)
  if (first !== undefined && served.get(first) === revision) return
  const resources = Definition.resourcesOf(definition)
  for (const resource of resources) served.set(resource, revision)
  context.state.registry.put(name, resources)
  // Open watches still use the old converter: end them, so that clients reconnect with the new one.
  if (first !== undefined && first.customResource?.converter?.id !== resources[0]?.customResource?.converter?.id) {
    context.state.collection(first.storage).watchers.finishAll()
  }
}

const terminating = {
  type: "Terminating",
  status: "True",
  reason: "InstanceDeletionInProgress",
  message: "CustomResource deletion is in progress"
} as const

/** Deletes the custom resources, and removes the finalizer of the definition when none is left. */
const finish = (context: RequestScope, resource: ResourceDefinition, definition: JsonObject): void => {
  const name = textAt(definition, "metadata", "name")
  const held = arrayAt(definition, "metadata", "finalizers")
  if (!held.includes(Definition.cleanup)) return
  context.state.registry.put(name, Definition.resourcesOf(definition))
  const owned = Definition.storageResourceOf(definition)
  clear(context, owned)
  const left = context.state.collection(owned.storage).size
  const status = ensureObject(definition, "status")
  const conditions = names.withConditions(
    arrayAt(status, "conditions"),
    [terminating],
    RequestContext.timestamp(context.now)
  )
  if (left > 0) {
    if (Definition.isTrue(definition, "Terminating")) return
    status["conditions"] = conditions
    commit.overwrite(context, resource, definition, false)
    return
  }
  const rest = held.filter((one) => one !== Definition.cleanup)
  put(ensureObject(definition, "metadata"), "finalizers", rest)
  if (rest.length > 0) commit.overwrite(context, resource, definition, false)
  else commit.erase(context, resource, definition, false)
  context.state.registry.put(name, [])
  context.state.collection(owned.storage).watchers.finishAll()
}

const clear = (context: RequestScope, resource: ResourceDefinition): void => {
  const options = {
    gracePeriodSeconds: undefined,
    propagationPolicy: undefined,
    uid: undefined,
    resourceVersion: undefined,
    dryRun: false
  }
  const all = select(context.state.collection(resource.storage), everything, context.state.log.revision())
  // Deleted by the server itself, without admission.
  for (const version of all) {
    const object = Version.parse(version)
    const outcome = lifecycle.markDeleted(context, resource, object, options)
    if (outcome === "gone") commit.erase(context, resource, object, false)
    else if (outcome === "changed") commit.overwrite(context, resource, object, false)
  }
}
