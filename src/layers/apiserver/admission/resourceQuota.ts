/**
 * The ResourceQuotas of a namespace: what is created, and what an update takes more than before, is charged to `status.used` and
 * must fit into `status.hard`, which the quota controller keeps true. What is freed is the controller's to find, as is what was
 * charged for a write that failed afterwards. Source: the ResourceQuota plugin of the reference server.
 */
import { arrayAt, at, ensureObject, get, isObject, objectAt, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import * as Refusal from "../Refusal.ts"
import * as Quantity from "../../../kube/quantity.ts"
import { overwrite } from "../verbs/write.ts"
import type { Plugin, Write } from "./Admission.ts"
import * as stored from "./stored.ts"
import * as Usage from "./usage.ts"

const matchesClass = (scope: Json, object: JsonObject): boolean => {
  const name = textAt(object, "spec", "priorityClassName")
  const values = arrayAt(scope, "values")
  switch (textAt(scope, "operator")) {
    case "In":
      return values.includes(name)
    case "NotIn":
      return !values.includes(name)
    case "DoesNotExist":
      return name === ""
    default:
      return name !== ""
  }
}

/** Whether a quota with this scope is about a pod. */
const inScope = (scope: Json, object: JsonObject): boolean => {
  const ends = at(object, "spec", "activeDeadlineSeconds") !== undefined
  const idle = textAt(object, "status", "qosClass") === "BestEffort"
  switch (textAt(scope, "scopeName")) {
    case "Terminating":
      return ends
    case "NotTerminating":
      return !ends
    case "BestEffort":
      return idle
    case "NotBestEffort":
      return !idle
    case "PriorityClass":
      return matchesClass(scope, object)
    default:
      return false
  }
}

/** Both ways to say scopes, as expressions. */
const scopesOf = (quota: JsonObject): ReadonlyArray<Json> => [
  ...arrayAt(quota, "spec", "scopes").map((scopeName) => ({ scopeName, operator: "Exists" })),
  ...arrayAt(quota, "spec", "scopeSelector", "matchExpressions")
]

const computed = /^(?:requests\.|limits\.)?(?:cpu|memory)$/

const list = (names: ReadonlyArray<string>, of: (name: string) => Quantity.Quantity | undefined): string =>
  names.map((name) => `${name}=${Quantity.canonical(of(name) ?? { nanos: 0n, form: "decimal" })}`).join(",")

/** What a write is counted as: all that the object takes, and what of it is new. */
interface Charge {
  readonly whole: Usage.Usage
  readonly added: Usage.Usage
}

/** The state of a quota after a charge; undefined when it stays as it is. */
const charge = (write: Write, quota: JsonObject, { added, whole }: Charge): JsonObject | undefined => {
  const { object, target } = write
  const refuse = (why: string): Refusal.Refusal =>
    Refusal.forbidden(target.kind, textAt(object, "metadata", "name"), why)
  const scopes = scopesOf(quota)
  const isPod = target.kind.storage === "pods"
  if (scopes.length > 0 && !(isPod && scopes.every((scope) => inScope(scope, object)))) return undefined
  const name = textAt(quota, "metadata", "name")
  const hard = objectAt(quota, "status", "hard") ?? {}
  const bounded = Object.keys(hard).sort()
  const missing = isPod ? bounded.filter((key) => computed.test(key) && unsaid(object, key)) : []
  if (missing.length > 0) throw refuse(`failed quota: ${name}: must specify ${missing.join(",")}`)
  const used = objectAt(quota, "status", "used") ?? {}
  const unknown = bounded.filter((key) => whole.has(key) && get(used, key) === undefined)
  if (unknown.length > 0) throw refuse(`status unknown for quota: ${name}, resources: ${unknown.join(",")}`)
  const names = bounded.filter((key) => added.has(key))
  if (names.length === 0) return undefined
  const next: JsonObject = { ...used }
  for (const key of names) {
    const more = added.get(key)
    const before = Usage.recorded(used, key)
    const form = before === undefined || before.nanos === 0n ? (more?.form ?? "decimal") : before.form
    next[key] = Quantity.canonical({ nanos: (before?.nanos ?? 0n) + (more?.nanos ?? 0n), form })
  }
  const exceeded = names.filter((key) => Quantity.compare(next[key], hard[key]) === 1)
  if (exceeded.length > 0) {
    const requested = list(exceeded, (key) => added.get(key))
    const [taken, limit] = [used, hard].map((amounts) => list(exceeded, (key) => Usage.recorded(amounts, key)))
    throw refuse(`exceeded quota: ${name}, requested: ${requested}, used: ${taken}, limited: ${limit}`)
  }
  ensureObject(quota, "status")["used"] = next
  return quota
}

/** A quota on an amount is a demand to say it, of every container. */
const unsaid = (object: JsonObject, key: string): boolean => {
  const [part = "", name] = key.split(".")
  const path = name === undefined ? ["requests", part] : [part, name]
  return Usage.containersOf(object).some((container) => at(container, "resources", ...path) === undefined)
}

const quotas = "resourcequotas"

/** Kinds that can come to take more once they are there. */
const growing = new Set(["persistentvolumeclaims", "services"])

export const resourceQuota: Plugin = {
  name: "ResourceQuota",
  check: (write) => {
    const { before, dryRun, object, target, turn } = write
    const { kind } = target
    if (!kind.namespaced || (before !== undefined && !growing.has(kind.storage))) return
    const found = stored.objects(turn, quotas, target.namespace)
    if (found.length === 0) return
    const whole = Usage.of(kind, object)
    const added = Usage.more(whole, before === undefined ? new Map() : Usage.of(kind, before))
    // All of them are asked before any is charged.
    const charged = found.map((quota) => charge(write, quota, { whole, added })).filter(isObject)
    const row = stored.kindOf(quotas)
    if (row !== undefined) for (const quota of charged) overwrite(turn, row, quota, dryRun)
  }
}
