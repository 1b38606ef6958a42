/** Rules of webhook configurations. Source: pkg/apis/admissionregistration/validation: validateRuleWithOperations. */
import { arrayAt, at } from "../../json.ts"
import type { Json } from "../../json.ts"
import { invalid, notSupported, Printed, required, stringList } from "./field.ts"
import type { Errors } from "./field.ts"

const operations = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"]

const scopes = ["*", "Cluster", "Namespaced"]

export const rule = (errors: Errors, path: string, value: Json): void => {
  operationsOf(errors, `${path}.operations`, arrayAt(value, "operations"))
  namesOrWildcard(errors, `${path}.apiGroups`, arrayAt(value, "apiGroups"), "API groups")
  const versions = arrayAt(value, "apiVersions")
  namesOrWildcard(errors, `${path}.apiVersions`, versions, "API versions")
  noEmptyElements(errors, `${path}.apiVersions`, versions)
  resources(errors, `${path}.resources`, arrayAt(value, "resources"))
  const scope = at(value, "scope")
  if (scope !== undefined && !(typeof scope === "string" && scopes.includes(scope))) {
    errors.push(notSupported(`${path}.scope`, scope, scopes))
  }
}

const operationsOf = (errors: Errors, field: string, list: Array<Json>): void => {
  if (list.length === 0) errors.push(required(field))
  if (list.length > 1 && list.includes("*")) {
    const printed = list.map((one) => JSON.stringify(one)).join(", ")
    const detail = "if '*' is present, must not specify other operations"
    errors.push(invalid(field, new Printed(`[]admissionregistration.OperationType{${printed}}`), detail))
  }
  for (const [index, one] of list.entries()) {
    if (typeof one !== "string" || !operations.includes(one)) {
      errors.push(notSupported(`${field}[${index}]`, one, operations))
    }
  }
}

/** A list that is not noEmptyElements, and in which `*` is the only element if present. */
const namesOrWildcard = (errors: Errors, field: string, list: Array<Json>, what: string): void => {
  if (list.length === 0) errors.push(required(field))
  if (list.length > 1 && list.includes("*")) {
    errors.push(invalid(field, stringList(list), `if '*' is present, must not specify other ${what}`))
  }
}

const noEmptyElements = (errors: Errors, field: string, list: Array<Json>): void => {
  for (const [index, one] of list.entries()) if (one === "") errors.push(required(`${field}[${index}]`))
}

/** Resources of a rule; an element is an error if an earlier one with a wildcard includes it. */
const resources = (errors: Errors, field: string, list: Array<Json>): void => {
  if (list.length === 0) errors.push(required(field))
  const everySubresourceOf = new Set<string>()
  const ofEveryResource = new Set<string>()
  noEmptyElements(errors, field, list)
  for (const [index, one] of list.entries()) {
    if (typeof one !== "string" || !one.includes("/")) continue
    const slash = one.indexOf("/")
    const [resource, part] = [one.slice(0, slash), one.slice(slash + 1)]
    const refuse = (what: string) =>
      errors.push(invalid(`${field}[${index}]`, one, `if '${what}' is present, must not specify ${one}`))
    if (everySubresourceOf.has(resource)) refuse(`${resource}/*`)
    if (ofEveryResource.has(part)) refuse(`*/${part}`)
    if (part === "*") everySubresourceOf.add(resource)
    if (resource === "*") ofEveryResource.add(part)
  }
  if (list.length > 1 && list.includes("*/*")) {
    errors.push(invalid(field, stringList(list), "if '*/*' is present, must not specify other resources"))
  }
  if (list.includes("*") && list.some((one) => typeof one === "string" && one !== "*" && !one.includes("/"))) {
    const detail = "if '*' is present, must not specify other resources without subresources"
    errors.push(invalid(field, stringList(list), detail))
  }
}
