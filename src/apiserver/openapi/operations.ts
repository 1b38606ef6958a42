/**
 * What can be done at which path: one list, from which the `paths` of both OpenAPI dialects are written. Derived from the
 * table of kinds, so that nothing is described that is not served.
 */
import * as Kind from "../scheme/Kind.ts"
import * as types from "../scheme/types.ts"
import * as customTypes from "./customTypes.ts"

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
  /** Of a kind whose lists nobody knows how to merge strategically. */
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
  "timeoutSeconds",
  "watch"
]
const writing = ["dryRun", "fieldManager", "fieldValidation"]
const deleting = ["dryRun", "gracePeriodSeconds", "propagationPolicy"]

/** The id of the type a kind has in the table; nothing is described for kinds that are not in it. */
const typeOf = (kind: Kind.Kind): string | undefined =>
  kind.custom === undefined ? types.ofKind(kind)?.id : customTypes.idOf(kind)

export const paths = (kinds: ReadonlyArray<Kind.Kind>): ReadonlyArray<Path> =>
  kinds.flatMap((kind) => {
    const type = typeOf(kind)
    return type === undefined ? [] : pathsOf(kind, type)
  })

const base = (kind: Kind.Kind): string => `${kind.group === "" ? "/api" : "/apis"}/${Kind.apiVersion(kind)}`

const pathsOf = (kind: Kind.Kind, type: string): ReadonlyArray<Path> => {
  const scope = kind.namespaced ? (["namespace"] as const) : []
  const collection = `${base(kind)}${kind.namespaced ? "/namespaces/{namespace}" : ""}/${kind.plural}`
  const everywhere = `${base(kind)}/${kind.plural}`
  const all: Array<Path> = [
    { path: collection, parameters: scope, operations: onCollection(kind, type) },
    { path: `${collection}/{name}`, parameters: ["name", ...scope], operations: onObject(kind, type) }
  ]
  if (kind.namespaced && kind.verbs.includes("list")) {
    all.push({ path: everywhere, parameters: [], operations: [listOf(kind, type, "ForAllNamespaces")] })
  }
  for (const name of kind.subresources) {
    all.push({
      path: `${collection}/{name}/${name}`,
      parameters: ["name", ...scope],
      operations: onSubresource(kind, type, name)
    })
  }
  return all.filter(({ operations }) => operations.length > 0)
}

const idOf = (verb: string, kind: Kind.Kind, rest = ""): string => {
  const group = kind.group === "" ? "core" : (kind.group.split(".")[0] ?? "")
  const version = kind.version
  return `${verb}${capital(group)}${capital(version)}${kind.namespaced && rest !== "ForAllNamespaces" ? "Namespaced" : ""}${kind.kind}${rest}`
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

const listOf = (kind: Kind.Kind, type: string, rest = ""): Operation => ({
  method: "get",
  action: "list",
  id: idOf("list", kind, rest),
  query: listing,
  body: undefined,
  answer: `${type}List`,
  gvk: kind
})

const onCollection = (kind: Kind.Kind, type: string): ReadonlyArray<Operation> => {
  const all: Array<Operation> = []
  if (kind.verbs.includes("list")) all.push(listOf(kind, type))
  if (kind.verbs.includes("create")) {
    const id = idOf("create", kind)
    all.push({ method: "post", action: "post", id, query: writing, body: type, answer: type, gvk: kind })
  }
  if (kind.verbs.includes("deletecollection")) {
    const query = [...new Set([...listing.filter((one) => one !== "watch"), ...deleting])].sort()
    const id = idOf("deleteCollection", kind)
    const body = "meta.DeleteOptions"
    all.push({ method: "delete", action: "deletecollection", id, query, body, answer: "meta.Status", gvk: kind })
  }
  return all
}

const onObject = (kind: Kind.Kind, type: string): ReadonlyArray<Operation> => {
  const all: Array<Operation> = []
  if (kind.verbs.includes("get")) all.push(plain("get", "get", kind, type, ""))
  if (kind.verbs.includes("update")) all.push(plain("put", "replace", kind, type, ""))
  if (kind.verbs.includes("patch")) all.push(plain("patch", "patch", kind, type, ""))
  if (kind.verbs.includes("delete")) {
    const answer = kind.returnsDeleted ? type : "meta.Status"
    const id = idOf("delete", kind)
    all.push({
      method: "delete",
      action: "delete",
      id,
      query: deleting,
      body: "meta.DeleteOptions",
      answer,
      gvk: kind
    })
  }
  return all
}

const plain = (
  method: "get" | "put" | "patch" | "post",
  verb: string,
  kind: Kind.Kind,
  type: string,
  rest: string,
  gvk: Operation["gvk"] = kind
): Operation => ({
  method,
  action: method,
  id: idOf(verb, kind, rest),
  query: method === "get" ? [] : method === "patch" ? [...writing, "force"] : writing,
  body: method === "get" ? undefined : method === "patch" ? "patch" : type,
  answer: type,
  gvk,
  isCustom: kind.custom !== undefined
})

/** Subresources that take or give another kind than their resource; all others are views of the object itself. */
const foreign: Readonly<Record<string, Operation["gvk"] & { readonly type: string }>> = {
  scale: { group: "autoscaling", version: "v1", kind: "Scale", type: "autoscaling.Scale" },
  binding: { group: "", version: "v1", kind: "Binding", type: "core.Binding" },
  eviction: { group: "policy", version: "v1", kind: "Eviction", type: "policy.Eviction" },
  token: { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest", type: "authentication.TokenRequest" }
}

const createOnly = new Set(["binding", "eviction", "token"])

const onSubresource = (kind: Kind.Kind, type: string, name: string): ReadonlyArray<Operation> => {
  const other = Object.hasOwn(foreign, name) ? foreign[name] : undefined
  const [of, gvk] = other === undefined ? [type, kind] : [other.type, other]
  const rest = capital(name)
  if (createOnly.has(name)) return [plain("post", "create", kind, of, rest, gvk)]
  const replace = plain("put", "replace", kind, of, rest, gvk)
  if (name === "finalize") return [replace]
  return [plain("get", "read", kind, of, rest, gvk), replace, plain("patch", "patch", kind, of, rest, gvk)]
}
