/** Discovery, legacy and aggregated, and `/version`. Derived from the served resources. */
import * as KubernetesVersion from "../kube/kubernetesVersion.ts"
import type { Answer } from "./Api.ts"
import type * as ResourceDefinition from "./scheme/ResourceDefinition.ts"
import { parseAccept } from "./printers/negotiate.ts"

const json = (value: unknown, contentType = "application/json"): Answer => ({
  _tag: "Answer",
  status: 200,
  contentType,
  body: JSON.stringify(value)
})

/** The version of Kubernetes that this server implements. */
export const version = {
  major: KubernetesVersion.major,
  minor: KubernetesVersion.minor,
  gitVersion: `${KubernetesVersion.gitVersion}+embedded`,
  gitCommit: "0000000000000000000000000000000000000000",
  gitTreeState: "clean",
  buildDate: "2026-01-01T00:00:00Z",
  goVersion: "none",
  compiler: "none",
  platform: "embedded"
} as const

export interface Discovery {
  /** The document at a path, if it is one of these. */
  readonly find: (segments: ReadonlyArray<string>, accept: string | undefined) => Answer | undefined
}

/** Discovery of a server with these resources. */
export const make = (resources: ReadonlyArray<ResourceDefinition.ResourceDefinition>): Discovery => {
  const groups = groupsOf(resources)
  return {
    find: (segments, accept) => {
      switch (segments.join("/")) {
        case "":
          return json({ paths: pathsOf(groups) })
        case "version":
          return json(version)
        case "api":
          return aggregated(groups, accept, (group) => group === "") ?? json(legacyVersions)
        case "apis":
          return aggregated(groups, accept, (group) => group !== "") ?? json(groupList(groups))
        default:
          return groupOrVersion(groups, segments)
      }
    }
  }
}

/** What `/` lists. Source: apiserver/pkg/server/routes: Index. */
const pathsOf = (groups: Groups): ReadonlyArray<string> =>
  [
    "/api",
    "/apis",
    "/apis/",
    "/healthz",
    "/livez",
    "/openapi/v2",
    "/openapi/v3",
    "/readyz",
    "/version",
    ...[...groups.keys()].filter((group) => group !== "").map((group) => `/apis/${group}`),
    ...[...groups].flatMap(([group, versions]) =>
      [...versions.keys()].map((version) => (group === "" ? `/api/${version}` : `/apis/${group}/${version}`))
    )
  ].sort()

/** Groups and their versions, the preferred version first, each with its resources, in the order of the built-in table. */
type Groups = ReadonlyMap<string, ReadonlyMap<string, ReadonlyArray<ResourceDefinition.ResourceDefinition>>>

const groupsOf = (resources: ReadonlyArray<ResourceDefinition.ResourceDefinition>): Groups => {
  const out = new Map<string, Map<string, Array<ResourceDefinition.ResourceDefinition>>>()
  for (const resource of resources) {
    const versions = out.get(resource.group) ?? new Map<string, Array<ResourceDefinition.ResourceDefinition>>()
    out.set(resource.group, versions)
    const list = versions.get(resource.version)
    if (list === undefined) versions.set(resource.version, [resource])
    else list.push(resource)
  }
  for (const [group, versions] of out) {
    // Custom resources come in any order and are sorted by version priority; the built-in table is sorted already.
    if (
      [...versions.values()].some((resources) => resources.some(({ customResource: custom }) => custom !== undefined))
    ) {
      out.set(group, new Map([...versions].sort(([a], [b]) => compareVersions(a, b))))
    }
  }
  return out
}

const kubeVersion = /^v(\d+)(?:(alpha|beta)(\d+))?$/

/**
 * Orders versions of a group by the preference of clients: stable, then beta, then alpha, the higher number first, and names of another
 * form last. Negative when `a` is preferred. Source: apimachinery version.CompareKubeAwareVersionStrings.
 */
export const compareVersions = (a: string, b: string): number => {
  const [left, right] = [kubeVersion.exec(a), kubeVersion.exec(b)]
  if (left === null || right === null) {
    if (left !== null || right !== null) return left === null ? 1 : -1
    return a < b ? -1 : a > b ? 1 : 0
  }
  return (
    stability(right[2]) - stability(left[2]) ||
    Number(right[1]) - Number(left[1]) ||
    Number(right[3] ?? 0) - Number(left[3] ?? 0)
  )
}

const stability = (text: string | undefined): number => (text === undefined ? 2 : text === "beta" ? 1 : 0)

const legacyVersions = {
  kind: "APIVersions",
  versions: ["v1"],
  serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: "127.0.0.1:443" }]
}

const groupDocument = (name: string, of: ReadonlyMap<string, unknown>) => {
  const versions = [...of.keys()].map((one) => ({ groupVersion: `${name}/${one}`, version: one }))
  return { name, versions, preferredVersion: versions[0] }
}

const groupList = (groups: Groups) => ({
  kind: "APIGroupList",
  apiVersion: "v1",
  groups: [...groups].filter(([group]) => group !== "").map(([group, versions]) => groupDocument(group, versions))
})

