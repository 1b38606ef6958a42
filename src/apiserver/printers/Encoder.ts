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
}

export interface Encoder {
  /** Identifies the form among all views of a collection, for sharing. */
  readonly id: string
  readonly encode: (version: Version.Version) => string
  /** The version as if it had been written at another revision. */
  readonly encodeAt: (version: Version.Version, revision: number) => string
  /** The same without managedFields; absent where the form has none, or is all metadata. */
  readonly withoutManagedFields?: Encoder
  /** The form of what follows the first event of a watch; the same where this is left out. */
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

/** The objects themselves, as the kind's group and version names them. List items carry no kind, as on the real server. */
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
  const whole: Encoder = {
    id,
    encode: one,
    encodeAt: (version, revision) => one(Version.atRevision(version, revision)),
    encodeList: (versions, metadata) =>
      `${listOpening},"metadata":${JSON.stringify(metadata)},"items":[${versions.map(body).join(",")}]}`,
    encodeBookmark: (metadata) => `${opening},"metadata":${JSON.stringify(metadata)}}`
  }
  return resource.conversion === undefined
    ? { ...whole, withoutManagedFields: withoutManagedFields(whole, opening) }
    : whole
}

const withoutManagedFields = (whole: Encoder, opening: string): Encoder => {
  const one = (version: Version.Version) => `${opening},${version.bare.slice(1)}`
  return {
    ...whole,
    id: `${whole.id} unowned`,
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
  // Items carry their kind: a list of partial objects is decoded without knowing what they are parts of.
  encodeList: (versions, meta) =>
    `${partialListOpening},"metadata":${JSON.stringify(meta)},"items":[${versions.map(encodePartial).join(",")}]}`,
  encodeBookmark: (meta) => `${partialOpening},"metadata":${JSON.stringify(meta)}}`
}

/** A copy of an object in the form the kind serves. The copy belongs to the caller. */
export const served = (resource: ResourceDefinition.ResourceDefinition, version: Version.Version): JsonObject =>
  servedAs(resource, Version.parseWhole(version))

/** The same without its managedFields, which are most of a small object. */
export const servedUnowned = (resource: ResourceDefinition.ResourceDefinition, version: Version.Version): JsonObject =>
  servedAs(resource, Version.parse(version))

const servedAs = (resource: ResourceDefinition.ResourceDefinition, stored: JsonObject): JsonObject => {
  const out: Record<string, Json> = { kind: resource.kind, apiVersion: ResourceDefinition.apiVersion(resource) }
  return Object.assign(out, resources.fromStored(resource, stored))
}
