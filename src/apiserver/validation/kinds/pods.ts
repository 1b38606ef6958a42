/**
 * Pods, whose spec is mostly immutable. Source: pkg/apis/core/validation: ValidatePodUpdate, without the diff that it appends to
 * the message.
 */
import { arrayAt, clone, equal, get, isObject, objectAt, put, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import { forbidden, invalid, required } from "./field.ts"
import type { Errors } from "./field.ts"
import { ephemeralUpdate } from "./ephemeralContainers.ts"
import { podSpec } from "./podSpec.ts"
import { withoutAccount } from "./projections.ts"
import { specOf } from "./spec.ts"
import { template } from "./template.ts"

export const pod = (errors: Errors, object: JsonObject): void => {
  const spec = specOf(object)
  podSpec(errors, "spec", spec)
  withoutAccount(errors, spec)
}

export const newPod = (errors: Errors, object: JsonObject): void => {
  if (arrayAt(object, "spec", "ephemeralContainers").length > 0) {
    errors.push(forbidden("spec.ephemeralContainers", "cannot be set on create"))
  }
}

/** An update through the subresource `ephemeralcontainers`. */
export const podWithEphemeral = (errors: Errors, object: JsonObject, before: JsonObject): void => {
  pod(errors, object)
  ephemeralUpdate(errors, object, before)
}

export const podTemplate = (errors: Errors, object: JsonObject): void =>
  template(errors, "template", get(object, "template"))

const immutableMessage =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"

export const podUpdate = (errors: Errors, object: JsonObject, before: JsonObject): void => {
  const spec = specOf(object)
  const old = specOf(before)
  if (equal(spec, old)) return
  for (const list of ["containers", "initContainers"]) {
    if (arrayAt(spec, list).length !== arrayAt(old, list).length) {
      errors.push(forbidden(`spec.${list}`, "pod updates may not add or remove containers"))
      return
    }
    for (const [index, one] of arrayAt(spec, list).entries()) {
      if (textAt(one, "image") === "") errors.push(required(`spec.${list}[${index}].image`))
    }
  }
  deadline(errors, get(spec, "activeDeadlineSeconds"), get(old, "activeDeadlineSeconds"))
  if (errors.length > 0) return
  if (!equal(withAllowedChangesReverted(spec, old), old)) errors.push(forbidden("spec", immutableMessage))
}

/** activeDeadlineSeconds may be set and lowered, but not raised or removed. */
const deadline = (errors: Errors, next: Json | undefined, old: Json | undefined): void => {
  if (typeof old !== "number") return
  if (typeof next !== "number") {
    errors.push(invalid("spec.activeDeadlineSeconds", "null", "must not update from a positive integer to nil value"))
  } else if (next > old) {
    errors.push(invalid("spec.activeDeadlineSeconds", next, "must be less than or equal to previous value"))
  }
}

/** The new spec with the old values of the fields that may change as they did: equal to the old spec if the update is valid. */
const withAllowedChangesReverted = (spec: JsonObject, old: JsonObject): JsonObject => {
  const same = clone(spec)
  for (const list of ["containers", "initContainers"]) {
    for (const [index, one] of arrayAt(same, list).entries()) {
      if (isObject(one)) put(one, "image", get(objectAt(arrayAt(old, list)[index]) ?? {}, "image"))
    }
  }
  put(same, "activeDeadlineSeconds", get(old, "activeDeadlineSeconds"))
  const tolerations = arrayAt(spec, "tolerations")
  const kept = arrayAt(old, "tolerations").every((one) => tolerations.some((other) => sameToleration(one, other)))
  if (kept) put(same, "tolerations", get(old, "tolerations"))
  const gates = arrayAt(old, "schedulingGates")
  if (arrayAt(spec, "schedulingGates").every((gate) => gates.some((other) => equal(gate, other)))) {
    put(same, "schedulingGates", get(old, "schedulingGates"))
  }
  const grace = get(old, "terminationGracePeriodSeconds")
  if (typeof grace === "number" && grace < 0 && get(spec, "terminationGracePeriodSeconds") === 1) {
    put(same, "terminationGracePeriodSeconds", grace)
  }
  return same
}

/** Whether two tolerations are equal apart from tolerationSeconds. */
const sameToleration = (a: Json, b: Json): boolean => {
  const plain = (one: Json): JsonObject => {
    const { tolerationSeconds: _, ...rest } = isObject(one) ? one : {}
    return rest
  }
  return equal(plain(a), plain(b))
}
