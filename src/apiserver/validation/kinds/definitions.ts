/**
 * CustomResourceDefinitions: names, versions, schemas and immutable fields. Source: apiextensions-apiserver,
 * pkg/apis/apiextensions/validation.
 */
import { checkRules } from "../../../kube/cel/rules/checkRules.ts"
import { check } from "../../../kube/structural/check.ts"
import * as selectableFields from "../../../kube/structural/selectableFields.ts"
import type { StructuralSchema } from "../../../kube/structural/StructuralSchema.ts"
import * as Definition from "../../apiextensions/Definition.ts"
import * as jsonPath from "../../apiextensions/jsonPath.ts"
import { arrayAt, at, equal, get, isObject, objectAt, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import { objectName } from "../names.ts"
import { invalid, notSupported, pushAll, required } from "./field.ts"
import type { Errors } from "./field.ts"
import * as clients from "./webhookClients.ts"

export const definition = (errors: Errors, object: JsonObject): void => {
  const name = textAt(object, "metadata", "name")
  const spec = objectAt(object, "spec") ?? {}
  const group = textAt(spec, "group")
  if (name !== `${textAt(spec, "names", "plural")}.${group}`) {
    errors.push(invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group'))
  }
  groupRules(errors, object, group)
  const scope = textAt(spec, "scope")
  if (scope === "") errors.push(required("spec.scope"))
  else if (scope !== "Cluster" && scope !== "Namespaced") {
    errors.push(notSupported("spec.scope", scope, ["Cluster", "Namespaced"]))
  }
  if (get(spec, "preserveUnknownFields") === true) {
    const detail =
      "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
    errors.push(invalid("spec.preserveUnknownFields", true, detail))
  }
  namesRules(errors, objectAt(spec, "names") ?? {})
  versionsRules(errors, arrayAt(spec, "versions"))
  conversionRules(errors, objectAt(spec, "conversion") ?? {})
}

/** Field paths in the errors are those of the internal version, which differ from those of v1. */
const conversionRules = (errors: Errors, conversion: JsonObject): void => {
  const strategy = textAt(conversion, "strategy")
  const field = "spec.conversion"
  if (strategy !== "None" && strategy !== "Webhook") {
    errors.push(notSupported(`${field}.strategy`, strategy, ["None", "Webhook"]))
  }
  if (strategy !== "Webhook") return
  const config = objectAt(conversion, "webhook", "clientConfig")
  const where = `${field}.webhookClientConfig`
  if (config === undefined) errors.push(required(where, "required when strategy is set to Webhook"))
  else clients.client(errors, where, config)
  const versions = arrayAt(conversion, "webhook", "conversionReviewVersions")
  if (versions.length === 0) errors.push(required(`${field}.conversionReviewVersions`))
  else clients.reviewVersions(errors, `${field}.conversionReviewVersions`, versions)
}

const approval = "api-approved.kubernetes.io"

const groupRules = (errors: Errors, object: JsonObject, group: string): void => {
  if (group === "") {
    errors.push(required("spec.group"))
    return
  }
  const wrong = objectName({ nameRule: "subdomain" }, group)
  pushAll(errors, "spec.group", group, wrong)
  if (wrong.length === 0 && !group.includes(".")) {
    errors.push(invalid("spec.group", group, "should be a domain with at least one dot"))
  }
  const isProtected = /(^|\.)(k8s|kubernetes)\.io$/.test(group)
  if (isProtected && at(object, "metadata", "annotations", approval) === undefined) {
    const detail = `protected groups must have approval annotation ${JSON.stringify(approval)}, see https://github.com/kubernetes/enhancements/pull/1111`
    errors.push(required(`metadata.annotations[${approval}]`, detail))
  }
}

/** The reasons why a text is not a DNS-1035 label. */
const labelFaults = (text: string): ReadonlyArray<string> => objectName({ nameRule: "service" }, text)

const namesRules = (errors: Errors, names: JsonObject): void => {
  for (const key of ["plural", "singular", "kind", "listKind"]) {
    const text = textAt(names, key)
    const field = `spec.names.${key}`
    const isKind = key === "kind" || key === "listKind"
    if (text === "") errors.push(required(field))
    else if (isKind) {
      const wrong = labelFaults(text.toLowerCase())
      const words = wrong.map((one) => `may have mixed case, but should otherwise match: ${one}`)
      pushAll(errors, field, text, words)
    } else pushAll(errors, field, text, labelFaults(text))
  }
  const kind = textAt(names, "kind")
  if (kind !== "" && kind === textAt(names, "listKind")) {
    errors.push(invalid("spec.names.listKind", kind, "kind and listKind may not be the same"))
  }
  for (const key of ["shortNames", "categories"]) {
    for (const [index, one] of arrayAt(names, key).entries()) {
      pushAll(errors, `spec.names.${key}[${index}]`, one, labelFaults(typeof one === "string" ? one : ""))
    }
  }
}

const versionsRules = (errors: Errors, versions: ReadonlyArray<Json>): void => {
  const found = versions.map((one) => textAt(one, "name"))
  const many = versions.length
  if (many === 0) errors.push(required("spec.versions", "must have at least one version"))
  if (new Set(found).size < many) {
    errors.push(invalid("spec.versions", [...versions], "must contain unique version names"))
  }
  if (versions.filter((one) => at(one, "storage") === true).length !== 1) {
    errors.push(invalid("spec.versions", [...versions], "must have exactly one version marked as storage version"))
  }
  for (const [index, version] of versions.entries()) versionRules(errors, version, { index, many })
}

interface Place {
  readonly index: number
  readonly many: number
}

const versionRules = (errors: Errors, version: Json, { index, many }: Place): void => {
  const field = `spec.versions[${index}]`
  const name = textAt(version, "name")
  pushAll(errors, `${field}.name`, name, labelFaults(name))
  const schema = at(version, "schema", "openAPIV3Schema")
  if (schema === undefined) errors.push(required(`${field}.schema.openAPIV3Schema`, "schemas are required"))
  else errors.push(...check(schema, schemaPlace(index, many)))
  const subresources = many === 1 ? "spec.subresources" : `${field}.subresources`
  scaleRules(errors, objectAt(version, "subresources", "scale"), `${subresources}.scale`)
  for (const [at, column] of arrayAt(version, "additionalPrinterColumns").entries()) {
    columnRules(errors, column, `${field}.additionalPrinterColumns[${at}]`)
  }
}

/** With a single version, the internal type of kube-apiserver has the schema at the top level of the spec. */
const schemaPlace = (index: number, many: number): string =>
  many === 1 ? "spec.validation.openAPIV3Schema" : `spec.versions[${index}].schema.openAPIV3Schema`

/** Rules in CEL. Those of a version whose schema is unchanged may cost more than the limit of one expression. */
const expressionRules = (errors: Errors, versions: ReadonlyArray<Json>, before: ReadonlyArray<Json>): void => {
  for (const [index, version] of versions.entries()) {
    const schema = at(version, "schema", "openAPIV3Schema")
    if (schema === undefined || check(schema, "").length > 0) continue
    const old = before.find((one) => textAt(one, "name") === textAt(version, "name"))
    const isUnchanged = old !== undefined && equal(at(old, "schema", "openAPIV3Schema"), schema)
    errors.push(...checkRules(schema as StructuralSchema, schemaPlace(index, versions.length), isUnchanged))
  }
}

/**
 * Selectable fields that all versions have in common are at the top of the spec in the internal type of kube-apiserver, which then asks for a schema
 * that they have in common too.
 */
const selectableRules = (errors: Errors, versions: ReadonlyArray<Json>, before: ReadonlyArray<Json>): void => {
  const fieldsOf = (version: Json | undefined) => arrayAt(version, "selectableFields")
  const schemaAt = (version: Json | undefined) => at(version, "schema", "openAPIV3Schema")
  const [first] = versions
  const isCommon = versions.every((one) => equal(fieldsOf(one), fieldsOf(first)))
  if (isCommon && fieldsOf(first).length > 0 && !versions.every((one) => equal(schemaAt(one), schemaAt(first)))) {
    errors.push(invalid("spec.selectableFields", "", "may only be set when validations.schema is included"))
    return
  }
  for (const [index, version] of (isCommon ? versions.slice(0, 1) : versions).entries()) {
    const paths = Definition.selectablePaths(version)
    const schema = schemaAt(version)
    // A missing schema is an error by itself, and one that is not structural too.
    if (paths.length === 0 || !isObject(schema) || check(schema, "").length > 0) continue
    const place = isCommon ? "spec.selectableFields" : `spec.versions[${index}].selectableFields`
    const old = before.find((one) => textAt(one, "name") === textAt(version, "name"))
    errors.push(
      ...selectableFields.check(paths, schema, place, old !== undefined && equal(fieldsOf(old), fieldsOf(version)))
    )
  }
}

const scaleRules = (errors: Errors, scale: JsonObject | undefined, field: string): void => {
  if (scale === undefined) return
  for (const [key, root] of [
    ["specReplicasPath", ".spec."],
    ["statusReplicasPath", ".status."]
  ] as const) {
    const path = textAt(scale, key)
    if (path === "") errors.push(required(`${field}.${key}`))
    else if (!path.startsWith(root) || jsonPath.members(path) === undefined) {
      errors.push(invalid(`${field}.${key}`, path, `should be a json path under ${root.slice(0, -1)}`))
    }
  }
  const selector = textAt(scale, "labelSelectorPath")
  if (selector !== "" && !/^\.(spec|status)\./.test(selector)) {
    errors.push(invalid(`${field}.labelSelectorPath`, selector, "should be a json path under either .spec or .status"))
  }
}

const columnTypes = ["boolean", "date", "integer", "number", "string"]

const columnRules = (errors: Errors, column: Json, field: string): void => {
  const path = textAt(column, "jsonPath")
  const type = textAt(column, "type")
  if (textAt(column, "name") === "") errors.push(required(`${field}.name`))
  if (type === "") errors.push(required(`${field}.type`, `must be one of ${columnTypes.join(",")}`))
  else if (!columnTypes.includes(type)) {
    errors.push(invalid(`${field}.type`, type, `must be one of ${columnTypes.join(",")}`))
  }
  if (path === "") errors.push(required(`${field}.jsonPath`))
  else if (!path.startsWith(".") && !path.startsWith("[")) {
    errors.push(invalid(`${field}.jsonPath`, path, "is an invalid json path"))
  }
}

const immutable = "field is immutable"

export const newDefinition = (errors: Errors, object: JsonObject): void => {
  const versions = arrayAt(object, "spec", "versions")
  expressionRules(errors, versions, [])
  selectableRules(errors, versions, [])
}

export const definitionUpdate = (errors: Errors, object: JsonObject, before: JsonObject): void => {
  const versions = arrayAt(object, "spec", "versions")
  const versionsBefore = arrayAt(before, "spec", "versions")
  expressionRules(errors, versions, versionsBefore)
  selectableRules(errors, versions, versionsBefore)
  const established = Definition.isTrue(before, "Established")
  const fixed: ReadonlyArray<ReadonlyArray<string>> = [
    ["spec", "group"],
    ["spec", "names", "plural"],
    ...(established
      ? [
          ["spec", "scope"],
          ["spec", "names", "kind"]
        ]
      : [])
  ]
  for (const path of fixed) {
    const value = at(object, ...path)
    if (!equal(value, at(before, ...path))) errors.push(invalid(path.join("."), value, immutable))
  }
  const names = versions.map((one) => textAt(one, "name"))
  for (const [index, stored] of arrayAt(object, "status", "storedVersions").entries()) {
    if (typeof stored === "string" && names.includes(stored)) continue
    const detail =
      "missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions"
    errors.push(
      invalid(
        `status.storedVersions[${index}]`,
        stored,
        detail.replaceAll("v1", typeof stored === "string" ? stored : "")
      )
    )
  }
}
