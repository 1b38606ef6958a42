/**
 * The authorization attributes of a request line. It uses the path alone and not the served resources: authorization comes before the
 * check whether a resource exists. Source: apiserver/pkg/endpoints/request: RequestInfoFactory.
 */
import * as Result from "effect/Result"
import * as Selector from "../../kube/Selector.ts"
import type { ApiRequest } from "../Api.ts"
import * as routing from "../routing.ts"
import { isTrue } from "../endpoints/listOptions.ts"
import type { Attributes } from "./rule.ts"

/** Subresources of the namespace itself; other names below a namespace are resources in it. */
const namespaceSubresources = ["status", "finalize"]

type Asked = Pick<ApiRequest, "method" | "path" | "query">

/** `segments` are those of `path`. */
export const of = (request: Asked, segments = routing.segmentsOf(request.path)): Attributes => {
  const start = segments?.[0] === "api" ? 2 : segments?.[0] === "apis" ? 3 : 0
  if (segments === undefined || start === 0 || segments.length <= start) return ofPath(request)
  const rest = segments.slice(start)
  const group = start === 3 ? (segments[1] ?? "") : ""
  const inNamespace = rest[0] === "namespaces" && rest.length > 1
  const [resource = "", name = "", subresource = ""] =
    inNamespace && rest.length > 2 && !namespaceSubresources.includes(rest[2] ?? "") ? rest.slice(2) : rest
  const verb = verbOf(request, name)
  return {
    verb,
    path: request.path,
    isResource: true,
    group,
    resource,
    subresource,
    namespace: inNamespace ? (rest[1] ?? "") : "",
    name: name === "" && (verb === "list" || verb === "watch") ? selectedName(request.query) : name
  }
}

const ofPath = ({ method, path }: Asked): Attributes => ({
  verb: method.toLowerCase(),
  path,
  isResource: false,
  group: "",
  resource: "",
  subresource: "",
  namespace: "",
  name: ""
})

const verbOf = ({ method, query }: Asked, name: string): string => {
  switch (method) {
    case "GET":
    case "HEAD":
      return name !== "" ? "get" : isTrue(query.get("watch")) ? "watch" : "list"
    case "POST":
      return "create"
    case "PUT":
      return "update"
    case "PATCH":
      return "patch"
    case "DELETE":
      return name === "" ? "deletecollection" : "delete"
    default:
      return ""
  }
}

/** A list with a field selector for one name is authorized for that name, so that roles can grant it. */
const selectedName = (query: URLSearchParams): string => {
  const text = query.get("fieldSelector") ?? ""
  if (!text.includes("metadata.name")) return ""
  const parsed = Selector.parseFields(text)
  if (Result.isFailure(parsed)) return ""
  const value = parsed.success.find(({ equal, field }) => equal && field === "metadata.name")?.value ?? ""
  return value === "." || value === ".." || /[/%]/.test(value) ? "" : value
}
