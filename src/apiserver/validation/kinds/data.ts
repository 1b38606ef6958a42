/**
 * ConfigMap, Secret, ControllerRevision, and RBAC roles and bindings. Source: pkg/apis/core/validation,
 * pkg/apis/apps/validation, pkg/apis/rbac/validation.
 */
import { arrayAt, equal, get, numberAt, objectAt, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import * as names from "../names.ts"
import { forbidden, invalid, notSupported, Printed, pushAll, required, stringList } from "./field.ts"
import type { Errors } from "./field.ts"
import * as formats from "./formats.ts"

/** Maximum size of all values of a ConfigMap or Secret together: 1 MiB. */
const maxDataBytes = 1_048_576

const bytesOf = (map: JsonObject | undefined): number =>
  Object.values(map ?? {}).reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : 0), 0)

const tooLarge = (errors: Errors): void => {
  errors.push({
    field: "",
    reason: "FieldValueTooLong",
    message: `Too long: must have at most ${maxDataBytes} bytes`
  })
}

export const configMap = (errors: Errors, object: JsonObject): void => {
  const data = objectAt(object, "data")
  const binary = objectAt(object, "binaryData")
  for (const key of Object.keys(data ?? {})) {
    pushAll(errors, `data[${key}]`, key, formats.dataKey(key))
    if (binary !== undefined && Object.hasOwn(binary, key)) {
      errors.push(invalid(`data[${key}]`, key, "duplicate of key present in binaryData"))
    }
  }
  for (const key of Object.keys(binary ?? {})) pushAll(errors, `binaryData[${key}]`, key, formats.dataKey(key))
  if (bytesOf(data) + bytesOf(binary) * 0.75 > maxDataBytes) tooLarge(errors)
}

/** A ConfigMap or Secret with `immutable: true` keeps that field and its data. */
const unchanged =
  (keys: ReadonlyArray<string>) =>
  (errors: Errors, object: JsonObject, before: JsonObject): void => {
    if (get(before, "immutable") !== true) return
    const detail = "field is immutable when `immutable` is set"
    if (get(object, "immutable") !== true) errors.push(forbidden("immutable", detail))
    for (const key of keys)
      if (!equal(get(object, key) ?? {}, get(before, key) ?? {})) errors.push(forbidden(key, detail))
  }

export const configMapUpdate = unchanged(["data", "binaryData"])

/** The keys that a Secret of each type must have. */
const requiredKeys: Readonly<Record<string, ReadonlyArray<string>>> = {
  "kubernetes.io/dockercfg": [".dockercfg"],
  "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
  "kubernetes.io/ssh-auth": ["ssh-privatekey"],
  "kubernetes.io/tls": ["tls.crt", "tls.key"]
}

export const secret = (errors: Errors, object: JsonObject): void => {
  const data = objectAt(object, "data") ?? {}
  for (const key of Object.keys(data)) pushAll(errors, `data[${key}]`, key, formats.dataKey(key))
  if (bytesOf(data) * 0.75 > maxDataBytes)
    errors.push({
      field: "data",
      reason: "FieldValueTooLong",
      message: `Too long: must have at most ${maxDataBytes} bytes`
    })
  const type = textAt(object, "type")
  for (const key of requiredKeys[type] ?? []) if (get(data, key) === undefined) errors.push(required(`data[${key}]`))
  if (
    type === "kubernetes.io/basic-auth" &&
    get(data, "username") === undefined &&
    get(data, "password") === undefined
  ) {
    errors.push(required("data[%s][username]"), required("data[%s][password]"))
  }
  if (type === "kubernetes.io/service-account-token") {
    const key = "kubernetes.io/service-account.name"
    if (textAt(object, "metadata", "annotations", key) === "") errors.push(required(`metadata.annotations[${key}]`))
  }
}

const secretData = unchanged(["data"])

export const secretUpdate = (errors: Errors, object: JsonObject, before: JsonObject): void => {
  const type = textAt(object, "type")
  if (type !== textAt(before, "type")) errors.push(invalid("type", type, "field is immutable"))
  secretData(errors, object, before)
}

export const controllerRevision = (errors: Errors, object: JsonObject): void => {
  if ((get(object, "data") ?? null) === null) errors.push(required("data", "data is mandatory"))
  formats.nonNegative(errors, "revision", numberAt(object, "revision"))
}

