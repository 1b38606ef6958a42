/**
 * The operations of each path, from which `paths` of both OpenAPI versions are written. Derived from the table of resources, so
 * that it describes exactly what is served.
 */
import * as ResourceDefinition from "../scheme/ResourceDefinition.ts"
import * as types from "../scheme/types.ts"
import * as customTypes from "./customResourceTypes.ts"

export interface Operation {
  readonly method: "get" | "put" | "post" | "patch" | "delete"
  /** `x-kubernetes-action`. */
  readonly action: string
  readonly id: string
  readonly query: ReadonlyArray<string>
  /** Types of the body and of the answer, as ids of the type table. */
  readonly body: string | undefined
  readonly answer: string
  readonly gvk: { readonly group: string; readonly version: string; readonly kind: string }
  /** Without strategic merge patch. */
  readonly isCustom?: boolean
}

export interface Path {
  readonly path: string
  readonly parameters: ReadonlyArray<"name" | "namespace">
  readonly operations: ReadonlyArray<Operation>
}

/** Query parameters and their types. */
export const queryTypes: Readonly<Record<string, "string" | "integer" | "boolean">> = {
  allowWatchBookmarks: "boolean",
  continue: "string",
  dryRun: "string",
  fieldManager: "string",
  fieldSelector: "string",
  fieldValidation: "string",
  force: "boolean",
  gracePeriodSeconds: "integer",
  labelSelector: "string",
  limit: "integer",
  propagationPolicy: "string",
  resourceVersion: "string",
  resourceVersionMatch: "string",
  sendInitialEvents: "boolean",
  shardSelector: "string",
  timeoutSeconds: "integer",
  watch: "boolean"
}

const listing = [
  "allowWatchBookmarks",
  "continue",
  "fieldSelector",
  "labelSelector",
  "limit",
  "resourceVersion",
  "resourceVersionMatch",
  "sendInitialEvents",
  "shardSelector",
  "timeoutSeconds",
  "watch"
]
const writing = ["dryRun", "fieldManager", "fieldValidation"]
const deleting = ["dryRun", "gracePeriodSeconds", "propagationPolicy"]

/** The id of the resource in the type table; undefined without a type. */
const typeOf = (resource: ResourceDefinition.ResourceDefinition): string | undefined =>
  resource.customResource === undefined ? types.ofKind(resource)?.id : customTypes.idOf(resource)

export const paths = (resources: ReadonlyArray<ResourceDefinition.ResourceDefinition>): ReadonlyArray<Path> =>
  resources.flatMap((resource) => {
    const type = typeOf(resource)
    return type === undefined ? [] : pathsOf(resource, type)
  })

const base = (resource: ResourceDefinition.ResourceDefinition): string =>
  `${resource.group === "" ? "/api" : "/apis"}/${ResourceDefinition.apiVersion(resource)}`

const pathsOf = (resource: ResourceDefinition.ResourceDefinition, type: string): ReadonlyArray<Path> => {
  const scope = resource.namespaced ? (["namespace"] as const) : []
  const collection = `${base(resource)}${resource.namespaced ? "/namespaces/{namespace}" : ""}/${resource.plural}`
  const everywhere = `${base(resource)}/${resource.plural}`
  const all: Array<Path> = [
    { path: collection, parameters: scope, operations: onCollection(resource, type) },
    { path: `${collection}/{name}`, parameters: ["name", ...scope], operations: onObject(resource, type) }
  ]
  if (resource.namespaced && resource.verbs.includes("list")) {
    all.push({ path: everywhere, parameters: [], operations: [listOf(resource, type, "ForAllNamespaces")] })
  }
  for (const name of resource.subresources) {
    all.push({
      path: `${collection}/{name}/${name}`,
      parameters: ["name", ...scope],
      operations: onSubresource(resource, type, name)
    })
  }
  return all.filter(({ operations }) => operations.length > 0)
}

