/**
 * What follows from the definitions that are stored: conditions, served kinds, and the end of the objects of those that are deleted. It compares
 * what is with what has to be, so that it may run after any request; it runs in the turn of a write to a definition, and of
 * one to an object whose definition waits for it. What a definition says holds from the next request on.
 */
import { arrayAt, ensureObject, objectAt, put, textAt } from "../json.ts"
import type { JsonObject } from "../json.ts"
import * as Version from "../storage/Version.ts"
import * as lifecycle from "../validation/lifecycle.ts"
import type { ResourceDefinition } from "../scheme/ResourceDefinition.ts"
import * as RequestContext from "../RequestContext.ts"
import type { RequestScope } from "../admission/Admission.ts"
import { select } from "../storage/Collection.ts"
import * as write from "../endpoints/write.ts"
import * as Definition from "./Definition.ts"
import * as names from "./names.ts"

const everything = { namespace: "", labels: [], fields: [] }

/** Whether a write to the kind may change what is served. */
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
    write.overwrite(context, resource, definition, false)
  }
  if (Definition.isTrue(definition, "Established")) serve(context, version, definition)
}

/** Revisions of the definitions whose kinds are served, so that nothing is read twice. */
const served = new WeakMap<ResourceDefinition, number>()

const serve = (context: RequestScope, { name, revision }: Version.Version, definition: JsonObject): void => {
  const [first] = context.state.registry.resourcesOf(name)
  if (first !== undefined && served.get(first) === revision) return
  const resources = Definition.resourcesOf(definition)
  for (const resource of resources) served.set(resource, revision)
  context.state.registry.put(name, resources)
  // Watches of before show what the converter of before made; whoever watches again gets the present one.
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

/** Deletes the objects, and lets the definition go when none is left. */
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
    write.overwrite(context, resource, definition, false)
    return
  }
  const rest = held.filter((one) => one !== Definition.cleanup)
  put(ensureObject(definition, "metadata"), "finalizers", rest)
  if (rest.length > 0) write.overwrite(context, resource, definition, false)
  else write.erase(context, resource, definition, false)
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
  // As the server itself does it: nobody else is asked.
  for (const version of all) {
    const object = Version.parse(version)
    const outcome = lifecycle.markDeleted(context, resource, object, options)
    if (outcome === "gone") write.erase(context, resource, object, false)
    else if (outcome === "changed") write.overwrite(context, resource, object, false)
  }
}
