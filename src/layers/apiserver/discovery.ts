/** Everything that describes the server itself: discovery, legacy and aggregated, and its version. Derived from the table. */
import type { Answer } from "./Api.ts"
import * as Kind from "./schema/Kind.ts"
import * as kinds from "./schema/kinds.ts"
import { parseAccept } from "./views/negotiate.ts"

const json = (value: unknown, contentType = "application/json"): Answer => ({
  _tag: "Answer",
  status: 200,
  contentType,
  body: JSON.stringify(value)
})

/** The version of Kubernetes whose rules this server follows. */
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

/** Kinds by `group/version`, in the order of the table. */
const groups: ReadonlyMap<string, ReadonlyArray<Kind.Kind>> = (() => {
  const out = new Map<string, Array<Kind.Kind>>()
  for (const kind of kinds.all) {
    const key = Kind.apiVersion(kind)
    const list = out.get(key)
    if (list === undefined) out.set(key, [kind])
    else list.push(kind)
  }
  return out
})()

/** The document a path stands for, if it is one of these. */
export const find = (segments: ReadonlyArray<string>, accept: string | undefined): Answer | undefined => {
  switch (segments.join("/")) {
    case "version":
      return json(version)
    case "api":
      return aggregated(accept, (group) => group === "") ?? json(legacyVersions)
    case "apis":
      return aggregated(accept, (group) => group !== "") ?? json(groupList())
    default:
      return described(segments)
  }
}

const legacyVersions = {
  kind: "APIVersions",
  versions: ["v1"],
  serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: "127.0.0.1:443" }]
}

const groupNames = (): ReadonlyArray<string> => [...new Set(kinds.all.map((kind) => kind.group))]

const versionsOf = (group: string): ReadonlyArray<string> => [
  ...new Set(kinds.all.filter((kind) => kind.group === group).map((kind) => kind.version))
]

const groupDocument = (group: string) => {
  const versions = versionsOf(group).map((one) => ({ groupVersion: `${group}/${one}`, version: one }))
  return { name: group, versions, preferredVersion: versions[0] }
}

const groupList = () => ({
  kind: "APIGroupList",
  apiVersion: "v1",
  groups: groupNames()
    .filter((group) => group !== "")
    .map(groupDocument)
})

const described = (segments: ReadonlyArray<string>): Answer | undefined => {
  const [root, ...rest] = segments
  if (root === "apis" && rest.length === 1 && rest[0] !== "" && groupNames().includes(rest[0] ?? "")) {
    return json({ kind: "APIGroup", apiVersion: "v1", ...groupDocument(rest[0] ?? "") })
  }
  if (!(root === "api" && rest.length === 1) && !(root === "apis" && rest.length === 2)) return undefined
  const groupVersion = rest.join("/")
  const list = groups.get(groupVersion)
  if (list === undefined) return undefined
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

/** Subresources that take or give a kind of their own. */
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

/** Aggregated discovery, when the client offers to take it. */
const aggregated = (accept: string | undefined, belongs: (group: string) => boolean): Answer | undefined => {
  for (const { parameters, type } of parseAccept(accept ?? "")) {
    if (type !== "application/json") continue
    const { as, g, v } = parameters
    if (as === undefined) return undefined
    if (as !== "APIGroupDiscoveryList" || g !== "apidiscovery.k8s.io" || (v !== "v2" && v !== "v2beta1")) continue
    const items = groupNames().filter(belongs).map(discoveryGroup)
    const value = { kind: "APIGroupDiscoveryList", apiVersion: `apidiscovery.k8s.io/${v}`, metadata: {}, items }
    return json(value, `application/json;g=apidiscovery.k8s.io;v=${v};as=APIGroupDiscoveryList`)
  }
  return undefined
}

const discoveryGroup = (group: string) => ({
  metadata: group === "" ? {} : { name: group },
  versions: versionsOf(group).map((one) => ({
    version: one,
    resources: (groups.get(group === "" ? one : `${group}/${one}`) ?? []).map(discoveryResource),
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
