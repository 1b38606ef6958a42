/** Metadata only: `PartialObjectMetadata` and its list, for clients that never look at the rest. Source: meta/v1. */
import * as Version from "../storage/Version.ts"
import type { Encoder } from "./Encoder.ts"

const opening = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1"`
const listOpening = `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1"`

const one = (version: Version.Version): string => `${opening},"metadata":${version.metadata}}`

export const metadataEncoder: Encoder = {
  id: "metadata",
  encode: one,
  encodeAt: (version, revision) => one(Version.atRevision(version, revision)),
  // Items carry their kind: a list of partial objects is decoded without knowing what they are parts of.
  encodeList: (versions, meta) =>
    `${listOpening},"metadata":${JSON.stringify(meta)},"items":[${versions.map(one).join(",")}]}`,
  encodeBookmark: (meta) => `${opening},"metadata":${JSON.stringify(meta)}}`
}
