/**
 * One version of a stored object. Its JSON text, serialised once when the version was written, is shared by all reads; a write parses
 * its own copy. Labels and selectable fields are kept beside the text, so that reads and watches need not parse. Immutable, apart from
 * the memo of other encodings.
 */
import * as Selector from "../../kube/Selector.ts"
import * as ShardSelector from "../../kube/ShardSelector.ts"
import { isObject, objectAt, put, textAt } from "../json.ts"
import type { JsonObject } from "../json.ts"
import * as selectable from "../scheme/selectable.ts"
import * as managedFields from "./managedFields.ts"
import type { ResourceDefinition } from "../scheme/ResourceDefinition.ts"

export interface Version {
  /** `namespace/name`, or `name`; lists are sorted by it. */
  readonly key: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly revision: number
  /** The stored form without apiVersion and kind, which depend on the endpoint; with `managedFields`. */
  readonly text: string
  /** `text` without its opening brace: an endpoint writes apiVersion and kind before it. */
  readonly members: string
  /** The metadata alone, in the same form. */
  readonly metadata: string
  /** `text` without managedFields. */
  readonly bare: string
  readonly owners: managedFields.Owners
  readonly labels: Readonly<Record<string, string>> | undefined
  /** Selectable fields that are not empty; those of custom resources are read when they are first selected by. */
  readonly fields: Readonly<Record<string, string>> | undefined
  /** The selectable fields of a custom resource, by path, as far as they have been selected by. */
  selected: Map<string, string> | undefined
  /** Encodings of this version by view; made on first use. */
  encodings: Map<string, string> | undefined
  /** The API version of the text, where the versions of a kind may differ. */
  readonly schemaVersion: string | undefined
  /** The converted object in other API versions, as far as they have been requested. */
  converted: ConvertedVersions | undefined
}

export interface ConvertedVersions {
  /** Id of the converter. */
  readonly id: string
  readonly byVersion: Map<string, Version>
}

export const keyOf = (namespace: string, name: string): string => (namespace === "" ? name : `${namespace}/${name}`)

/** Texts are stored without managedFields, which many objects share, and joined with them on read. */
class Stored implements Version {
  readonly key: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly revision: number
  readonly owners: managedFields.Owners
  readonly labels: Readonly<Record<string, string>> | undefined
  readonly fields: Readonly<Record<string, string>> | undefined
  encodings: Map<string, string> | undefined = undefined
  selected: Map<string, string> | undefined = undefined
  converted: ConvertedVersions | undefined = undefined
  readonly schemaVersion: string | undefined
  readonly bare: string
  /** Index of the closing brace of the metadata in `bare`. */
  private readonly end: number

  constructor(
    resources: ReadonlyArray<ResourceDefinition>,
    { metadata, ...rest }: JsonObject,
    revision: number,
    owners: managedFields.Owners,
    form: string | undefined
  ) {
    this.schemaVersion = form
    this.namespace = textAt(metadata, "namespace")
    this.name = textAt(metadata, "name")
    this.uid = textAt(metadata, "uid")
    this.key = keyOf(this.namespace, this.name)
    this.revision = revision
    this.owners = owners
    this.labels = objectAt(metadata, "labels") as Record<string, string> | undefined
    this.fields = fieldsOf(resources, rest)
    const head = `${opening}${JSON.stringify(metadata)}`
    const tail = JSON.stringify(rest)
    this.bare = tail === "{}" ? `${head}}` : `${head},${tail.slice(1)}`
    this.end = head.length - 1
  }

  get text(): string {
    return this.owners.length === 0 ? this.bare : this.from(0)
  }

  get members(): string {
    return this.owners.length === 0 ? this.bare.slice(1) : this.from(1)
  }

  private from(start: number): string {
    return `${this.bare.slice(start, this.end)}${this.ownership()}${this.bare.slice(this.end)}`
  }

  get metadata(): string {
    const { bare, end, owners } = this
    if (owners.length === 0) return bare.slice(opening.length, end + 1)
    return `${bare.slice(opening.length, end)}${this.ownership()}}`
  }

  private ownership(): string {
    return `,"managedFields":${managedFields.textOf(this.owners)}`
  }
}

const opening = '{"metadata":'

/** Takes the object as it is stored: with resourceVersion, metadata first, without managedFields. */
export const make = (
  resources: ReadonlyArray<ResourceDefinition>,
  object: JsonObject,
  revision: number,
  owners: managedFields.Owners = managedFields.none,
  form?: string
): Version => new Stored(resources, object, revision, owners, form)

/** The version with another revision. */
export const atRevision = (version: Version, revision: number): Version => {
  const object = parse(version)
  put(objectAt(object, "metadata") ?? {}, "resourceVersion", String(revision))
  return make([], object, revision, version.owners, version.schemaVersion)
}

const fieldsOf = (
  resources: ReadonlyArray<ResourceDefinition>,
  object: JsonObject
): Record<string, string> | undefined => {
  let out: Record<string, string> | undefined
  for (const resource of resources) {
    for (const field of Object.keys(resource.fields)) {
      const value = resource.fields[field]?.(object) ?? ""
      if (value !== "") (out ??= {})[field] = value
    }
  }
  return out
}

/** A copy that the caller owns, without managedFields, for writes. */
export const parse = (version: Version): JsonObject => parsed(version.bare)

/** A copy that the caller owns, as clients see it. */
export const parseWhole = (version: Version): JsonObject => parsed(version.text)

const parsed = (text: string): JsonObject => {
  const object: unknown = JSON.parse(text)
  return isObject(object) ? object : {}
}

/** A shallow copy, to replace whole members of an object that is still compared with. */
export const copy = (object: JsonObject): JsonObject => {
  const metadata = objectAt(object, "metadata")
  return metadata === undefined ? { ...object } : { ...object, metadata: { ...metadata } }
}

/** The predicate of a list or watch (apiserver/pkg/storage: SelectionPredicate). */
export interface SelectionPredicate {
  /** Empty for all namespaces. */
  readonly namespace: string
  readonly labels: Selector.LabelSelector
  readonly fields: Selector.FieldSelector
  /** Undefined for all shares. */
  readonly shards?: ShardSelector.ShardSelector | undefined
}

export const matches = (selection: SelectionPredicate, version: Version): boolean =>
  (selection.namespace === "" || selection.namespace === version.namespace) &&
  (selection.labels.length === 0 || Selector.matchesLabels(selection.labels, version.labels)) &&
  (selection.shards === undefined || ShardSelector.matches(selection.shards, version)) &&
  (selection.fields.length === 0 ||
    selection.fields.every(({ field, equal, value }) => (fieldOf(version, field) === value) === equal))

const fieldOf = (version: Version, field: string): string => {
  if (field === "metadata.name") return version.name
  if (field === "metadata.namespace") return version.namespace
  // A custom resource has none at first, and is in a version of its definition; a built-in one without has none that is not empty.
  const isCustom = version.fields === undefined && version.schemaVersion !== undefined
  return isCustom ? customFieldOf(version, field) : (version.fields?.[field] ?? "")
}

/**
 * A definition may change which fields are selectable after an object has been stored, and the value at a path depends on the object alone: it is
 * read from the text once.
 */
const customFieldOf = (version: Version, field: string): string => {
  const found = version.selected?.get(field)
  if (found !== undefined) return found
  const value = selectable.path(field)(parse(version))
  version.selected ??= new Map()
  version.selected.set(field, value)
  return value
}
