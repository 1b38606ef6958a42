/**
 * Resource requirements of containers, requests of claims, limits of quotas and limit ranges. Source: pkg/apis/core/validation:
 * ValidateResourceRequirements.
 */
import { get, isObject } from "../../json.ts"
import type { Json } from "../../json.ts"
import * as names from "../names.ts"
import { invalid, notFound, pushAll } from "./field.ts"
import type { Errors } from "./field.ts"
import * as Quantity from "../../../kube/quantity.ts"

const standard = new Set(["cpu", "memory", "ephemeral-storage", "storage"])

const isHugePages = (name: string): boolean => name.startsWith("hugepages-")

export const unqualified = "must be a standard resource type or fully qualified"

/** Resources without a domain must be standard ones; those with a domain are extended resources. */
const containerResource = (errors: Errors, field: string, name: string): void => {
  pushAll(errors, field, name, names.qualified(name))
  if (!name.includes("/") && !standard.has(name) && !isHugePages(name)) {
    errors.push(invalid(field, name, unqualified))
    errors.push(invalid(field, name, "must be a standard resource for containers"))
  }
}

const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "0")

export const nonNegative = (errors: Errors, field: string, value: Json | undefined): void => {
  if (Quantity.isNegative(value)) {
    errors.push(invalid(field, textOf(value), "must be greater than or equal to 0"))
  }
}

/** Whether a resource can be overcommitted, so that requests may be lower than limits. */
const overcommits = (name: string): boolean => !name.includes("/") && !isHugePages(name)

/** `limits` and `requests` of a container. */
export const requirements = (errors: Errors, field: string, value: Json | undefined): void => {
  if (!isObject(value)) return
  const limits = get(value, "limits")
  const requests = get(value, "requests")
  if (isObject(limits)) {
    for (const name of Object.keys(limits)) {
      containerResource(errors, `${field}.limits[${name}]`, name)
      nonNegative(errors, `${field}.limits[${name}]`, limits[name])
    }
  }
  if (!isObject(requests)) return
  for (const name of Object.keys(requests)) {
    containerResource(errors, `${field}.requests[${name}]`, name)
    nonNegative(errors, `${field}.requests[${name}]`, requests[name])
    const limit = isObject(limits) ? get(limits, name) : undefined
    const compared = Quantity.compare(requests[name], limit)
    if (limit === undefined) {
      if (!overcommits(name)) errors.push({ ...notFound(field, ""), ...limitMissing(field) })
    } else if (!overcommits(name) && compared !== 0) {
      errors.push(invalid(`${field}.requests`, textOf(requests[name]), `must be equal to ${name} limit`))
    } else if (compared === 1) {
      errors.push(invalid(`${field}.requests`, textOf(requests[name]), `must be less than or equal to ${name} limit`))
    }
  }
}

const limitMissing = (field: string) => ({
  reason: "FieldValueRequired",
  message: "Required value: Limit must be set for non overcommitable resources",
  field: `${field}.limits`
})

/** A ResourceList. */
export const amounts = (errors: Errors, field: string, value: Json | undefined): void => {
  if (!isObject(value)) return
  for (const name of Object.keys(value)) {
    const path = `${field}[${name}]`
    pushAll(errors, path, name, names.qualified(name))
    nonNegative(errors, path, value[name])
  }
}
