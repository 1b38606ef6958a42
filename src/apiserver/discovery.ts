/** Discovery, legacy and aggregated, and `/version`. Derived from the served resources. */
import type { Answer } from "./Api.ts"
import { compare } from "./apiextensions/versions.ts"
import type * as Kind from "./scheme/Kind.ts"
import { parseAccept } from "./printers/negotiate.ts"

const json = (value: unknown, contentType = "application/json"): Answer => ({
  _tag: "Answer",
  status: 200,
  contentType,
  body: JSON.stringify(value)
})

/** The version of Kubernetes that this server implements. */
export const version = {
  major: "1",
  minor: "35",
  gitVersion: "v1.35.0+embedded",
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
export const make = (kinds: ReadonlyArray<Kind.Kind>): Discovery => {
  const groups = groupsOf(kinds)
  return {
    find: (segments, accept) => {
      switch (segments.join("/")) {
        case "version":
          return json(version)
        case "api":
          return aggregated(groups, accept, (group) => group === "") ?? json(legacyVersions)
        case "apis":
          return aggregated(groups, accept, (group) => group !== "") ?? json(groupList(groups))
        default:
          return described(groups, segments)
      }
    }
  }
}

/** Groups and their versions, the preferred version first, each with its resources, in the order of the built-in table. */
type Groups = ReadonlyMap<string, ReadonlyMap<string, ReadonlyArray<Kind.Kind>>>

const groupsOf = (kinds: ReadonlyArray<Kind.Kind>): Groups => {
  const out = new Map<string, Map<string, Array<Kind.Kind>>>()
  for (const kind of kinds) {
    const versions = out.get(kind.group) ?? new Map<string, Array<Kind.Kind>>()
    out.set(kind.group, versions)
    const list = versions.get(kind.version)
    if (list === undefined) versions.set(kind.version, [kind])
    else list.push(kind)
  }
  for (const [group, versions] of out) {
    // Custom resources come in any order and are sorted by version priority; the built-in table is sorted already.
    if ([...versions.values()].some((kinds) => kinds.some(({ custom }) => custom !== undefined))) {
      out.set(group, new Map([...versions].sort(([a], [b]) => compare(a, b))))
    }
  }
  return out
}

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

const described = (groups: Groups, segments: ReadonlyArray<string>): Answer | undefined => {
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
const resources = (kind: Kind.Kind): ReadonlyArray<object> => [
  {
    name: kind.plural,
    singularName: kind.singular,
    namespaced: kind.namespaced,
    kind: kind.kind,
    verbs: kind.verbs,
    ...(kind.shortNames.length > 0 ? { shortNames: kind.shortNames } : {}),
    ...(kind.categories.length > 0 ? { categories: kind.categories } : {})
  },
  ...kind.subresources.map((name) => {
    const { group, kind: of, version: at, verbs } = subresource(kind, name)
    const named = group !== kind.group || at !== kind.version ? { group, version: at } : {}
    return {
      name: `${kind.plural}/${name}`,
      singularName: "",
      namespaced: kind.namespaced,
      ...named,
      kind: of,
      verbs
    }
  })
]

/** Subresources with a kind of their own. */
const foreign: Readonly<Record<string, Pick<Kind.Kind, "group" | "version" | "kind" | "verbs">>> = {
  scale: { group: "autoscaling", version: "v1", kind: "Scale", verbs: ["get", "patch", "update"] },
  binding: { group: "", version: "v1", kind: "Binding", verbs: ["create"] },
  eviction: { group: "policy", version: "v1", kind: "Eviction", verbs: ["create"] },
  token: { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest", verbs: ["create"] }
}

const subresource = (kind: Kind.Kind, name: string) => {
  const other = foreign[name]
  if (other !== undefined) return other
  const verbs = name === "finalize" ? ["update"] : ["get", "patch", "update"]
  return { group: kind.group, version: kind.version, kind: kind.kind, verbs }
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

const discoveryGroup = ([group, versions]: readonly [string, ReadonlyMap<string, ReadonlyArray<Kind.Kind>>]) => ({
  metadata: group === "" ? {} : { name: group },
  versions: [...versions].map(([version, kinds]) => ({
    version,
    resources: kinds.map(discoveryResource),
    freshness: "Current"
  }))
})

const discoveryResource = (kind: Kind.Kind) => ({
  resource: kind.plural,
  responseKind: { group: kind.group, version: kind.version, kind: kind.kind },
  scope: kind.namespaced ? "Namespaced" : "Cluster",
  singularResource: kind.singular,
  verbs: kind.verbs,
  ...(kind.shortNames.length > 0 ? { shortNames: kind.shortNames } : {}),
  ...(kind.categories.length > 0 ? { categories: kind.categories } : {}),
  ...(kind.subresources.length > 0
    ? {
        subresources: kind.subresources.map((name) => {
          const { verbs, ...responseKind } = subresource(kind, name)
          return { subresource: name, responseKind, verbs }
        })
      }
    : {})
})
