/**
 * The webhooks of the stored configurations, in the order of their calls: by the name of the configuration, then in its order. They are
 * read again only when a configuration has changed. Source: apiserver/pkg/admission/configuration.
 */
import * as Result from "effect/Result"
import * as Selector from "../../kube/Selector.ts"
import { arrayAt, at, isObject, numberAt, objectAt, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import type { Collection } from "../storage/Collection.ts"
import * as Version from "../storage/Version.ts"
import * as matchConditions from "../cel/matchConditions.ts"
import { addressOf } from "./call.ts"
import type { Address } from "./call.ts"

export interface Rule {
  readonly groups: ReadonlyArray<string>
  readonly versions: ReadonlyArray<string>
  /** `pods`, `pods/status`, `*`, `pods/*`, `*` of either side. */
  readonly resources: ReadonlyArray<string>
  readonly operations: ReadonlyArray<string>
  readonly scope: string
}

export interface Hook {
  readonly name: string
  readonly rules: ReadonlyArray<Rule>
  /** matchPolicy Equivalent: a request for another version of a matching resource is sent in the version of the rule. */
  readonly equivalent: boolean
  /** Undefined: selects everything. */
  readonly namespaces: Selector.LabelSelector | undefined
  readonly objects: Selector.LabelSelector | undefined
  /** All of them have to hold for a call. */
  readonly conditions: ReadonlyArray<matchConditions.Condition>
  /** failurePolicy Ignore: a failed call admits the request. */
  readonly ignoresFailure: boolean
  readonly timeoutSeconds: number
  readonly address: Address
}

export type Phase = "mutating" | "validating"

const group = "admissionregistration.k8s.io"

const storages: Readonly<Record<Phase, string>> = {
  mutating: `${group}/mutatingwebhookconfigurations`,
  validating: `${group}/validatingwebhookconfigurations`
}

/** No webhook is called for webhook configurations, so that a bad one can be corrected. */
export const isExempt = (kind: { readonly group: string }): boolean => kind.group === group

export interface Hooks {
  /** Whether any configuration exists. */
  readonly exist: () => boolean
  readonly of: (phase: Phase) => ReadonlyArray<Hook>
}

export const make = (collection: (storage: string) => Collection): Hooks => {
  const phases = {
    mutating: remembered(collection(storages.mutating)),
    validating: remembered(collection(storages.validating))
  }
  return {
    exist: () => phases.mutating.collection.size > 0 || phases.validating.collection.size > 0,
    of: (phase) => phases[phase].read()
  }
}

/** `hooks` are those at the commit `latest`. */
const remembered = (collection: Collection) => {
  let latest: Version.Version | undefined
  let hooks: ReadonlyArray<Hook> = []
  return {
    collection,
    read: (): ReadonlyArray<Hook> => {
      if (collection.latest === latest) return hooks
      latest = collection.latest
      const all = [...collection.range({ namespace: "", after: "", revision: latest?.revision ?? 0 })]
      hooks = all.flatMap(hooksOf)
      return hooks
    }
  }
}

/** The webhooks of each revision of a configuration: expressions are compiled once. */
const known = new WeakMap<Version.Version, ReadonlyArray<Hook>>()

const hooksOf = (version: Version.Version): ReadonlyArray<Hook> => {
  const found = known.get(version)
  if (found !== undefined) return found
  const hooks = arrayAt(Version.parse(version), "webhooks").filter(isObject).map(hookOf)
  known.set(version, hooks)
  return hooks
}

const hookOf = (one: JsonObject): Hook => {
  const timeoutSeconds = numberAt(one, "timeoutSeconds") || 10
  return {
    name: textAt(one, "name"),
    rules: arrayAt(one, "rules").map(ruleOf),
    equivalent: textAt(one, "matchPolicy") !== "Exact",
    namespaces: selectorOf(at(one, "namespaceSelector")),
    objects: selectorOf(at(one, "objectSelector")),
    conditions: matchConditions.compile(arrayAt(one, "matchConditions"), { hasParams: false, hasAuthorizer: true }),
    ignoresFailure: textAt(one, "failurePolicy") === "Ignore",
    timeoutSeconds,
    address: addressOf(objectAt(one, "clientConfig"), timeoutSeconds)
  }
}

const texts = (value: Json | undefined, key: string): ReadonlyArray<string> =>
  arrayAt(value, key).filter((one) => typeof one === "string")

export const ruleOf = (rule: Json): Rule => ({
  groups: texts(rule, "apiGroups"),
  versions: texts(rule, "apiVersions"),
  resources: texts(rule, "resources"),
  operations: texts(rule, "operations"),
  scope: textAt(rule, "scope") || "*"
})

/** Validation has rejected invalid selectors; an empty one selects everything. */
export const selectorOf = (spec: Json | undefined): Selector.LabelSelector | undefined => {
  if (!isObject(spec)) return undefined
  const read = Selector.fromSpec(spec)
  return Result.isSuccess(read) && read.success.length > 0 ? read.success : undefined
}
