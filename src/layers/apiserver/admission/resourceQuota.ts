/**
 * The ResourceQuotas of a namespace: what is created is charged to `status.used` and must fit into `status.hard`, which the
 * quota controller keeps true. Source: the ResourceQuota plugin of the reference server. Only creations are charged; what a
 * deletion or an update frees is the controller's to find.
 */
import { arrayAt, at, ensureObject, get, isObject, objectAt, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import * as Refusal from "../Refusal.ts"
import * as Quantity from "../../../kube/quantity.ts"
import type { Kind } from "../schema/Kind.ts"
import { overwrite } from "../verbs/write.ts"
import type { Plugin, Write } from "./Admission.ts"
import * as stored from "./stored.ts"

type Usage = Map<string, Quantity.Quantity>

const one: Quantity.Quantity = { nanos: 1_000_000_000n, form: "decimal" }

/** Kinds that are counted under their plain name too. */
const named = new Set([
  "configmaps",
  "persistentvolumeclaims",
  "pods",
  "replicationcontrollers",
  "resourcequotas",
  "secrets",
  "services"
])

const countName = ({ group, plural }: Kind): string => `count/${plural}${group === "" ? "" : `.${group}`}`

const add = (usage: Usage, name: string, value: Json | undefined): void => {
  const parsed = Quantity.parse(value)
  if (parsed === undefined) return
  const before = usage.get(name)
  usage.set(name, { nanos: (before?.nanos ?? 0n) + parsed.nanos, form: before?.form ?? parsed.form })
}

const usageOf = ({ object, target: { kind } }: Write): Usage => {
  const usage: Usage = new Map([[countName(kind), one]])
  if (kind.group === "" && named.has(kind.plural)) usage.set(kind.plural, one)
  if (kind.storage === "pods") {
    for (const container of arrayAt(object, "spec", "containers")) {
      for (const [name, value] of Object.entries(objectAt(container, "resources", "requests") ?? {})) {
        add(usage, `requests.${name}`, value)
        if (name === "cpu" || name === "memory" || name === "ephemeral-storage") add(usage, name, value)
      }
      for (const [name, value] of Object.entries(objectAt(container, "resources", "limits") ?? {})) {
        add(usage, `limits.${name}`, value)
      }
    }
  } else if (kind.storage === "persistentvolumeclaims") {
    add(usage, "requests.storage", at(object, "spec", "resources", "requests", "storage"))
  } else if (kind.storage === "services") {
    const type = textAt(object, "spec", "type")
    const ports = { nanos: BigInt(arrayAt(object, "spec", "ports").length) * one.nanos, form: one.form }
    if (type === "NodePort" || type === "LoadBalancer") usage.set("services.nodeports", ports)
    if (type === "LoadBalancer") usage.set("services.loadbalancers", one)
  }
  return usage
}

/** Whether a quota with this scope is about a pod. */
const inScope = (scope: Json, object: JsonObject): boolean => {
  const ends = at(object, "spec", "activeDeadlineSeconds") !== undefined
  const idle = textAt(object, "status", "qosClass") === "BestEffort"
  switch (scope) {
    case "Terminating":
      return ends
    case "NotTerminating":
      return !ends
    case "BestEffort":
      return idle
    case "NotBestEffort":
      return !idle
    default:
      return false
  }
}

const computed = /^(?:requests\.|limits\.)?(?:cpu|memory)$/

const list = (names: ReadonlyArray<string>, of: (name: string) => Quantity.Quantity | undefined): string =>
  names.map((name) => `${name}=${Quantity.canonical(of(name) ?? { nanos: 0n, form: "decimal" })}`).join(",")

/** The state of a quota after a charge; undefined when it is not concerned. */
const charge = (write: Write, quota: JsonObject, usage: Usage): JsonObject | undefined => {
  const { object, target } = write
  const refuse = (why: string): Refusal.Refusal =>
    Refusal.forbidden(target.kind, textAt(object, "metadata", "name"), why)
  const scopes = arrayAt(quota, "spec", "scopes")
  const isPod = target.kind.storage === "pods"
  if (scopes.length > 0 && !(isPod && scopes.every((scope) => inScope(scope, object)))) return undefined
  const name = textAt(quota, "metadata", "name")
  const hard = objectAt(quota, "status", "hard") ?? {}
  const bounded = Object.keys(hard).sort()
  const missing = isPod ? bounded.filter((key) => computed.test(key) && unsaid(object, key)) : []
  if (missing.length > 0) throw refuse(`failed quota: ${name}: must specify ${missing.join(",")}`)
  const names = bounded.filter((key) => usage.has(key))
  if (names.length === 0) return undefined
  const used = objectAt(quota, "status", "used") ?? {}
  const unknown = names.filter((key) => get(used, key) === undefined)
  if (unknown.length > 0) throw refuse(`status unknown for quota: ${name}, resources: ${unknown.join(",")}`)
  const next: JsonObject = { ...used }
  for (const key of names) {
    const before = Quantity.parse(get(used, key))
    const nanos = (before?.nanos ?? 0n) + (usage.get(key)?.nanos ?? 0n)
    next[key] = Quantity.canonical({ nanos, form: usage.get(key)?.form ?? "decimal" })
  }
  const exceeded = names.filter((key) => Quantity.compare(next[key], hard[key]) === 1)
  if (exceeded.length > 0) {
    const parse = (amounts: JsonObject) => (key: string) => Quantity.parse(get(amounts, key))
    throw refuse(
      `exceeded quota: ${name}, requested: ${list(exceeded, (key) => usage.get(key))}, used: ${list(exceeded, parse(used))}, limited: ${list(exceeded, parse(hard))}`
    )
  }
  ensureObject(quota, "status")["used"] = next
  return quota
}

/** A quota on an amount is a demand to say it, of every container. */
const unsaid = (object: JsonObject, key: string): boolean => {
  const [part = "", name] = key.split(".")
  const path = name === undefined ? ["requests", part] : [part, name]
  return arrayAt(object, "spec", "containers").some((container) => at(container, "resources", ...path) === undefined)
}

const quotas = "resourcequotas"

export const resourceQuota: Plugin = {
  name: "ResourceQuota",
  check: (write) => {
    const { before, dryRun, target, turn } = write
    if (before !== undefined || !target.kind.namespaced) return
    const found = stored.objects(turn, quotas, target.namespace)
    if (found.length === 0) return
    const usage = usageOf(write)
    // All of them are asked before any is charged.
    const charged = found.map((quota) => charge(write, quota, usage)).filter(isObject)
    const kind = stored.kindOf(quotas)
    if (kind !== undefined) for (const quota of charged) overwrite(turn, kind, quota, dryRun)
  }
}
