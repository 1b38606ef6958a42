/**
 * The admission plugins of webhooks: mutating ones in order, each with the object as the one before has patched it; validating ones
 * concurrently, with the final object. Webhooks are not reinvoked (`reinvocationPolicy` is stored and ignored). Source:
 * apiserver/pkg/admission/plugin/webhook/{mutating,validating}, including their messages.
 */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import { arrayAt, objectAt, textAt } from "../json.ts"
import type { JsonObject } from "../json.ts"
import type * as Status from "../../kube/Status.ts"
import * as StatusError from "../StatusError.ts"
import type { Target } from "../routing.ts"
import type { DeleteOptions } from "../validation/lifecycle.ts"
import type { RequestScope } from "../admission/Admission.ts"
import type { GroupVersionKind, Plugin, Deletion, Write } from "../admission/Admission.ts"
import * as stored from "../admission/stored.ts"
import * as RequestContext from "../RequestContext.ts"
import { reply } from "./call.ts"
import * as Hooks from "./configuration.ts"
import { isNamespace, match } from "./matching.ts"
import type { Operation, Subject } from "./matching.ts"
import * as VersionedObject from "./versionedObject.ts"
import * as review from "./review.ts"

/** The attributes of a request that webhooks receive, for writes and deletions (admission.Attributes). */
interface Attributes extends Subject {
  readonly context: RequestScope
  readonly as: GroupVersionKind | undefined
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
  matchConditions,
  {
    name: "MutatingAdmissionWebhook",
    subresources: true,
    admit: (write) =>
      isRelevant(hooks, write.target, write.as)
        ? Effect.forEach(hooks.of("mutating"), (hook) => mutate(hook, write), { discard: true })
        : undefined
  },
  {
    name: "ValidatingAdmissionWebhook",
    subresources: true,
    check: (write) =>
      isRelevant(hooks, write.target, write.as) ? validate(hooks.of("validating"), attributesOf(write)) : undefined,
    remove: (deletion) =>
      isRelevant(hooks, deletion.target) ? admitDeletion(hooks, deletionAttributes(deletion)) : undefined
  }
]

/** For a scale, webhooks are called before it is written into the object. */
const isRelevant = (hooks: Hooks.Hooks, { resource, subresource }: Target, as?: GroupVersionKind): boolean =>
  hooks.exist() && !Hooks.isExempt(resource) && (subresource !== "scale" || as !== undefined)

type Answer<A> = Effect.Effect<A, StatusError.StatusError>

const admitDeletion = (hooks: Hooks.Hooks, attributes: Attributes): Answer<void> => {
  const mutating = Effect.forEach(
    hooks.of("mutating"),
    (hook) =>
      Effect.flatMap(verdictOf(hook, attributes), (verdict) =>
        verdict?.patch === undefined ? Effect.void : unmodifiable(hook)
      ),
    { discard: true }
  )
  return Effect.andThen(mutating, validate(hooks.of("validating"), attributes))
}

const unmodifiable = ({ name }: Hooks.Hook): StatusError.StatusError =>
  StatusError.internal(
    `admission webhook ${JSON.stringify(name)} attempted to modify the object, which is not supported for this operation`
  )

