/**
 * Projected volumes: several sources in one volume, without conflicting paths. Source: pkg/apis/core/validation:
 * validateProjectedVolumeSource.
 */
import { arrayAt, at, get, isObject, numberAt, objectAt, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import { downward, items, mode, ownPath } from "./files.ts"
import { forbidden, invalid, required } from "./field.ts"
import type { Errors } from "./field.ts"

/** Minimum lifetime of a token, in seconds. */
const minTokenSeconds = 600
const maxTokenSeconds = 2 ** 32

export const projected = (errors: Errors, path: string, source: JsonObject): void => {
  mode(errors, `${path}.defaultMode`, get(source, "defaultMode"))
  const taken = new Set<string>()
  for (const [index, one] of arrayAt(source, "sources").entries()) {
    const own = `${path}.sources[${index}]`
    const kinds = ["secret", "configMap", "downwardAPI", "serviceAccountToken"].filter((kind) =>
      isObject(at(one, kind))
    )
    for (const kind of kinds) {
      const value = objectAt(one, kind) ?? {}
      if (kind === "serviceAccountToken") token(errors, path, own, value)
      else if (kind === "downwardAPI") downward(errors, `${own}.${kind}`, arrayAt(value, "items"))
      else {
        if (textAt(value, "name") === "") errors.push(required(`${own}.${kind}.name`))
        items(errors, `${own}.${kind}.items`, arrayAt(value, "items"))
      }
      uniquePaths(
        errors,
        path,
        arrayAt(value, "items"),
        taken,
        kind === "downwardAPI" ? undefined : textAt(value, "name")
      )
    }
    if (kinds.length > 1) errors.push(forbidden(own, "may not specify more than 1 volume type"))
  }
}

/** Each path can be used uniquePaths in a volume. The value in the error is the name of the ConfigMap or Secret, otherwise the path. */
const uniquePaths = (
  errors: Errors,
  path: string,
  list: ReadonlyArray<Json>,
  taken: Set<string>,
  owner: string | undefined
): void => {
  for (const item of list) {
    const file = textAt(item, "path")
    if (file !== "" && taken.has(file)) errors.push(invalid(path, owner ?? file, "conflicting duplicate paths"))
    taken.add(file)
  }
}

const token = (errors: Errors, path: string, own: string, value: JsonObject): void => {
  const seconds = numberAt(value, "expirationSeconds")
  const field = `${own}.serviceAccountToken.expirationSeconds`
  if (seconds < minTokenSeconds) {
    errors.push(invalid(field, seconds, "may not specify a duration less than 10 minutes"))
  }
  if (seconds > maxTokenSeconds) {
    errors.push(invalid(field, seconds, "may not specify a duration larger than 2^32 seconds"))
  }
  const file = textAt(value, "path")
  // The field path does not contain the source, as in kube-apiserver.
  if (file === "") errors.push(required(`${path}.path`))
  else ownPath(errors, `${path}.path`, file)
}

/** A pod without serviceAccountName cannot project tokens of a service account. */
export const withoutAccount = (errors: Errors, spec: JsonObject): void => {
  if (textAt(spec, "serviceAccountName") !== "") return
  for (const [index, volume] of arrayAt(spec, "volumes").entries()) {
    for (const [position, one] of arrayAt(volume, "projected", "sources").entries()) {
      if (!isObject(at(one, "serviceAccountToken"))) continue
      const field = `spec.volumes[${index}].projected.sources[${position}].serviceAccountToken`
      errors.push(forbidden(field, "must not be specified when serviceAccountName is not set"))
    }
  }
}