const idOf = (verb: string, resource: ResourceDefinition.ResourceDefinition, rest = ""): string => {
  const group = resource.group === "" ? "core" : (resource.group.split(".")[0] ?? "")
  const version = resource.version
  return `${verb}${capital(group)}${capital(version)}${resource.namespaced && rest !== "ForAllNamespaces" ? "Namespaced" : ""}${resource.kind}${rest}`
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

const listOf = (resource: ResourceDefinition.ResourceDefinition, type: string, rest = ""): Operation => ({
  method: "get",
  action: "list",
  id: idOf("list", resource, rest),
  query: listing,
  body: undefined,
  answer: `${type}List`,
  gvk: resource
})

const onCollection = (resource: ResourceDefinition.ResourceDefinition, type: string): ReadonlyArray<Operation> => {
  const all: Array<Operation> = []
  if (resource.verbs.includes("list")) all.push(listOf(resource, type))
  if (resource.verbs.includes("create")) {
    const id = idOf("create", resource)
    all.push({ method: "post", action: "post", id, query: writing, body: type, answer: type, gvk: resource })
  }
  if (resource.verbs.includes("deletecollection")) {
    const query = [...new Set([...listing.filter((one) => one !== "watch"), ...deleting])].sort()
    const id = idOf("deleteCollection", resource)
    const body = "meta.DeleteOptions"
    all.push({ method: "delete", action: "deletecollection", id, query, body, answer: "meta.Status", gvk: resource })
  }
  return all
}

const onObject = (resource: ResourceDefinition.ResourceDefinition, type: string): ReadonlyArray<Operation> => {
  const all: Array<Operation> = []
  if (resource.verbs.includes("get")) all.push(operationOf("get", "get", resource, type, ""))
  if (resource.verbs.includes("update")) all.push(operationOf("put", "replace", resource, type, ""))
  if (resource.verbs.includes("patch")) all.push(operationOf("patch", "patch", resource, type, ""))
  if (resource.verbs.includes("delete")) {
    const answer = resource.returnsDeleted ? type : "meta.Status"
    const id = idOf("delete", resource)
    all.push({
      method: "delete",
      action: "delete",
      id,
      query: deleting,
      body: "meta.DeleteOptions",
      answer,
      gvk: resource
    })
  }
  return all
}

const operationOf = (
  method: "get" | "put" | "patch" | "post",
  verb: string,
  resource: ResourceDefinition.ResourceDefinition,
  type: string,
  rest: string,
  gvk: Operation["gvk"] = resource
): Operation => ({
  method,
  action: method,
  id: idOf(verb, resource, rest),
  query: method === "get" ? [] : method === "patch" ? [...writing, "force"] : writing,
  body: method === "get" ? undefined : method === "patch" ? "patch" : type,
  answer: type,
  gvk,
  isCustom: resource.customResource !== undefined
})

/** Subresources with another kind than their resource; all others have the kind of the resource. */
const otherKinds: Readonly<Record<string, Operation["gvk"] & { readonly type: string }>> = {
  scale: { group: "autoscaling", version: "v1", kind: "Scale", type: "autoscaling.Scale" },
  binding: { group: "", version: "v1", kind: "Binding", type: "core.Binding" },
  eviction: { group: "policy", version: "v1", kind: "Eviction", type: "policy.Eviction" },
  token: { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest", type: "authentication.TokenRequest" }
}

const createOnly = new Set(["binding", "eviction", "token"])

/** Streams, which are described in prose only; clients do not look them up. */
const streaming = new Set(["log", "exec", "attach", "portforward", "proxy"])

const onSubresource = (
  resource: ResourceDefinition.ResourceDefinition,
  type: string,
  name: string
): ReadonlyArray<Operation> => {
  if (streaming.has(name)) return []
  const other = Object.hasOwn(otherKinds, name) ? otherKinds[name] : undefined
  const [of, gvk] = other === undefined ? [type, resource] : [other.type, other]
  const rest = capital(name)
  if (createOnly.has(name)) return [operationOf("post", "create", resource, of, rest, gvk)]
  const replace = operationOf("put", "replace", resource, of, rest, gvk)
  if (name === "finalize") return [replace]
  return [
    operationOf("get", "read", resource, of, rest, gvk),
    replace,
    operationOf("patch", "patch", resource, of, rest, gvk)
  ]
}
