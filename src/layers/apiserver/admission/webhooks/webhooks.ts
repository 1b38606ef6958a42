/**
 * The plugins that ask webhooks: mutating ones one after another, each about what the one before has made of the object, validating
 * ones all together about what is going to be stored. No answer of a mutating webhook leads to another round (`reinvocationPolicy` is
 * kept and not followed), and conditions in CEL (`matchConditions`) are taken to hold. Source: the webhook plugins of the reference
 * server, and their words.
 */
import * as Result from "effect/Result"
import { at, clone, equal, get, isObject, objectAt, put, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import * as body from "../../body.ts"
import type * as Status from "../../../../kube/Status.ts"
import * as jsonPatch from "../../patch/jsonPatch.ts"
import * as Refusal from "../../Refusal.ts"
import type { Target } from "../../routing.ts"
import * as fieldValidation from "../../rules/fieldValidation.ts"
import * as converted from "../../schema/converted.ts"
import * as Kind from "../../schema/Kind.ts"
import type { Turn } from "../../Turn.ts"
import type { Plugin, Removal, Write } from "../Admission.ts"
import * as stored from "../stored.ts"
import { Unanswered } from "./Consultation.ts"
import type { Outcome, Question } from "./Consultation.ts"
import * as Hooks from "./hooks.ts"
import { isNamespace, match } from "./matching.ts"
import type { Operation, Subject } from "./matching.ts"
import * as options from "./options.ts"
import * as review from "./review.ts"

/** What a webhook may be asked about, writes and deletions alike. */
interface Deed extends Subject {
  readonly turn: Turn
  readonly target: Target
  readonly operation: Operation
  readonly name: string
  /** In stored form. */
  readonly object: JsonObject | undefined
  readonly before: JsonObject | undefined
  readonly dryRun: boolean
  readonly options: JsonObject
}

export const plugins = (hooks: Hooks.Hooks): ReadonlyArray<Plugin> => [
  {
    name: "MutatingAdmissionWebhook",
    parts: true,
    admit: (write) => {
      if (!concerns(hooks, write.target)) return
      for (const hook of hooks.of("mutating")) mutate(hook, write)
    }
  },
  {
    name: "ValidatingAdmissionWebhook",
    parts: true,
    check: (write) => {
      if (concerns(hooks, write.target)) validate(hooks.of("validating"), deedOf(write))
    },
    remove: (removal) => {
      if (!concerns(hooks, removal.target)) return
      const { before, turn } = removal
      const key = `${textAt(before, "metadata", "uid")} ${textAt(before, "metadata", "resourceVersion")}`
      const said = turn.consultation?.passed.get(key)
      if (said !== undefined) turn.warnings.push(...said)
      else {
        const start = turn.warnings.length
        judgeRemoval(hooks, deedOfRemoval(removal))
        turn.consultation?.passed.set(key, turn.warnings.slice(start))
      }
    }
  }
]

/** A scale is no part of the object that is written, and nobody is asked about it. */
const concerns = (hooks: Hooks.Hooks, { kind, subresource }: Target): boolean =>
  hooks.exist() && !Hooks.isExempt(kind) && subresource !== "scale"

const judgeRemoval = (hooks: Hooks.Hooks, deed: Deed): void => {
  for (const hook of hooks.of("mutating")) {
    const verdict = verdictOf(hook, deed, "mutating")
    if (verdict?.patch !== undefined) throw unmodifiable(hook)
  }
  validate(hooks.of("validating"), deed)
}

const unmodifiable = ({ name }: Hooks.Hook): Refusal.Refusal =>
  Refusal.internal(
    `admission webhook ${JSON.stringify(name)} attempted to modify the object, which is not supported for this operation`
  )

const deedOf = (write: Write, object: JsonObject = write.object): Deed => {
  const { before, dryRun, target, turn } = write
  return {
    turn,
    target,
    operation: before === undefined ? "CREATE" : "UPDATE",
    name: target.name || textAt(object, "metadata", "name"),
    object,
    before,
    dryRun,
    options: options.ofWrite(turn, before === undefined),
    namespaceLabels: () => (isNamespace(target.kind) ? labelsOf(object) : namespaceLabels(turn, target.namespace)),
    objectLabels: before === undefined ? [labelsOf(object)] : [labelsOf(object), labelsOf(before)]
  }
}

const deedOfRemoval = ({ before, name, options: given, target, turn }: Removal): Deed => ({
  turn,
  target,
  operation: "DELETE",
  name: target.name,
  object: undefined,
  before,
  dryRun: given.dryRun,
  options: options.ofDeletion(given),
  namespaceLabels: () => namespaceLabels(turn, isNamespace(target.kind) ? name : target.namespace),
  objectLabels: [labelsOf(before)]
})

const labelsOf = (object: JsonObject): Record<string, string> | undefined =>
  objectAt(object, "metadata", "labels") as Record<string, string> | undefined

const namespaceLabels = (turn: Turn, namespace: string): Record<string, string> | undefined => {
  const found = stored.object(turn, "namespaces", "", namespace)
  return found === undefined ? undefined : labelsOf(found)
}

/** What a webhook says; undefined when it is not to be asked, or its failure is to be ignored. */
const verdictOf = (hook: Hooks.Hook, deed: Deed, phase: Hooks.Phase): review.Verdict | undefined => {
  const question = questionOf(hook, deed)
  if (question === undefined) return undefined
  const outcome = outcomeOf(deed, question)
  if (outcome === undefined) throw new Unanswered([question])
  return judged(hook, deed.turn, outcome, phase)
}

const questionOf = (hook: Hooks.Hook, deed: Deed): Question | undefined => {
  const kind = match(hook, deed)
  if (kind === undefined) return undefined
  const { before, object, operation, target } = deed
  const told = { ...deed, kind, object: served(kind, object), oldObject: served(kind, before) }
  const about = `${operation} ${target.namespace}/${textAt(before, "metadata", "name")}`
  return { hook, about, request: review.requestText(told) }
}

const outcomeOf = ({ before, target, turn }: Deed, question: Question): Outcome | undefined => {
  const { consultation } = turn
  const outcome = consultation?.outcomeOf(question)
  if (outcome === undefined && consultation?.mayAsk(question) === false) {
    throw Refusal.modified(target.kind, textAt(before, "metadata", "name"))
  }
  return outcome
}

const judged = (hook: Hooks.Hook, turn: Turn, outcome: Outcome, phase: Hooks.Phase): review.Verdict | undefined => {
  const verdict = review.read(outcome, phase)
  if (Result.isFailure(verdict)) {
    if (hook.ignoresFailure) return undefined
    throw Refusal.internal(`failed calling webhook ${JSON.stringify(hook.name)}: ${verdict.failure}`)
  }
  const { allowed, status, warnings } = verdict.success
  turn.warnings.push(...warnings)
  if (!allowed) throw new Refusal.Refusal({ status: review.denial(hook.name, status) as unknown as Status.Status })
  return verdict.success
}

/** All are asked before anyone is heard, and heard in order. */
const validate = (hooks: ReadonlyArray<Hooks.Hook>, deed: Deed): void => {
  const asked = hooks.flatMap((hook) => {
    const question = questionOf(hook, deed)
    return question === undefined ? [] : [{ question, outcome: outcomeOf(deed, question) }]
  })
  const open = asked.filter(({ outcome }) => outcome === undefined)
  if (open.length > 0) throw new Unanswered(open.map(({ question }) => question))
  for (const { outcome, question } of asked) {
    if (outcome !== undefined) judged(question.hook, deed.turn, outcome, "validating")
  }
}

/** A copy in the version of a kind; null for what is not there. */
const served = (kind: Kind.Kind, object: JsonObject | undefined): Json => {
  if (object === undefined) return null
  const own = kind.conversion === undefined ? object : converted.fromStored(kind, clone(object))
  const { apiVersion: _apiVersion, kind: _kind, ...rest } = own
  return { kind: kind.kind, apiVersion: Kind.apiVersion(kind), ...rest }
}

const mutate = (hook: Hooks.Hook, write: Write): void => {
  const { object, target, turn } = write
  const shown = write.before === undefined ? unborn(target, object) : object
  const deed = deedOf(write, shown)
  const verdict = verdictOf(hook, deed, "mutating")
  if (verdict?.patch === undefined) return
  const kind = match(hook, deed) ?? target.kind
  const patched = apply(turn, kind, served(kind, shown), verdict.patch)
  if (patched === undefined) return
  settle(write, patched)
}

/** What the server says of a new object by itself is said after the mutating webhooks were asked. */
const unborn = (target: Target, object: JsonObject): JsonObject => {
  const {
    creationTimestamp: _time,
    generation: _generation,
    uid: _uid,
    ...metadata
  } = objectAt(object, "metadata") ?? {}
  if (target.name === "" && textAt(metadata, "generateName") !== "") delete metadata["name"]
  return { ...object, metadata }
}

/** The object that a patch makes of another, in stored form; undefined when it says nothing. */
const apply = (turn: Turn, kind: Kind.Kind, document: Json, text: string): JsonObject | undefined => {
  const patch = body.parseJson(text)
  if (patch === undefined) throw Refusal.internal("invalid JSON in the patch of a webhook")
  try {
    const patched = clone(jsonPatch.apply(document, patch))
    if (equal(patched, document)) return undefined
    if (!isObject(patched)) throw Refusal.badRequest("the patch does not result in an object")
    return body.accept(patched, kind, fieldValidation.ofBody(lenient(turn), kind))
  } catch (thrown) {
    throw thrown instanceof Refusal.Refusal ? Refusal.internal(causeOf(thrown)) : thrown
  }
}

const causeOf = ({ status }: Refusal.Refusal): string => status.details?.causes?.[0]?.message ?? status.message ?? ""

const lenient = (turn: Turn): Turn => ({
  ...turn,
  request: { ...turn.request, query: new URLSearchParams({ fieldValidation: "Ignore" }) }
})

/** Members of the metadata that are the server's, whatever a webhook makes of them. */
const kept = [
  "namespace",
  "uid",
  "creationTimestamp",
  "generation",
  "resourceVersion",
  "deletionTimestamp",
  "deletionGracePeriodSeconds"
]

/** Puts into the object what a webhook may change through this endpoint. */
const settle = ({ object, target }: Write, patched: JsonObject): void => {
  const before = objectAt(object, "metadata") ?? {}
  const metadata = objectAt(patched, "metadata") ?? {}
  for (const key of kept) put(metadata, key, get(before, key))
  if (textAt(metadata, "name") === "") put(metadata, "name", get(before, "name"))
  const { kind, subresource } = target
  const next: JsonObject =
    subresource === ""
      ? { ...patched, metadata }
      : { ...object, metadata, ...partOf(subresource === "status" ? "status" : "spec", patched) }
  if (subresource === "" && Kind.hasStatus(kind)) put(next, "status", at(object, "status"))
  for (const key of Object.keys(object)) delete object[key]
  Object.assign(object, next)
  if (subresource === "") kind.defaults?.(object)
}

const partOf = (part: string, from: JsonObject): JsonObject => {
  const value = get(from, part)
  return value === undefined ? {} : { [part]: value }
}