const groupOrVersion = (groups: Groups, segments: ReadonlyArray<string>): Answer | undefined => {
  const [root, ...rest] = segments
  const [first = ""] = rest
  const named = root === "apis" && first !== "" ? groups.get(first) : undefined
  if (rest.length === 1 && named !== undefined) {
    return json({ kind: "APIGroup", apiVersion: "v1", ...groupDocument(first, named) })
  }
  if (!(root === "api" && rest.length === 1) && !(root === "apis" && rest.length === 2)) return undefined
  const list = root === "api" ? groups.get("")?.get(first) : named?.get(rest[1] ?? "")
  if (list === undefined) return undefined
  const groupVersion = rest.join("/")
  return json({ kind: "APIResourceList", apiVersion: "v1", groupVersion, resources: list.flatMap(resources) })
}

/** The resource and its subresources, as legacy discovery lists them. */
const resources = (resource: ResourceDefinition.ResourceDefinition): ReadonlyArray<object> => [
  {
    name: resource.plural,
    singularName: resource.singular,
    namespaced: resource.namespaced,
    kind: resource.kind,
    verbs: resource.verbs,
    ...(resource.shortNames.length > 0 ? { shortNames: resource.shortNames } : {}),
    ...(resource.categories.length > 0 ? { categories: resource.categories } : {})
  },
  ...resource.subresources.map((name) => {
    const { group, kind: of, version: at, verbs } = subresource(resource, name)
    const named = group !== resource.group || at !== resource.version ? { group, version: at } : {}
    return {
      name: `${resource.plural}/${name}`,
      singularName: "",
      namespaced: resource.namespaced,
      ...named,
      kind: of,
      verbs
    }
  })
]

/** Subresources with a kind of their own. */
const otherKinds: Readonly<
  Record<string, Pick<ResourceDefinition.ResourceDefinition, "group" | "version" | "kind" | "verbs">>
> = {
  scale: { group: "autoscaling", version: "v1", kind: "Scale", verbs: ["get", "patch", "update"] },
  binding: { group: "", version: "v1", kind: "Binding", verbs: ["create"] },
  eviction: { group: "policy", version: "v1", kind: "Eviction", verbs: ["create"] },
  token: { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest", verbs: ["create"] },
  log: { group: "", version: "v1", kind: "Pod", verbs: ["get"] },
  exec: { group: "", version: "v1", kind: "PodExecOptions", verbs: ["create", "get"] },
  attach: { group: "", version: "v1", kind: "PodAttachOptions", verbs: ["create", "get"] },
  portforward: { group: "", version: "v1", kind: "PodPortForwardOptions", verbs: ["create", "get"] }
}

const subresource = (resource: ResourceDefinition.ResourceDefinition, name: string) => {
  const other = otherKinds[name]
  if (other !== undefined) return other
  if (name === "proxy") {
    const verbs = ["create", "delete", "get", "patch", "update"] as const
    return { group: "", version: "v1", kind: `${resource.kind}ProxyOptions`, verbs }
  }
  const verbs = name === "finalize" ? ["update"] : ["get", "patch", "update"]
  return { group: resource.group, version: resource.version, kind: resource.kind, verbs }
}

/** Aggregated discovery, when the Accept header asks for it. */
const aggregated = (
  groups: Groups,
  accept: string | undefined,
  belongs: (group: string) => boolean
): Answer | undefined => {
  for (const { parameters, type } of parseAccept(accept ?? "")) {
    if (type !== "application/json") continue
    const { as, g, v } = parameters
    if (as === undefined) return undefined
    if (as !== "APIGroupDiscoveryList" || g !== "apidiscovery.k8s.io" || (v !== "v2" && v !== "v2beta1")) continue
    const items = [...groups].filter(([group]) => belongs(group)).map(discoveryGroup)
    const value = { kind: "APIGroupDiscoveryList", apiVersion: `apidiscovery.k8s.io/${v}`, metadata: {}, items }
    return json(value, `application/json;g=apidiscovery.k8s.io;v=${v};as=APIGroupDiscoveryList`)
  }
  return undefined
}

const discoveryGroup = ([group, versions]: readonly [
  string,
  ReadonlyMap<string, ReadonlyArray<ResourceDefinition.ResourceDefinition>>
]) => ({
  metadata: group === "" ? {} : { name: group },
  versions: [...versions].map(([version, resources]) => ({
    version,
    resources: resources.map(discoveryResource),
    freshness: "Current"
  }))
})

const discoveryResource = (resource: ResourceDefinition.ResourceDefinition) => ({
  resource: resource.plural,
  responseKind: { group: resource.group, version: resource.version, kind: resource.kind },
  scope: resource.namespaced ? "Namespaced" : "Cluster",
  singularResource: resource.singular,
  verbs: resource.verbs,
  ...(resource.shortNames.length > 0 ? { shortNames: resource.shortNames } : {}),
  ...(resource.categories.length > 0 ? { categories: resource.categories } : {}),
  ...(resource.subresources.length > 0
    ? {
        subresources: resource.subresources.map((name) => {
          const { verbs, ...responseKind } = subresource(resource, name)
          return { subresource: name, responseKind, verbs }
        })
      }
    : {})
})