const attributesOf = (write: Write, object: JsonObject = write.object): Attributes => {
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

const deletionAttributes = ({ before, name, options: given, target, context }: Deletion): Attributes => ({
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

const labelsOf = (object: JsonObject): Record<string, string> | undefined =>
  objectAt(object, "metadata", "labels") as Record<string, string> | undefined

const namespaceLabels = (context: RequestScope, namespace: string): Record<string, string> | undefined => {
  const found = stored.object(context, "namespaces", "", namespace)
  return found === undefined ? undefined : labelsOf(found)
}

/** The verdict of a mutating webhook; undefined when it does not match, or its failure is ignored. */
const verdictOf = Effect.fnUntraced(function* (
  hook: Hooks.Hook,
  attributes: Attributes
): Effect.fn.Return<review.Verdict | undefined, StatusError.StatusError> {
  const request = yield* requestOf(hook, attributes)
  if (request === undefined) return undefined
  const result = yield* send(attributes.context, { hook, request })
  return yield* verdictOfResult(hook, attributes.context, result, "mutating")
})

/** The request of a review as JSON, without its uid; undefined when the webhook does not match. */
const requestOf = Effect.fnUntraced(function* (
  hook: Hooks.Hook,
  attributes: Attributes
): Effect.fn.Return<string | undefined, StatusError.StatusError> {
  const resource = match(hook, attributes)
  if (resource === undefined) return undefined
  const { as, before, context, object, target } = attributes
  const form = (one: JsonObject | undefined) =>
    as === undefined
      ? VersionedObject.served(context, target, resource, one)
      : Effect.succeed(VersionedObject.unversioned(as, one))
  const reviewed = { ...attributes, resource, object: yield* form(object), oldObject: yield* form(before) }
  return review.requestText(reviewed)
})

interface AdmissionCall {
  readonly hook: Hooks.Hook
  readonly request: string
}

const send = ({ state }: RequestScope, { hook, request }: AdmissionCall): Effect.Effect<review.CallResult> =>
  Effect.flatMap(Effect.map(Random.Random, RequestContext.uuid), (uid) =>
    Effect.map(
      reply(state.caller, hook.address, hook.timeoutSeconds, review.reviewText(uid, request)),
      (answer): review.CallResult =>
        Result.isFailure(answer)
          ? { _tag: "Failed", why: answer.failure }
          : { _tag: "Replied", uid, reply: answer.success }
    )
  )

const verdictOfResult = (
  hook: Hooks.Hook,
  context: RequestScope,
  result: review.CallResult,
  phase: Hooks.Phase
): Answer<review.Verdict | undefined> => {
  const verdict = review.read(result, phase)
  if (Result.isFailure(verdict)) {
    if (hook.ignoresFailure) return Effect.undefined
    return StatusError.internal(`failed calling webhook ${JSON.stringify(hook.name)}: ${verdict.failure}`)
  }
  const { allowed, status, warnings } = verdict.success
  for (const warning of warnings) addWarning(context.warnings, warning)
  return allowed
    ? Effect.succeed(verdict.success)
    : new StatusError.StatusError({ status: review.denial(hook.name, status) as unknown as Status.Status })
}

/**
 * Maximum characters of all warnings together, and of one that would exceed it. Source: apiserver/pkg/endpoints/filters:
 * WithWarningRecorder.
 */
const [allWarnings, longWarning] = [4096, 256] as const

/** Adds each warning once; one that exceeds the limit is truncated, and then dropped. */
const addWarning = (warnings: Array<string>, warning: string): void => {
  if (warning === "" || warnings.includes(warning)) return
  const length = warnings.reduce((sum, one) => sum + one.length, 0)
  const text = length + warning.length > allWarnings ? warning.slice(0, longWarning) : warning
  if (length + text.length <= allWarnings) warnings.push(text)
}

/** All webhooks are called together; their responses are evaluated in order. */
const validate = Effect.fnUntraced(function* (
  hooks: ReadonlyArray<Hooks.Hook>,
  attributes: Attributes
): Effect.fn.Return<void, StatusError.StatusError> {
  const calls: Array<AdmissionCall> = []
  for (const hook of hooks) {
    const request = yield* requestOf(hook, attributes)
    if (request !== undefined) calls.push({ hook, request })
  }
  const { context } = attributes
  const results = yield* Effect.forEach(
    calls,
    (call) => Effect.map(send(context, call), (result) => ({ hook: call.hook, result })),
    { concurrency: "unbounded" }
  )
  for (const { hook, result } of results) yield* verdictOfResult(hook, context, result, "validating")
})

const mutate = Effect.fnUntraced(function* (
  hook: Hooks.Hook,
  write: Write
): Effect.fn.Return<void, StatusError.StatusError> {
  const { as, object, target, context } = write
  const sent =
    write.before === undefined && as === undefined ? VersionedObject.withoutServerFields(target, object) : object
  const attributes = attributesOf(write, sent)
  const patch = (yield* verdictOf(hook, attributes))?.patch
  if (patch === undefined) return
  if (as !== undefined) {
    const next = yield* VersionedObject.patchUnversioned(VersionedObject.unversioned(as, object), patch)
    if (next !== undefined) VersionedObject.replace(object, next)
    return
  }
  const resource = match(hook, attributes) ?? target.resource
  const document = yield* VersionedObject.served(context, target, resource, sent)
  const next = yield* VersionedObject.stored(write, resource, document, patch)
  if (next !== undefined) VersionedObject.copyPatched(write, next)
})

/**
 * This server does not evaluate `matchConditions` (CEL): it calls such a webhook as if the conditions held, so that no request that the
 * webhook would deny in a cluster is admitted here. This plugin warns the client that writes such a configuration.
 */
const matchConditions: Plugin = {
  name: "MatchConditions",
  check: ({ object, target, context }) => {
    if (Hooks.isExempt(target.resource)) context.warnings.push(...warningsOf(object))
    return undefined
  }
}

const warningsOf = (configuration: JsonObject): ReadonlyArray<string> =>
  arrayAt(configuration, "webhooks").flatMap((hook, index) =>
    arrayAt(hook, "matchConditions").length === 0
      ? []
      : [
          `webhooks[${index}].matchConditions: this server evaluates no CEL: ${JSON.stringify(textAt(hook, "name"))} is called whatever they say`
        ]
  )

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
