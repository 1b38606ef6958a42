/**
 * One version of one stored object. The truth is its JSON text, serialised once when the version was written and shared by
 * everyone who reads it; a writer parses a copy of its own. What selectors look at is kept beside the text, so that no
 * read and no watcher has to parse. Immutable, apart from the memo of other forms of the text.
 */
import * as Selector from "../../../kube/Selector.ts"
import { isObject, objectAt, textAt } from "../json.ts"
import type { JsonObject } from "../json.ts"
import type { Kind } from "../schema/Kind.ts"

export interface Version {
  /** `namespace/name`, or `name`: the order of lists is the order of these. */
  readonly key: string
  readonly namespace: string
  readonly name: string
  readonly revision: number
  /** The stored form without apiVersion and kind, which are the endpoint's to say. */
  readonly text: string
  readonly labels: Readonly<Record<string, string>> | undefined
  /** Selectable fields that are not empty. */
  readonly fields: Readonly<Record<string, string>> | undefined
  /** Texts of this version in other forms, by view; made on first use. */
  views: Map<string, string> | undefined
}

export const keyOf = (namespace: string, name: string): string => (namespace === "" ? name : `${namespace}/${name}`)

/** Takes the object as it is to be stored, with its resource version already in place. */
export const make = (kinds: ReadonlyArray<Kind>, object: JsonObject, revision: number): Version => {
  const namespace = textAt(object, "metadata", "namespace")
  const name = textAt(object, "metadata", "name")
  return {
    key: keyOf(namespace, name),
    namespace,
    name,
    revision,
    text: JSON.stringify(object),
    labels: objectAt(object, "metadata", "labels") as Record<string, string> | undefined,
    fields: fieldsOf(kinds, object),
    views: undefined
  }
}

const fieldsOf = (kinds: ReadonlyArray<Kind>, object: JsonObject): Record<string, string> | undefined => {
  let out: Record<string, string> | undefined
  for (const kind of kinds) {
    for (const field of Object.keys(kind.fields)) {
      const value = kind.fields[field]?.(object) ?? ""
      if (value !== "") (out ??= {})[field] = value
    }
  }
  return out
}

/** A copy that the caller owns. */
export const parse = (version: Version): JsonObject => {
  const object: unknown = JSON.parse(version.text)
  return isObject(object) ? object : {}
}

/** A shallow copy: enough to replace whole members of an object that somebody else still compares with. */
export const copy = (object: JsonObject): JsonObject => {
  const metadata = objectAt(object, "metadata")
  return metadata === undefined ? { ...object } : { ...object, metadata: { ...metadata } }
}

/** What a list or watch is about. */
export interface Selection {
  /** Empty for all namespaces. */
  readonly namespace: string
  readonly labels: Selector.LabelSelector
  readonly fields: Selector.FieldSelector
}

export const matches = (selection: Selection, version: Version): boolean =>
  (selection.namespace === "" || selection.namespace === version.namespace) &&
  (selection.labels.length === 0 || Selector.matchesLabels(selection.labels, version.labels)) &&
  (selection.fields.length === 0 ||
    selection.fields.every(({ field, equal, value }) => (fieldOf(version, field) === value) === equal))

const fieldOf = (version: Version, field: string): string => {
  if (field === "metadata.name") return version.name
  if (field === "metadata.namespace") return version.namespace
  return version.fields?.[field] ?? ""
}
