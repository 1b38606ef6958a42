/**
 * Environment variables and their sources; downward API fields and resources are validated for volumes too. Source:
 * pkg/apis/core/validation: ValidateEnv.
 */
import { at, get, isObject, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import * as Quantity from "../../../kube/quantity.ts"
import * as names from "../names.ts"
import { invalid, notSupported, pushAll, required } from "./field.ts"
import type { Errors } from "./field.ts"
import * as formats from "./formats.ts"

/** Fields of a pod that the downward API supports. */
export interface Fields {
  readonly paths: ReadonlyArray<string>
}

export const inEnvironment: Fields = {
  paths: [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs"
  ]
}

export const inFiles: Fields = {
  paths: ["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"]
}

/** All field paths that the API knows for pods, including those that the downward API does not support. */
const known = new Set([
  ...inEnvironment.paths,
  ...inFiles.paths,
  "spec.nodeName",
  "spec.restartPolicy",
  "spec.schedulerName",
  "status.phase",
  "status.nominatedNodeName"
])

export const fieldRef = (errors: Errors, path: string, value: Json, fields: Fields): void => {
  const version = textAt(value, "apiVersion")
  const text = textAt(value, "fieldPath")
  if (version === "") {
    errors.push(required(`${path}.apiVersion`))
    return
  }
  if (text === "") {
    errors.push(required(`${path}.fieldPath`))
    return
  }
  const [, map = "", key] = /^(metadata\.(?:labels|annotations))\['(.*)'\]$/.exec(text) ?? []
  const why =
    version !== "v1"
      ? `unsupported pod version: ${version}`
      : known.has(text) || map !== ""
        ? ""
        : `field label not supported: ${text}`
  if (why !== "") errors.push(invalid(`${path}.fieldPath`, text, `error converting fieldPath: ${why}`))
  else if (key !== undefined) {
    pushAll(errors, path, key, names.qualified(map === "metadata.annotations" ? key.toLowerCase() : key))
  } else if (!fields.paths.includes(text)) errors.push(notSupported(`${path}.fieldPath`, text, fields.paths))
}

const amounts = [
  "limits.cpu",
  "limits.ephemeral-storage",
  "limits.memory",
  "requests.cpu",
  "requests.ephemeral-storage",
  "requests.memory"
]

const sizes = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"]
const divisors: Readonly<Record<string, ReadonlyArray<string>>> = { cpu: ["1m", "1"], memory: sizes }

export const resourceFieldRef = (errors: Errors, path: string, value: Json, inVolume: boolean): void => {
  const name = textAt(value, "resource")
  if (inVolume && textAt(value, "containerName") === "") errors.push(required(`${path}.containerName`))
  if (name === "") {
    errors.push(required(`${path}.resource`))
    return
  }
  const [, part = ""] = name.split(".")
  if (!amounts.includes(name) && !part.startsWith("hugepages-")) {
    errors.push(notSupported(`${path}.resource`, name, amounts))
    return
  }
  const divisor = at(value, "divisor")
  const kind = part.startsWith("hugepages-")
    ? "hugepages"
    : part === "ephemeral-storage"
      ? "local ephemeral storage"
      : part
  const allowed = divisors[part] ?? sizes
  const isAllowed = divisor === undefined || allowed.some((one) => Quantity.compare(divisor, one) === 0)
  if (isAllowed || Quantity.compare(divisor, "0") === 0) return
  const list = `${allowed.slice(0, -1).join(", ")}${allowed.length > 2 ? "," : ""} and ${allowed.at(-1) ?? ""}`
  // Upstream prints the resource as the invalid value, not the divisor.
  errors.push(invalid(`${path}.divisor`, name, `only divisor's values ${list} are supported with the ${kind} resource`))
}

export const environment = (errors: Errors, field: string, list: ReadonlyArray<Json>): void => {
  for (const [index, variable] of list.entries()) {
    const path = `${field}[${index}]`
    const name = textAt(variable, "name")
    if (name === "") errors.push(required(`${path}.name`))
    else pushAll(errors, `${path}.name`, name, formats.environmentName(name))
    const source = at(variable, "valueFrom")
    if (isObject(source)) valueFrom(errors, `${path}.valueFrom`, source, textAt(variable, "value"))
  }
}

const keySources = ["configMapKeyRef", "secretKeyRef"]
const sources = ["fieldRef", "resourceFieldRef", ...keySources]

const valueFrom = (errors: Errors, path: string, source: JsonObject, value: string): void => {
  const given = sources.filter((key) => isObject(get(source, key)))
  for (const key of given) {
    const own = `${path}.${key}`
    const found = get(source, key) ?? {}
    if (key === "fieldRef") fieldRef(errors, own, found, inEnvironment)
    else if (key === "resourceFieldRef") resourceFieldRef(errors, own, found, false)
    else {
      if (textAt(found, "name") === "") errors.push(required(`${own}.name`))
      const member = textAt(found, "key")
      if (member === "") errors.push(required(`${own}.key`))
      else pushAll(errors, `${own}.key`, member, formats.dataKey(member))
    }
  }
  if (given.length === 0) {
    const detail = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"
    errors.push(invalid(path, "", detail))
  }
  if (value !== "") errors.push(invalid(path, "", "may not be specified when `value` is not empty"))
  else if (given.length > 1) errors.push(invalid(path, "", "may not have more than one field specified at a time"))
}

export const environmentFrom = (errors: Errors, field: string, list: ReadonlyArray<Json>): void => {
  for (const [index, one] of list.entries()) {
    const path = `${field}[${index}]`
    const prefix = textAt(one, "prefix")
    if (prefix !== "") pushAll(errors, `${path}.prefix`, prefix, formats.environmentName(prefix))
    const given = ["configMapRef", "secretRef"].filter((key) => isObject(at(one, key)))
    for (const key of given) {
      const name = textAt(one, key, "name")
      if (name === "") errors.push(required(`${path}.${key}.name`))
      else pushAll(errors, `${path}.${key}.name`, name, formats.dnsSubdomain(name))
    }
    if (given.length === 0) {
      errors.push(invalid(field, "", "must specify one of: `configMapRef` or `secretRef`"))
    }
    if (given.length > 1) errors.push(invalid(path, "", "may not have more than one field specified at a time"))
  }
}
