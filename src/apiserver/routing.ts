/**
 * Routes a path: to resource, namespace, name and subresource. A path that matches no resource is `undefined`, not an error: discovery
 * and health follow. Source: apiserver/pkg/endpoints/request: RequestInfoFactory.
 */
import type * as ResourceDefinition from "./scheme/ResourceDefinition.ts"

export interface Target {
  readonly resource: ResourceDefinition.ResourceDefinition
  /** Empty for cluster-scoped kinds and for all namespaces. */
  readonly namespace: string
  /** Empty for the collection. */
  readonly name: string
  /** Empty for the object itself. */
  readonly subresource: string
}

/** The served resources, by `group/version/plural`. */
export interface Served {
  readonly find: (path: string) => ResourceDefinition.ResourceDefinition | undefined
}

/** The decoded segments, or undefined when one of them is not valid percent-encoding. */
export const segmentsOf = (path: string): ReadonlyArray<string> | undefined => {
  const raw: Array<string> = []
  for (let start = 0; start < path.length;) {
    const slash = path.indexOf("/", start)
    const end = slash === -1 ? path.length : slash
    if (end > start) raw.push(path.slice(start, end))
    start = end + 1
  }
  if (!path.includes("%")) return raw
  try {
    return raw.map(decodeURIComponent)
  } catch {
    return undefined // malformed escape: such a path names nothing
  }
}

/** Below `/api/v1` or `/apis/<group>/<version>`. */
export const target = (served: Served, segments: ReadonlyArray<string>): Target | undefined => {
  const start = segments[0] === "api" ? 2 : segments[0] === "apis" ? 3 : 0
  if (start === 0 || segments.length <= start) return undefined
  const groupVersion = segments.slice(1, start).join("/")
  const rest = segments.slice(start)
  if (rest[0] === "namespaces" && rest.length > 2) {
    const resource = served.find(`${groupVersion}/${rest[2]}`)
    if (resource?.namespaced === true) return finish(resource, rest[1] ?? "", rest.slice(3))
  }
  const resource = served.find(`${groupVersion}/${rest[0]}`)
  if (resource === undefined) return undefined
  // Without a namespace a namespaced kind can only be listed and watched.
  if (resource.namespaced && rest.length > 1) return undefined
  return finish(resource, "", rest.slice(1))
}

const finish = (
  resource: ResourceDefinition.ResourceDefinition,
  namespace: string,
  rest: ReadonlyArray<string>
): Target | undefined => {
  const [name = "", subresource = "", ...more] = rest
  // The path behind a proxy is that of the proxied server.
  if (more.length > 0 && subresource !== "proxy") return undefined
  if (subresource !== "" && !resource.subresources.includes(subresource)) return undefined
  return { resource, namespace, name, subresource }
}