/** The data of a ControllerRevision is immutable; its revision may change. */
export const controllerRevisionUpdate = (errors: Errors, object: JsonObject, before: JsonObject): void => {
  if (!equal(get(object, "data"), get(before, "data"))) {
    errors.push(invalid("data", new Printed("{}"), "field is immutable"))
  }
}

const rules = (errors: Errors, object: JsonObject, namespaced: boolean): void => {
  for (const [index, rule] of arrayAt(object, "rules").entries()) {
    const path = `rules[${index}]`
    if (arrayAt(rule, "verbs").length === 0)
      errors.push(required(`${path}.verbs`, "verbs must contain at least one value"))
    const urls = arrayAt(rule, "nonResourceURLs")
    if (urls.length > 0) {
      if (namespaced) {
        errors.push(
          invalid(`${path}.nonResourceURLs`, stringList(urls), "namespaced rules cannot apply to non-resource URLs")
        )
      }
      continue
    }
    if (arrayAt(rule, "apiGroups").length === 0) {
      errors.push(required(`${path}.apiGroups`, "resource rules must supply at least one api group"))
    }
    if (arrayAt(rule, "resources").length === 0) {
      errors.push(required(`${path}.resources`, "resource rules must supply at least one resource"))
    }
  }
}

export const role = (errors: Errors, object: JsonObject): void => rules(errors, object, true)
export const clusterRole = (errors: Errors, object: JsonObject): void => rules(errors, object, false)

const rbac = "rbac.authorization.k8s.io"

const reference = (errors: Errors, object: JsonObject, kinds: ReadonlyArray<string>): void => {
  const group = textAt(object, "roleRef", "apiGroup")
  if (group !== rbac) errors.push(notSupported("roleRef.apiGroup", group, [rbac]))
  const kind = textAt(object, "roleRef", "kind")
  if (!kinds.includes(kind)) errors.push(notSupported("roleRef.kind", kind, kinds))
  const name = textAt(object, "roleRef", "name")
  if (name === "") errors.push(required("roleRef.name"))
  else pushAll(errors, "roleRef.name", name, names.objectName({ nameRule: "path" }, name))
}

const subjects = (errors: Errors, object: JsonObject, namespaced: boolean): void => {
  for (const [index, one] of arrayAt(object, "subjects").entries()) {
    const path = `subjects[${index}]`
    if (textAt(one, "name") === "") errors.push(required(`${path}.name`))
    const kind = textAt(one, "kind")
    const group = textAt(one, "apiGroup")
    if (kind === "ServiceAccount") {
      const name = textAt(one, "name")
      if (name !== "") pushAll(errors, `${path}.name`, name, formats.dnsSubdomain(name))
      if (group !== "") errors.push(notSupported(`${path}.apiGroup`, group, [""]))
      if (!namespaced && textAt(one, "namespace") === "") errors.push(required(`${path}.namespace`))
    } else if (kind !== "User" && kind !== "Group") {
      errors.push(notSupported(`${path}.kind`, kind, ["ServiceAccount", "User", "Group"]))
    } else if (group !== rbac) errors.push(notSupported(`${path}.apiGroup`, group, [rbac]))
  }
}

export const roleBinding = (errors: Errors, object: JsonObject): void => {
  reference(errors, object, ["Role", "ClusterRole"])
  subjects(errors, object, true)
}

export const clusterRoleBinding = (errors: Errors, object: JsonObject): void => {
  reference(errors, object, ["ClusterRole"])
  subjects(errors, object, false)
}

const printedRole = (value: Json | undefined): Printed =>
  new Printed(
    `rbac.RoleRef{APIGroup:${JSON.stringify(textAt(value, "apiGroup"))}, Kind:${JSON.stringify(textAt(value, "kind"))}, Name:${JSON.stringify(textAt(value, "name"))}}`
  )

export const bindingUpdate = (errors: Errors, object: JsonObject, before: JsonObject): void => {
  if (!equal(get(object, "roleRef"), get(before, "roleRef"))) {
    errors.push(invalid("roleRef", printedRole(get(object, "roleRef")), "cannot change roleRef"))
  }
}
