/**
 * The admission plugin of ValidatingAdmissionPolicies: it evaluates every policy that matches, once for each binding and parameter, and refuses,
 * warns or records as the bindings say. Source: apiserver/pkg/admission/plugin/policy/validating: dispatcher.go, including its messages.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Answer, GroupVersionKind, Plugin } from "../admission/Admission.ts"
import * as attributesOf from "../admission/attributes.ts"
import type { Attributes, Versioned } from "../admission/attributes.ts"
import * as activation from "../cel/activation.ts"
import { textAt } from "../json.ts"
import type { Target } from "../routing.ts"
import type { ResourceDefinition } from "../scheme/ResourceDefinition.ts"
import * as StatusError from "../StatusError.ts"
import { addWarning } from "../validation/fieldValidation.ts"
import * as VersionedObject from "../webhook/versionedObject.ts"
import type { Binding, Bound, Policies, Policy } from "./configuration.ts"
import * as matching from "./matching.ts"
import * as params from "./params.ts"
import { validate } from "./validator.ts"
import type { Decisions, Denial } from "./validator.ts"

export const plugin = (policies: Policies): Plugin => ({
  name: "ValidatingAdmissionPolicy",
  subresources: true,
  check: (write) =>
    isRelevant(policies, write.target, write.as) ? dispatch(policies, attributesOf.ofWrite(write)) : undefined,
  remove: (deletion) =>
    isRelevant(policies, deletion.target) ? dispatch(policies, attributesOf.ofDeletion(deletion)) : undefined,
  connect: (connection) =>
    isRelevant(policies, connection.target, connection.as)
      ? dispatch(policies, attributesOf.ofConnection(connection))
      : undefined
})

/** Policies do not apply to policies and their bindings, so that a bad one can be corrected. Webhook configurations are no exception. */
const isExempt = ({ group, plural }: ResourceDefinition): boolean =>
  group === "admissionregistration.k8s.io" && plural.includes("admissionpolic")

/** A scale is checked before it is written into the object. */
const isRelevant = (policies: Policies, { resource, subresource }: Target, as?: GroupVersionKind): boolean =>
  policies.exist() && !isExempt(resource) && (subresource !== "scale" || as !== undefined)

/** A policy that matches the request, and the version of the resource that it asks for. */
interface Matched extends Bound {
  readonly resource: ResourceDefinition
}

const dispatch = (policies: Policies, attributes: Attributes): Answer => {
  const matched = policies.all().flatMap(({ bindings, policy }): ReadonlyArray<Matched> => {
    const resource = matching.match(policy.match, attributes)
    return resource === undefined ? [] : [{ policy, bindings, resource }]
  })
  return matched.length === 0 ? undefined : evaluated(matched, attributes)
}

interface Refusal extends Pick<Denial, "message" | "reason"> {
  readonly policy: Policy
  readonly binding: Binding | undefined
}

const evaluated = Effect.fnUntraced(function* (
  matched: ReadonlyArray<Matched>,
  attributes: Attributes
): Effect.fn.Return<void, StatusError.StatusError> {
  const refusals: Array<Refusal> = []
  for (const one of matched) yield* evaluatePolicy(one, attributes, refusals)
  const [first] = refusals
  if (first !== undefined) return yield* refusalOf(first, attributes)
})

const evaluatePolicy = Effect.fnUntraced(function* (
  { bindings, policy, resource }: Matched,
  attributes: Attributes,
  refusals: Array<Refusal>
): Effect.fn.Return<void, StatusError.StatusError> {
  const { context, target } = attributes
  const misconfigured = (message: string, binding?: Binding) => {
    if (!policy.validator.ignoresFailure) refusals.push({ policy, binding, message, reason: "Invalid" })
  }
  const paramResource = policy.paramKind === undefined ? undefined : params.resourceOf(context, policy.paramKind)
  if (policy.paramKind !== undefined && paramResource === undefined) {
    return misconfigured(`failed to configure policy: ${params.unknownKind(policy.paramKind)}`)
  }
  let versioned: Versioned | undefined
  const annotations = new Map<string, Set<string>>()
  for (const binding of bindings) {
    if (binding.match !== undefined && matching.match(binding.match, attributes) === undefined) continue
    const found = yield* params.collect(context, paramResource, binding.paramRef, target.namespace)
    if (Result.isFailure(found)) {
      misconfigured(`failed to configure binding: ${found.failure}`, binding)
      continue
    }
    if (found.success.length === 0) continue
    versioned ??= yield* VersionedObject.attributes(attributes, resource)
    const namespace = activation.namespaceOf(versioned)
    if (namespace === undefined)
      return yield* StatusError.notFound({ group: "", plural: "namespaces" }, target.namespace)
    for (const param of found.success) {
      const decisions = validate(policy.validator, versioned, param, namespace)
      refusals.push(...carriedOut(policy, binding, decisions, attributes))
      for (const [key, value] of decisions.annotations)
        annotations.set(key, (annotations.get(key) ?? new Set()).add(value))
    }
  }
  for (const [key, values] of annotations) annotate(attributes, `${policy.name}/${key}`, [...values].join(", "))
})

/** Warns and records as the binding says; returns the refusals. */
const carriedOut = (
  policy: Policy,
  binding: Binding,
  { denials, failures }: Decisions,
  attributes: Attributes
): ReadonlyArray<Refusal> => {
  const refusals: Array<Refusal> = []
  for (const denial of denials) {
    for (const action of binding.actions) {
      if (action === "Deny") refusals.push({ policy, binding, ...denial })
      else if (action === "Audit") annotate(attributes, failureKey, failureText(policy, binding, denial))
      else {
        const about = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}'`
        addWarning(attributes.context.warnings, `Validation failed for ${about}: ${denial.message}`)
      }
    }
  }
  return [...refusals, ...failures.map((failure) => ({ policy, binding, ...failure }))]
}

const failureKey = "validation.policy.admission.k8s.io/validation_failure"

/** JSON as Go writes it, which escapes these characters. */
const failureText = (policy: Policy, binding: Binding, { index, message }: Denial): string =>
  JSON.stringify([
    { message, policy: policy.name, binding: binding.name, expressionIndex: index, validationActions: binding.actions }
  ]).replace(/[<>&\u2028\u2029]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** The first value of a key stays: annotations are not overwritten. */
const annotate = ({ context: { written } }: Attributes, key: string, value: string): void => {
  written.annotations ??= new Map()
  if (!written.annotations.has(key)) written.annotations.set(key, value)
}

const codes: ReadonlyMap<string, number> = new Map([
  ["Forbidden", 403],
  ["Unauthorized", 401],
  ["RequestEntityTooLarge", 413]
])

/** A Forbidden error with the reason and code of the validation. */
const refusalOf = ({ binding, message, policy, reason }: Refusal, attributes: Attributes): StatusError.StatusError => {
  const which = binding === undefined ? "" : ` with binding '${binding.name}'`
  const why = `ValidatingAdmissionPolicy '${policy.name}'${which} denied request: ${message}`
  const { headers, status } = StatusError.forbidden(attributes.target.resource, nameOf(attributes), why, [
    { message: why }
  ])
  return new StatusError.StatusError({ headers, status: { ...status, reason, code: codes.get(reason) ?? 422 } })
}

/** The name in a refusal: a name that the server generates is not known yet. */
const nameOf = ({ name, object }: Attributes): string =>
  name || textAt(object, "metadata", "name") || textAt(object, "metadata", "generateName") || "Unknown"
