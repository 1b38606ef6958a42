/** Defaults of priority levels, devices, storage capacity, runtime classes and mutating admission policies. Source: pkg/apis/{flowcontrol,resource,admissionregistration}/v1. */
import { arrayAt, at, get, isObject, objectAt, set } from "../../json.ts"
import type { JsonObject } from "../../json.ts"
import { absent, empty, objects, quantities, quantity, specOf } from "./fill.ts"

export const flowSchema = (object: JsonObject): void => {
  zero(specOf(object), { matchingPrecedence: 1000 })
}

export const priorityLevel = (object: JsonObject): void => {
  const spec = specOf(object)
  const [exempt, limited] = [objectAt(spec, "exempt"), objectAt(spec, "limited")]
  if (exempt !== undefined) absent(exempt, { nominalConcurrencyShares: 0, lendablePercent: 0 })
  if (limited === undefined) return
  absent(limited, { nominalConcurrencyShares: 30, lendablePercent: 0 })
  const queuing = objectAt(limited, "limitResponse", "queuing")
  if (queuing !== undefined) zero(queuing, { queues: 64, handSize: 8, queueLengthLimit: 50 })
}

export const resourceClaim = (object: JsonObject): void => claimSpec(objectAt(object, "spec"))

export const resourceClaimTemplate = (object: JsonObject): void => claimSpec(objectAt(object, "spec", "spec"))

const claimSpec = (spec: JsonObject | undefined): void => {
  for (const request of objects(spec, "devices", "requests")) {
    const exactly = objectAt(request, "exactly")
    if (exactly !== undefined) deviceRequest(exactly)
    for (const one of objects(request, "firstAvailable")) deviceRequest(one)
  }
}

const deviceRequest = (request: JsonObject): void => {
  empty(request, { allocationMode: "ExactCount" })
  if (at(request, "allocationMode") === "ExactCount") zero(request, { count: 1 })
  for (const toleration of objects(request, "tolerations")) empty(toleration, { operator: "Equal" })
}

export const resourceSlice = (object: JsonObject): void => {
  const spec = objectAt(object, "spec")
  for (const device of objects(spec, "devices")) {
    for (const one of Object.values(objectAt(device, "capacity") ?? {})) if (isObject(one)) quantity(one, "value")
  }
}

export const storageCapacity = (object: JsonObject): void => {
  quantity(object, "capacity")
  quantity(object, "maximumVolumeSize")
}

export const runtimeClass = (object: JsonObject): void => quantities(at(object, "overhead", "podFixed"))

export const mutatingPolicy = (object: JsonObject): void => {
  const spec = specOf(object)
  absent(spec, { failurePolicy: "Fail" })
  matchResources(objectAt(spec, "matchConstraints"))
}

export const mutatingPolicyBinding = (object: JsonObject): void =>
  matchResources(objectAt(object, "spec", "matchResources"))

const matchResources = (match: JsonObject | undefined): void => {
  if (match === undefined) return
  absent(match, { matchPolicy: "Equivalent", namespaceSelector: {}, objectSelector: {} })
  for (const list of ["resourceRules", "excludeResourceRules"]) {
    for (const rule of arrayAt(match, list)) if (isObject(rule)) absent(rule, { scope: "*" })
  }
}

/** Sets numbers that are absent or zero, which a Go struct does not distinguish. */
const zero = (object: JsonObject, values: Readonly<Record<string, number>>): void => {
  for (const [key, value] of Object.entries(values)) if ((get(object, key) ?? 0) === 0) set(object, key, value)
}
