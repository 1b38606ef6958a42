/**
 * What follows from the definitions that are stored: conditions, served kinds, and the end of the objects of those that are deleted. It compares
 * what is with what has to be, so that it may run after any request; it runs in the turn of a write to a definition, and of
 * one to an object whose definition waits for it. What a definition says holds from the next request on.
 */
import { arrayAt, ensureObject, objectAt, put, textAt } from "../json.ts"
import type { JsonObject } from "../json.ts"
import * as Version from "../storage/Version.ts"
import * as lifecycle from "../validation/lifecycle.ts"
import type { Kind } from "../scheme/Kind.ts"
import * as RequestContext from "../RequestContext.ts"
import type { RequestScope } from "../admission/Admission.ts"
import { select } from "../storage/Collection.ts"
import * as write from "../endpoints/write.ts"
import * as Definition from "./Definition.ts"
import * as names from "./names.ts"

const everything = { namespace: "", labels: [], fields: [] }

/** Whether a write to the kind may change what is served. */
export const concerns = ({ custom, storage }: Kind): boolean =>
  storage === Definition.storage || custom?.terminating === true

export const sync = (context: RequestScope): void => {
  const kind = context.state.kinds.find("apiextensions.k8s.io/v1/customresourcedefinitions")
  if (kind === undefined) return
  const stored = select(context.state.collection(kind.storage), everything, context.state.log.revision())
  const present = new Set(stored.map(({ name }) => name))
  for (const name of context.state.kinds.definitions()) if (!present.has(name)) withdraw(context, name)
  for (const version of stored) settle(context, kind, version)
}

const withdraw = (context: RequestScope, definition: string): void => {
  const [first] = context.state.kinds.kindsOf(definition)
  context.state.kinds.put(definition, [])
  if (first !== undefined) context.state.collection(first.storage).watchers.finishAll()
}

const settle = (context: RequestScope, kind: Kind, version: Version.Version): void => {
  const definition = Version.parse(version)
  if (Definition.isTerminating(definition)) {
    finish(context, kind, definition)
    return
  }
  const others = select(context.state.collection(kind.storage), everything, context.state.log.revision())
    .filter(({ name }) => name !== version.name)
    .map(Version.parse)
  const status = names.statusOf(definition, others, RequestContext.timestamp(context.now))
  if (status !== objectAt(definition, "status")) {
    put(definition, "status", status)
    write.overwrite(context, kind, definition, false)
  }
  if (Definition.isTrue(definition, "Established")) serve(context, version, definition)
}

/** Revisions of the definitions whose kinds are served, so that nothing is read twice. */
const served = new WeakMap<Kind, number>()

const serve = (context: RequestScope, { name, revision }: Version.Version, definition: JsonObject): void => {
  const [first] = context.state.kinds.kindsOf(name)
  if (first !== undefined && served.get(first) === revision) return
  const rows = Definition.kindsOf(definition)
  for (const row of rows) served.set(row, revision)
  context.state.kinds.put(name, rows)
  // Watches of before show what the converter of before made; whoever watches again gets the present one.
  if (first !== undefined && first.custom?.converter?.id !== rows[0]?.custom?.converter?.id) {
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
const finish = (context: RequestScope, kind: Kind, definition: JsonObject): void => {
  const name = textAt(definition, "metadata", "name")
  const held = arrayAt(definition, "metadata", "finalizers")
  if (!held.includes(Definition.cleanup)) return
  context.state.kinds.put(name, Definition.kindsOf(definition))
  const row = Definition.ownKindOf(definition)
  clear(context, row)
  const left = context.state.collection(row.storage).size
  const status = ensureObject(definition, "status")
  const conditions = names.withConditions(
    arrayAt(status, "conditions"),
    [terminating],
    RequestContext.timestamp(context.now)
  )
  if (left > 0) {
    if (Definition.isTrue(definition, "Terminating")) return
    status["conditions"] = conditions
    write.overwrite(context, kind, definition, false)
    return
  }
  const rest = held.filter((one) => one !== Definition.cleanup)
  put(ensureObject(definition, "metadata"), "finalizers", rest)
  if (rest.length > 0) write.overwrite(context, kind, definition, false)
  else write.erase(context, kind, definition, false)
  context.state.kinds.put(name, [])
  context.state.collection(row.storage).watchers.finishAll()
}

const clear = (context: RequestScope, kind: Kind): void => {
  const options = {
    gracePeriodSeconds: undefined,
    propagationPolicy: undefined,
    uid: undefined,
    resourceVersion: undefined,
    dryRun: false
  }
  const all = select(context.state.collection(kind.storage), everything, context.state.log.revision())
  // As the server itself does it: nobody else is asked.
  for (const version of all) {
    const object = Version.parse(version)
    const outcome = lifecycle.markDeleted(context, kind, object, options)
    if (outcome === "gone") write.erase(context, kind, object, false)
    else if (outcome === "changed") write.overwrite(context, kind, object, false)
  }
}
