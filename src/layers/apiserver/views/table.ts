/** Tables: the rows that kubectl prints, computed by the server. Source: meta/v1 Table. */
import { objectAt } from "../json.ts"
import type { JsonObject } from "../json.ts"
import { generic } from "../schema/columns.ts"
import type { Kind } from "../schema/Kind.ts"
import * as Version from "../mvcc/Version.ts"
import { atRevision, head, join } from "./View.ts"
import type { View } from "./View.ts"

/** What each row carries of its object: `includeObject` of the query. */
export type Include = "None" | "Metadata" | "Object"

export const table = (kind: Kind, version: "v1" | "v1beta1", include: Include, now: number): View => {
  const columns = kind.columns ?? generic
  const definitions = JSON.stringify(
    columns.map((column) => ({
      name: column.name,
      type: column.type,
      format: column.format ?? "",
      description: column.name,
      priority: column.priority ?? 0
    }))
  )
  const opening = `{"kind":"Table","apiVersion":"meta.k8s.io/${version}"`
  const row = (one: Version.Version): string => {
    const object = Version.parse(one)
    const cells = JSON.stringify(columns.map((column) => column.cell(object, now)))
    const carried = include === "None" ? "" : `,"object":${carry(kind, include, version, one, object)}`
    return `{"cells":${cells}${carried}}`
  }
  const render = (rows: ReadonlyArray<Version.Version>, metadata: object): string =>
    `${opening},"metadata":${JSON.stringify(metadata)},"columnDefinitions":${definitions},"rows":[${rows.map(row).join(",")}]}`
  const one = (single: Version.Version): string => render([single], { resourceVersion: String(single.revision) })
  return {
    id: `table ${kind.group} ${version} ${include}`,
    one,
    oneAt: (single, revision) => one(atRevision(single, revision)),
    list: render,
    bookmark: (metadata) => {
      const object = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${version}","metadata":${JSON.stringify(metadata)}}`
      const meta = JSON.stringify({ resourceVersion: metadata.resourceVersion })
      return `${opening},"metadata":${meta},"columnDefinitions":[],"rows":[{"cells":[],"object":${object}}]}`
    }
  }
}

const carry = (kind: Kind, include: Include, version: string, one: Version.Version, object: JsonObject): string => {
  if (include === "Metadata") {
    const metadata = JSON.stringify(objectAt(object, "metadata") ?? {})
    return `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${version}","metadata":${metadata}}`
  }
  const text = kind.conversion === undefined ? one.text : JSON.stringify(kind.conversion.fromStored(object))
  return join(head(kind), text)
}
