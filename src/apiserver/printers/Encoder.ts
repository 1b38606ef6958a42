/**
 * Encoders write stored revisions as JSON text: objects of a group and version, their metadata only, or a table. Encodings that
 * depend on the revision alone are cached on it.
 */
import type { Json, JsonObject } from "../json.ts"
import * as ResourceDefinition from "../scheme/ResourceDefinition.ts"
import * as resources from "../scheme/resources.ts"
import * as Version from "../storage/Version.ts"

export interface ListMeta {
  readonly resourceVersion: string
  readonly continue?: string
  readonly remainingItemCount?: number
  readonly shardInfo?: { readonly selector: string }
}

export interface Encoder {
  /** Identifies the encoding, as the key of shared results. */
  readonly id: string
  readonly encode: (version: Version.Version) => string
  /** Encodes with another resourceVersion. */
  readonly encodeAt: (version: Version.Version, revision: number) => string
  /** The same without managedFields; absent if the encoding has none. */
  readonly withoutManagedFields?: Encoder
  /** The encoder of all watch events but the first, if it differs. */
  readonly next?: Encoder
  readonly encodeList: (versions: ReadonlyArray<Version.Version>, metadata: ListMeta) => string
  readonly encodeBookmark: (metadata: { readonly resourceVersion: string; readonly annotations?: JsonObject }) => string
}

export const head = (resource: Pick<ResourceDefinition.ResourceDefinition, "group" | "version" | "kind">): string =>
  `{"kind":${JSON.stringify(resource.kind)},"apiVersion":${JSON.stringify(ResourceDefinition.apiVersion(resource))}`

/** Joins an opening such as `{"kind":"Pod"` with the members of an object's text. */
export const join = (opening: string, text: string): string =>
  text === "{}" ? `${opening}}` : `${opening},${text.slice(1)}`

export const memoised =
  (id: string, make: (version: Version.Version) => string) =>
  (version: Version.Version): string => {
    const found = version.encodings?.get(id)
    if (found !== undefined) return found
    const text = make(version)
    version.encodings ??= new Map()
    version.encodings.set(id, text)
    return text
  }

/** Whole objects in the group and version of the resource. List items have no apiVersion and kind, as in kube-apiserver. */
export const objectEncoder = (resource: ResourceDefinition.ResourceDefinition): Encoder => {
  const opening = head(resource)
  const listOpening = head({ ...resource, kind: `${resource.kind}List` })
  const id = ResourceDefinition.apiVersion(resource)
  const body =
    resource.conversion === undefined
      ? (version: Version.Version) => version.text
      : memoised(id, (version) => JSON.stringify(resources.fromStored(resource, Version.parseWhole(version))))
  const one =
    resource.conversion === undefined
      ? (version: Version.Version) => `${opening},${version.members}`
      : (version: Version.Version) => join(opening, body(version))
  const base: Encoder = {
    id,
    encode: one,
    encodeAt: (version, revision) => one(Version.atRevision(version, revision)),
    encodeList: (versions, metadata) =>
      `${listOpening},"metadata":${JSON.stringify(metadata)},"items":[${versions.map(body).join(",")}]}`,
    encodeBookmark: (metadata) => `${opening},"metadata":${JSON.stringify(metadata)}}`
  }
  return resource.conversion === undefined
    ? { ...base, withoutManagedFields: withoutManagedFields(base, opening) }
    : base
}

const withoutManagedFields = (base: Encoder, opening: string): Encoder => {
  const one = (version: Version.Version) => `${opening},${version.bare.slice(1)}`
  return {
    ...base,
    id: `${base.id} unowned`,
    encode: one,
    encodeAt: (version, revision) => one(Version.atRevision(version, revision))
  }
}

const partialOpening = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1"`
const partialListOpening = `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1"`

const encodePartial = (version: Version.Version): string => `${partialOpening},"metadata":${version.metadata}}`

/** `PartialObjectMetadata` and its list, for clients that read metadata only. Source: meta/v1. */
export const metadataEncoder: Encoder = {
  id: "metadata",
  encode: encodePartial,
  encodeAt: (version, revision) => encodePartial(Version.atRevision(version, revision)),
  // Items have apiVersion and kind: clients decode them without knowing the resource.
  encodeList: (versions, meta) =>
    `${partialListOpening},"metadata":${JSON.stringify(meta)},"items":[${versions.map(encodePartial).join(",")}]}`,
  encodeBookmark: (meta) => `${partialOpening},"metadata":${JSON.stringify(meta)}}`
}

/** A mutable copy of an object in the version that the resource serves. */
export const served = (resource: ResourceDefinition.ResourceDefinition, version: Version.Version): JsonObject =>
  servedAs(resource, Version.parseWhole(version))

/** The same without managedFields, which can exceed the rest of the object. */
export const servedUnowned = (resource: ResourceDefinition.ResourceDefinition, version: Version.Version): JsonObject =>
  servedAs(resource, Version.parse(version))

const servedAs = (resource: ResourceDefinition.ResourceDefinition, stored: JsonObject): JsonObject => {
  const out: Record<string, Json> = { kind: resource.kind, apiVersion: ResourceDefinition.apiVersion(resource) }
  return Object.assign(out, resources.fromStored(resource, stored))
}
