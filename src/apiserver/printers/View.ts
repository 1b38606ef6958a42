/**
 * A view is the form in which stored versions leave the server: the objects of a group and version, their metadata only,
 * or a table. Views turn texts into texts; those that are pure functions of a version remember their result on it.
 */
import type { Json, JsonObject } from "../json.ts"
import * as Kind from "../scheme/Kind.ts"
import * as converted from "../scheme/converted.ts"
import * as Version from "../storage/Version.ts"

export interface ListMeta {
  readonly resourceVersion: string
  readonly continue?: string
  readonly remainingItemCount?: number
}

export interface View {
  /** Identifies the form among all views of a collection, for sharing. */
  readonly id: string
  readonly one: (version: Version.Version) => string
  /** The version as if it had been written at another revision. */
  readonly oneAt: (version: Version.Version, revision: number) => string
  /** The same without managedFields; absent where the form has none, or is all metadata. */
  readonly unowned?: View
  /** The form of what follows the first event of a watch; the same where this is left out. */
  readonly next?: View
  readonly list: (versions: ReadonlyArray<Version.Version>, metadata: ListMeta) => string
  readonly bookmark: (metadata: { readonly resourceVersion: string; readonly annotations?: JsonObject }) => string
}

export const head = (kind: Pick<Kind.Kind, "group" | "version" | "kind">): string =>
  `{"kind":${JSON.stringify(kind.kind)},"apiVersion":${JSON.stringify(Kind.apiVersion(kind))}`

/** Joins an opening such as `{"kind":"Pod"` with the members of an object's text. */
export const join = (opening: string, text: string): string =>
  text === "{}" ? `${opening}}` : `${opening},${text.slice(1)}`

export const memoised =
  (id: string, make: (version: Version.Version) => string) =>
  (version: Version.Version): string => {
    const found = version.views?.get(id)
    if (found !== undefined) return found
    const text = make(version)
    version.views ??= new Map()
    version.views.set(id, text)
    return text
  }

/** The objects themselves, as the kind's group and version names them. List items carry no kind, as on the real server. */
export const plain = (kind: Kind.Kind): View => {
  const opening = head(kind)
  const listOpening = head({ ...kind, kind: `${kind.kind}List` })
  const id = Kind.apiVersion(kind)
  const body =
    kind.conversion === undefined
      ? (version: Version.Version) => version.text
      : memoised(id, (version) => JSON.stringify(converted.fromStored(kind, Version.parseWhole(version))))
  const one =
    kind.conversion === undefined
      ? (version: Version.Version) => `${opening},${version.members}`
      : (version: Version.Version) => join(opening, body(version))
  const whole: View = {
    id,
    one,
    oneAt: (version, revision) => one(Version.atRevision(version, revision)),
    list: (versions, metadata) =>
      `${listOpening},"metadata":${JSON.stringify(metadata)},"items":[${versions.map(body).join(",")}]}`,
    bookmark: (metadata) => `${opening},"metadata":${JSON.stringify(metadata)}}`
  }
  return kind.conversion === undefined ? { ...whole, unowned: unowned(whole, opening) } : whole
}

const unowned = (whole: View, opening: string): View => {
  const one = (version: Version.Version) => `${opening},${version.bare.slice(1)}`
  return {
    ...whole,
    id: `${whole.id} unowned`,
    one,
    oneAt: (version, revision) => one(Version.atRevision(version, revision))
  }
}

/** A copy of an object in the form the kind serves. The copy belongs to the caller. */
export const served = (kind: Kind.Kind, version: Version.Version): JsonObject =>
  servedAs(kind, Version.parseWhole(version))

/** The same without its managedFields, which are most of a small object. */
export const servedUnowned = (kind: Kind.Kind, version: Version.Version): JsonObject =>
  servedAs(kind, Version.parse(version))

const servedAs = (kind: Kind.Kind, stored: JsonObject): JsonObject => {
  const out: Record<string, Json> = { kind: kind.kind, apiVersion: Kind.apiVersion(kind) }
  return Object.assign(out, converted.fromStored(kind, stored))
}
