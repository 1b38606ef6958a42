/**
 * The admission plugins of webhooks: mutating ones in order, each with the object as the one before has patched it; validating ones
 * concurrently, with the final object. Webhooks are not reinvoked (`reinvocationPolicy` is stored and ignored). Source:
 * apiserver/pkg/admission/plugin/webhook/{mutating,validating}, including their messages.
 */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import type * as Status from "../../kube/Status.ts"
import * as StatusError from "../StatusError.ts"
import type { Target } from "../routing.ts"
import { addWarning } from "../validation/fieldValidation.ts"
import type { GroupVersionKind, Plugin, RequestScope, Write } from "../admission/Admission.ts"
import * as attributesOf from "../admission/attributes.ts"
import type { Attributes } from "../admission/attributes.ts"
import * as activation from "../cel/activation.ts"
import * as matchConditions from "../cel/matchConditions.ts"
import * as RequestContext from "../RequestContext.ts"
import { reply } from "./call.ts"
import * as Hooks from "./configuration.ts"
import { match } from "./matching.ts"
import * as VersionedObject from "./versionedObject.ts"
import * as review from "./review.ts"

/** Policies are evaluated between them: `policy/`. */
export interface Plugins {
  readonly mutating: Plugin
  readonly validating: Plugin
}

export const plugins = (hooks: Hooks.Hooks): Plugins => ({
  mutating: {
    name: "MutatingAdmissionWebhook",
    subresources: true,
    admit: (write) =>
      isRelevant(hooks, write.target, write.as)
        ? Effect.forEach(hooks.of("mutating"), (hook) => mutate(hook, write), { discard: true })
        : undefined,
    remove: (deletion) =>
      isRelevant(hooks, deletion.target) ? withoutPatches(hooks, attributesOf.ofDeletion(deletion)) : undefined,
    connect: (connection) =>
      isRelevant(hooks, connection.target) ? withoutPatches(hooks, attributesOf.ofConnection(connection)) : undefined
  },
  validating: {
    name: "ValidatingAdmissionWebhook",
    subresources: true,
    check: (write) =>
      isRelevant(hooks, write.target, write.as)
        ? validate(hooks.of("validating"), attributesOf.ofWrite(write))
        : undefined,
    remove: (deletion) =>
      isRelevant(hooks, deletion.target)
        ? validate(hooks.of("validating"), attributesOf.ofDeletion(deletion))
        : undefined,
    connect: (connection) =>
      isRelevant(hooks, connection.target)
        ? validate(hooks.of("validating"), attributesOf.ofConnection(connection))
        : undefined
  }
})

/** For a scale, webhooks are called before it is written into the object. */
const isRelevant = (hooks: Hooks.Hooks, { resource, subresource }: Target, as?: GroupVersionKind): boolean =>
  hooks.exist() && !Hooks.isExempt(resource) && (subresource !== "scale" || as !== undefined)

type Answer<A> = Effect.Effect<A, StatusError.StatusError>

/** The mutating webhooks for a request without an object to change. */
const withoutPatches = (hooks: Hooks.Hooks, attributes: Attributes): Answer<void> =>
  Effect.forEach(
    hooks.of("mutating"),
    (hook) =>
      Effect.flatMap(verdictOf(hook, attributes), (verdict) =>
        verdict?.patch === undefined ? Effect.void : unmodifiable(hook)
      ),
    { discard: true }
  )

const unmodifiable = ({ name }: Hooks.Hook): StatusError.StatusError =>
  StatusError.internal(
    `admission webhook ${JSON.stringify(name)} attempted to modify the object, which is not supported for this operation`
  )

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
  const reviewed = yield* VersionedObject.attributes(attributes, resource)
  if (hook.conditions.length > 0) {
    const matched = matchConditions.match(hook, activation.bindings(reviewed, { hasAuthorizer: true }))
    if (Result.isFailure(matched)) {
      return yield* StatusError.forbidden(attributes.target.resource, attributes.name, matched.failure)
    }
    if (!matched.success) return undefined
  }
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
  const attributes = attributesOf.ofWrite(write, sent)
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
