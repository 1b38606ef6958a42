/**
 * The stored policies that have bindings, by name. They are read again when a policy or a binding has changed, so that a change holds for the next
 * request, and each revision of a policy is compiled once. Source: apiserver/pkg/admission/plugin/policy/generic: policySource.
 */
import { arrayAt, objectAt, textAt } from "../json.ts"
import type { JsonObject } from "../json.ts"
import type { Collection } from "../storage/Collection.ts"
import * as Version from "../storage/Version.ts"
import * as matching from "./matching.ts"
import * as params from "./params.ts"
import * as validator from "./validator.ts"

export interface Binding {
  readonly name: string
  readonly policy: string
  /** Undefined: all requests that the policy matches. */
  readonly match: matching.MatchResources | undefined
  readonly paramRef: JsonObject | undefined
  /** `Deny`, `Warn`, `Audit`. */
  readonly actions: ReadonlyArray<string>
}

export interface Policy {
  readonly name: string
  readonly match: matching.MatchResources
  readonly paramKind: params.ParamKind | undefined
  readonly validator: validator.Validator
}

export interface Bound {
  readonly policy: Policy
  readonly bindings: ReadonlyArray<Binding>
}

export interface Policies {
  /** Reads a counter, for every write. */
  readonly exist: () => boolean
  readonly all: () => ReadonlyArray<Bound>
}

export const group = "admissionregistration.k8s.io"

export const storage = `${group}/validatingadmissionpolicies`

export const make = (collection: (storage: string) => Collection): Policies => {
  const policies = collection(storage)
  const bindings = collection(`${group}/validatingadmissionpolicybindings`)
  let read: readonly [Version.Version | undefined, Version.Version | undefined] = [undefined, undefined]
  let bound: ReadonlyArray<Bound> = []
  return {
    exist: () => bindings.size > 0 && policies.size > 0,
    all: () => {
      if (read[0] === policies.latest && read[1] === bindings.latest) return bound
      read = [policies.latest, bindings.latest]
      bound = boundOf(all(policies).map(policyOf), all(bindings).map(bindingOf))
      return bound
    }
  }
}

const all = (collection: Collection): ReadonlyArray<Version.Version> => [
  ...collection.range({ namespace: "", after: "", revision: collection.latest?.revision ?? 0 })
]

const boundOf = (policies: ReadonlyArray<Policy>, bindings: ReadonlyArray<Binding>): ReadonlyArray<Bound> => {
  const byPolicy = new Map<string, Array<Binding>>()
  for (const binding of bindings) {
    const found = byPolicy.get(binding.policy)
    if (found === undefined) byPolicy.set(binding.policy, [binding])
    else found.push(binding)
  }
  return policies.flatMap((policy) => {
    const own = byPolicy.get(policy.name)
    return own === undefined ? [] : [{ policy, bindings: own }]
  })
}

/** Entries last as long as the revision that they are made from. */
const known = new WeakMap<Version.Version, Policy>()

const policyOf = (version: Version.Version): Policy => {
  const found = known.get(version)
  if (found !== undefined) return found
  const spec = objectAt(Version.parse(version), "spec")
  let compiled: validator.Validator | undefined
  const policy: Policy = {
    name: version.name,
    match: matching.read(objectAt(spec, "matchConstraints")),
    paramKind: params.kindOf(spec),
    get validator() {
      return (compiled ??= validator.compile(spec))
    }
  }
  known.set(version, policy)
  return policy
}

const bindingOf = (version: Version.Version): Binding => {
  const spec = objectAt(Version.parse(version), "spec")
  const match = objectAt(spec, "matchResources")
  return {
    name: version.name,
    policy: textAt(spec, "policyName"),
    match: match === undefined ? undefined : matching.read(match),
    paramRef: objectAt(spec, "paramRef"),
    actions: arrayAt(spec, "validationActions").filter((one) => typeof one === "string")
  }
}
