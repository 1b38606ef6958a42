/** Encodes objects as meta/v1 Table, with the rows that kubectl prints. */
import { generic } from "./columns.ts"
import * as resources from "../scheme/resources.ts"
import type { ResourceDefinition } from "../scheme/ResourceDefinition.ts"
import * as Version from "../storage/Version.ts"
import { head, join } from "./Encoder.ts"
import type { Encoder } from "./Encoder.ts"

/** The object of each row: the query parameter `includeObject`. */
export type Include = "None" | "Metadata" | "Object"

export const tableEncoder = (
  resource: ResourceDefinition,
  version: "v1" | "v1beta1",
  include: Include,
  now: number
): Encoder => {
  const columns = resource.columns ?? generic
  const definitions = JSON.stringify(
    columns.map((column) => ({
      name: column.name,
      type: column.type,
      format: column.format ?? "",
      description: column.description ?? column.name,
      priority: column.priority ?? 0
    }))
  )
  const opening = `{"kind":"Table","apiVersion":"meta.k8s.io/${version}"`
  const row = (one: Version.Version): string => {
    const object = Version.parse(one)
    const cells = JSON.stringify(columns.map((column) => column.cell(object, now)))
    const carried = include === "None" ? "null" : carry(resource, include, version, one)
    return `{"cells":${cells},"object":${carried}}`
  }
  const render =
    (columns: string) =>
    (rows: ReadonlyArray<Version.Version>, metadata: object): string =>
      `${opening},"metadata":${JSON.stringify(metadata)},"columnDefinitions":${columns},"rows":[${rows.map(row).join(",")}]}`
  const form = (columns: string) => {
    const encodeList = render(columns)
    const encode = (single: Version.Version): string =>
      encodeList([single], { resourceVersion: String(single.revision) })
    return {
      encodeList,
      encode,
      encodeAt: (single: Version.Version, revision: number) => encode(Version.atRevision(single, revision))
    }
  }
  const id = `table ${resource.group} ${version} ${include}`
  const rest: Omit<Encoder, "next"> = {
    id: `${id} rest`,
    ...form("[]"),
    encodeBookmark: (metadata) => {
      const object = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${version}","metadata":${JSON.stringify(metadata)}}`
      const meta = JSON.stringify({ resourceVersion: metadata.resourceVersion })
      return `${opening},"metadata":${meta},"columnDefinitions":[],"rows":[{"cells":[],"object":${object}}]}`
    }
  }
  // Only the first event of a watch has column definitions.
  return { ...rest, id, ...form(definitions), next: rest }
}

const carry = (resource: ResourceDefinition, include: Include, version: string, one: Version.Version): string => {
  if (include === "Metadata") {
    return `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${version}","metadata":${one.metadata}}`
  }
  const text =
    resource.conversion === undefined
      ? one.text
      : JSON.stringify(resources.fromStored(resource, Version.parseWhole(one)))
  return join(head(resource), text)
}
