/**
 * Reads discovery documents, pure: the aggregated form with every group, and the legacy one with a document for each group and version.
 * Both become the same types. An entry that is malformed or incomplete is skipped, so that it does not hide the rest.
 * Source: apidiscovery.k8s.io/v2 APIGroupDiscoveryList, meta/v1 APIGroupList, APIResourceList, APIVersions.
 */
import type * as Resource from "../../kube/Resource.ts"

/** A resource as the server describes it: usable as a `Resource` wherever only endpoints matter. */
export interface ApiResource extends Resource.Any {
  readonly verbs: ReadonlyArray<string>
  readonly shortNames: ReadonlyArray<string>
  /** `status`, `scale`, … */
  readonly subresources: ReadonlyArray<string>
}

/** A group's versions, the preferred one first. */
export interface Group {
  readonly name: string
  readonly versions: ReadonlyArray<Version>
}

export interface Version {
  readonly version: string
  /** `undefined` while the document of this version has not been asked for. */
  readonly resources: ReadonlyArray<ApiResource> | undefined
}

type Dictionary = Readonly<Record<string, unknown>>

const isDictionary = (value: unknown): value is Dictionary =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const dictionaries = (value: unknown): ReadonlyArray<Dictionary> =>
  Array.isArray(value) ? value.filter(isDictionary) : []

const strings = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string") : []

const text = (value: unknown): string => (typeof value === "string" ? value : "")

/** Requests the aggregated form; a server without it responds with the legacy document. */
export const accept = [
  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
  "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
  "application/json"
].join(",")

/** The response of `/api` or `/apis`: all resources, or the list of groups whose documents have to be read. */
export const groups = (body: unknown): ReadonlyArray<Group> | undefined => {
  if (!isDictionary(body)) return undefined
  switch (body["kind"]) {
    case "APIGroupDiscoveryList":
      return dictionaries(body["items"]).map(aggregatedGroup)
    case "APIGroupList":
      return dictionaries(body["groups"]).map(legacyGroup)
    case "APIVersions":
      return [{ name: "", versions: strings(body["versions"]).map((version) => ({ version, resources: undefined })) }]
    default:
      return undefined
  }
}

const aggregatedGroup = (item: Dictionary): Group => {
  const name = isDictionary(item["metadata"]) ? text(item["metadata"]["name"]) : ""
  const versions = dictionaries(item["versions"]).map((one) => {
    const version = text(one["version"])
    // Stale: the server behind this version did not respond, and the listed resources are older. Its own document has the reason.
    if (one["freshness"] === "Stale") return { version, resources: undefined }
    return { version, resources: dictionaries(one["resources"]).flatMap((it) => aggregatedResource(name, version, it)) }
  })
  return { name, versions }
}

const aggregatedResource = (group: string, version: string, item: Dictionary): ReadonlyArray<ApiResource> => {
  const kind = isDictionary(item["responseKind"]) ? text(item["responseKind"]["kind"]) : ""
  const plural = text(item["resource"])
  if (kind === "" || plural === "") return []
  const subresources = dictionaries(item["subresources"]).map((one) => text(one["subresource"]))
  return [describe(group, version, kind, plural, item["scope"] === "Namespaced", item, subresources)]
}

/** Each resource of a group once: of the first version, in the order of preference, that is known to have it. */
export const preferred = (group: Group): ReadonlyArray<ApiResource> => {
  const found = new Map<string, ApiResource>()
  for (const { resources } of group.versions) {
    for (const resource of resources ?? []) if (!found.has(resource.plural)) found.set(resource.plural, resource)
  }
  return [...found.values()]
}

const legacyGroup = (item: Dictionary): Group => {
  const preferred = isDictionary(item["preferredVersion"]) ? text(item["preferredVersion"]["version"]) : ""
  const listed = dictionaries(item["versions"]).map((one) => text(one["version"]))
  const versions = [...new Set(preferred === "" ? listed : [preferred, ...listed])]
  return { name: text(item["name"]), versions: versions.map((version) => ({ version, resources: undefined })) }
}

/** The legacy document of one group and version. */
export const resources = (group: string, version: string, body: unknown): ReadonlyArray<ApiResource> | undefined => {
  if (!isDictionary(body) || body["kind"] !== "APIResourceList") return undefined
  const items = dictionaries(body["resources"])
  return items.flatMap((item) => {
    const plural = text(item["name"])
    const kind = text(item["kind"])
    if (plural === "" || kind === "" || plural.includes("/")) return []
    const prefix = `${plural}/`
    const subresources = items
      .map((one) => text(one["name"]))
      .filter((name) => name.startsWith(prefix))
      .map((name) => name.slice(prefix.length))
    return [describe(group, version, kind, plural, item["namespaced"] === true, item, subresources)]
  })
}

const describe = (
  group: string,
  version: string,
  kind: string,
  plural: string,
  namespaced: boolean,
  item: Dictionary,
  subresources: ReadonlyArray<string>
): ApiResource => ({
  id: `${group === "" ? "" : `${group}/`}${version}/${plural}`,
  group,
  version,
  kind,
  plural,
  scope: namespaced ? "Namespaced" : "Cluster",
  projection: "object",
  verbs: strings(item["verbs"]),
  shortNames: strings(item["shortNames"]),
  subresources
})
