/**
 * LimitRanges: default requests and limits of containers, and the bounds of pods, containers and claims. Source:
 * plugin/pkg/admission/limitranger, including its messages.
 */
import { arrayAt, at, ensureObject, get, isObject, objectAt, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import * as StatusError from "../StatusError.ts"
import * as Quantity from "../../kube/quantity.ts"
import type { Plugin, Write } from "./Admission.ts"
import * as stored from "./stored.ts"

const itemsOf = ({ target, context }: Write): ReadonlyArray<Json> =>
  stored.objects(context, "limitranges", target.namespace).flatMap((range) => arrayAt(range, "spec", "limits"))

const containersOf = (object: JsonObject): ReadonlyArray<JsonObject> =>
  [...arrayAt(object, "spec", "containers"), ...arrayAt(object, "spec", "initContainers")].filter(isObject)

const annotation = "kubernetes.io/limit-ranger"

const setDefaults = (object: JsonObject, items: ReadonlyArray<Json>): void => {
  const defaulted: Array<string> = []
  const own = items.filter((item) => textAt(item, "type") === "Container")
  for (const one of containersOf(object)) {
    for (const [list, source, word] of [
      ["requests", "defaultRequest", "request"],
      ["limits", "default", "limit"]
    ] as const) {
      const added = fill(
        ensureObject(one, "resources"),
        list,
        own.map((item) => objectAt(item, source) ?? {})
      )
      if (added.length > 0) defaulted.push(`${added.sort().join(", ")} ${word} for container ${textAt(one, "name")}`)
    }
  }
  if (defaulted.length === 0) return
  ensureObject(ensureObject(object, "metadata"), "annotations")[annotation] =
    `LimitRanger plugin set: ${defaulted.join("; ")}`
}

const fill = (resources: JsonObject, list: string, defaults: ReadonlyArray<JsonObject>): Array<string> => {
  const added: Array<string> = []
  for (const amounts of defaults) {
    for (const name of Object.keys(amounts)) {
      const given = ensureObject(resources, list)
      if (get(given, name) !== undefined) continue
      given[name] = amounts[name] ?? "0"
      added.push(name)
    }
  }
  return added
}

interface Amounts {
  readonly requests: JsonObject
  readonly limits: JsonObject
}

const resourcesOf = (container: JsonObject): Amounts => ({
  requests: objectAt(container, "resources", "requests") ?? {},
  limits: objectAt(container, "resources", "limits") ?? {}
})

/** The total of a pod: a limit only where every container has one. Init containers run before, one at a time. */
const totalOf = (object: JsonObject): Amounts => {
  const main = arrayAt(object, "spec", "containers").filter(isObject).map(resourcesOf)
  const initial = arrayAt(object, "spec", "initContainers").filter(isObject).map(resourcesOf)
  const total = (list: keyof Amounts): JsonObject => {
    const names = new Set([...main, ...initial].flatMap((one) => Object.keys(one[list])))
    const out: JsonObject = {}
    for (const name of names) {
      if (list === "limits" && main.some((one) => get(one.limits, name) === undefined)) continue
      const parsed = main.map((one) => Quantity.parse(get(one[list], name)))
      const sum = parsed.reduce((nanos, one) => nanos + (one?.nanos ?? 0n), 0n)
      const largest = initial.reduce((nanos, one) => {
        const own = Quantity.parse(get(one[list], name))?.nanos ?? 0n
        return own > nanos ? own : nanos
      }, sum)
      const form = parsed.find((one) => one !== undefined)?.form ?? "decimal"
      out[name] = Quantity.canonical({ nanos: largest, form })
    }
    return out
  }
  return { requests: total("requests"), limits: total("limits") }
}

const checkMinimum = (errors: Array<string>, type: string, item: Json, { limits, requests }: Amounts): void => {
  for (const [name, bound] of Object.entries(objectAt(item, "min") ?? {})) {
    const words = `minimum ${name} usage per ${type} is ${textAt(bound)}`
    const request = get(requests, name)
    const limit = get(limits, name)
    if (request === undefined) errors.push(`${words}.  No request is specified`)
    else if (Quantity.compare(request, bound) === -1) errors.push(`${words}, but request is ${textAt(request)}`)
    else if (Quantity.compare(limit, bound) === -1) errors.push(`${words}, but limit is ${textAt(limit)}`)
  }
}

const checkMaximum = (errors: Array<string>, type: string, item: Json, { limits, requests }: Amounts): void => {
  for (const [name, bound] of Object.entries(objectAt(item, "max") ?? {})) {
    const words = `maximum ${name} usage per ${type} is ${textAt(bound)}`
    const request = get(requests, name)
    const limit = get(limits, name)
    if (limit === undefined) errors.push(`${words}.  No limit is specified`)
    else if (Quantity.compare(limit, bound) === 1) errors.push(`${words}, but limit is ${textAt(limit)}`)
    else if (Quantity.compare(request, bound) === 1) errors.push(`${words}, but request is ${textAt(request)}`)
  }
}

const checkRatio = (errors: Array<string>, type: string, item: Json, { limits, requests }: Amounts): void => {
  for (const [name, bound] of Object.entries(objectAt(item, "maxLimitRequestRatio") ?? {})) {
    const words = `${name} max limit to request ratio per ${type} is ${textAt(bound)}`
    const request = Quantity.parse(get(requests, name))?.nanos ?? 0n
    const limit = Quantity.parse(get(limits, name))?.nanos ?? 0n
    const maxRatio = Quantity.parse(bound)?.nanos ?? 0n
    if (request === 0n) errors.push(`${words}, but no request is specified or request is 0`)
    else if (limit === 0n) errors.push(`${words}, but no limit is specified or limit is 0`)
    else if (limit * 1_000_000_000n > maxRatio * request) {
      errors.push(`${words}, but provided ratio is ${(Number(limit) / Number(request)).toFixed(6)}`)
    }
  }
}

const claimErrors = (object: JsonObject, items: ReadonlyArray<Json>): ReadonlyArray<string> => {
  const errors: Array<string> = []
  const requests = objectAt(object, "spec", "resources", "requests") ?? {}
  const type = "PersistentVolumeClaim"
  for (const item of items.filter((one) => textAt(one, "type") === type)) {
    checkMinimum(errors, type, item, { requests, limits: {} })
    // A claim has no limits: the maximum applies to its request.
    for (const [name, bound] of Object.entries(objectAt(item, "max") ?? {})) {
      const request = get(requests, name)
      if (Quantity.compare(request, bound) === 1) {
        errors.push(`maximum ${name} usage per ${type} is ${textAt(bound)}, but request is ${textAt(request)}`)
      }
    }
  }
  return errors
}

const podErrors = (object: JsonObject, items: ReadonlyArray<Json>): ReadonlyArray<string> => {
  const errors: Array<string> = []
  for (const item of items) {
    const type = textAt(item, "type")
    const subjects =
      type === "Container" ? containersOf(object).map(resourcesOf) : type === "Pod" ? [totalOf(object)] : []
    for (const one of subjects) {
      checkMinimum(errors, type, item, one)
      checkMaximum(errors, type, item, one)
      checkRatio(errors, type, item, one)
    }
  }
  return errors
}

export const limitRanger: Plugin = {
  name: "LimitRanger",
  admit: (write) => {
    if (write.before !== undefined || write.target.resource.storage !== "pods") return undefined
    const items = itemsOf(write)
    if (items.length > 0) setDefaults(write.object, items)
    return undefined
  },
  check: (write) => {
    const { before, object, target } = write
    const { storage } = target.resource
    const isPod = storage === "pods" && before === undefined
    if (!isPod && storage !== "persistentvolumeclaims") return undefined
    const items = itemsOf(write)
    if (items.length === 0) return undefined
    const errors = isPod ? podErrors(object, items) : claimErrors(object, items)
    if (errors.length === 0) return undefined
    const why = errors.length === 1 ? (errors[0] ?? "") : `[${errors.join(", ")}]`
    return StatusError.forbidden(target.resource, textAt(at(object, "metadata"), "name"), why)
  }
}
