/**
 * Ephemeral containers: added through a subresource, never changed or removed, without ports, probes and resources. Source:
 * pkg/apis/core/validation: validateEphemeralContainers.
 */
import { arrayAt, at, equal, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import { containers } from "./containers.ts"
import type { PodContext } from "./containers.ts"
import { duplicate, forbidden, notFound } from "./field.ts"
import type { Errors } from "./field.ts"

/** Members that an ephemeral container cannot have. */
const forbiddenMembers = ["lifecycle", "livenessProbe", "ports", "readinessProbe", "resources", "startupProbe"]

const isSaid = (value: Json | undefined): boolean =>
  value !== undefined && !(typeof value === "object" && value !== null && Object.keys(value).length === 0)

export const ephemeralContainers = (errors: Errors, field: string, spec: JsonObject, podContext: PodContext): void => {
  const list = arrayAt(spec, "ephemeralContainers")
  if (list.length === 0) return
  const others = [...arrayAt(spec, "containers"), ...arrayAt(spec, "initContainers")].map((one) => textAt(one, "name"))
  containers(errors, field, list, podContext)
  for (const [index, one] of list.entries()) {
    const path = `${field}[${index}]`
    const name = textAt(one, "name")
    if (name !== "" && others.includes(name)) errors.push(duplicate(`${path}.name`, name))
    const target = textAt(one, "targetContainerName")
    if (target !== "" && !others.includes(target)) errors.push(notFound(`${path}.targetContainerName`, target))
    for (const key of forbiddenMembers) {
      if (isSaid(at(one, key))) errors.push(forbidden(`${path}.${key}`, "cannot be set for an Ephemeral Container"))
    }
    for (const [position, mount] of arrayAt(one, "volumeMounts").entries()) {
      for (const key of ["subPath", "subPathExpr"]) {
        if (textAt(mount, key) === "") continue
        errors.push(forbidden(`${path}.volumeMounts[${position}].${key}`, "cannot be set for an Ephemeral Container"))
      }
    }
  }
}

/** Existing ephemeral containers cannot be changed or removed. */
export const ephemeralUpdate = (errors: Errors, object: JsonObject, before: JsonObject): void => {
  const next = new Map(arrayAt(object, "spec", "ephemeralContainers").map((one) => [textAt(one, "name"), one]))
  for (const one of arrayAt(before, "spec", "ephemeralContainers")) {
    const name = textAt(one, "name")
    const found = next.get(name)
    if (found !== undefined && equal(found, one)) continue
    const what = found === undefined ? "removed" : "changed"
    const detail = `existing ephemeral containers ${JSON.stringify(name)} may not be ${what}\n`
    errors.push(forbidden("spec.ephemeralContainers", detail))
  }
}
