/**
 * Custom resources in a requested version. The result of a conversion webhook is cached on the stored revision, so that each is
 * converted once for all readers; an object that is not stored yet is looked up among the webhook responses of its request. If
 * a result is missing, `ConversionRequired` ends the synchronous section before anything is written. Source:
 * apiextensions-apiserver, pkg/apiserver/conversion.
 */
import { applyDefaults } from "../../../kube/structural/applyDefaults.ts"
import { prune } from "../../../kube/structural/prune.ts"
import { objectAt, put } from "../../json.ts"
import type { JsonObject } from "../../json.ts"
import * as Version from "../../storage/Version.ts"
import * as StatusError from "../../StatusError.ts"
import type * as ResourceDefinition from "../../scheme/ResourceDefinition.ts"
import type { RequestScope } from "../../admission/Admission.ts"
import type { Encoder } from "../../printers/Encoder.ts"
import type { Converter } from "../../scheme/ResourceDefinition.ts"
import type { Wanted } from "../../webhook/WebhookResponses.ts"

/** Thrown out of the synchronous section: these objects have to be converted before the request can be answered. */
export class ConversionRequired {
  readonly wanted: Wanted
  constructor(wanted: Wanted) {
    this.wanted = wanted
  }
}

/** The API version of an object's text: the version of the resource if a webhook converts, otherwise the storage version. */
export const schemaVersionOf = ({
  customResource: custom,
  version
}: ResourceDefinition.ResourceDefinition): string | undefined =>
  custom === undefined || custom.converter !== undefined ? version : custom.storageVersion

/** The webhook responses of a request, which a request without webhooks does not have. */
type Answers = Pick<RequestScope, "webhookResponses">

/** The stored revisions in the version that the resource serves. */
export const served = (
  answers: Answers,
  resource: ResourceDefinition.ResourceDefinition,
  versions: ReadonlyArray<Version.Version>
): ReadonlyArray<Version.Version> => {
  const converter = resource.customResource?.converter
  if (converter === undefined) return versions
  const missing = versions.filter((one) => !isReady(resource, one))
  if (missing.length > 0) fill(resource, missing, convert(answers, converter, resource.version, missing.map(contentOf)))
  return versions.map((one) => readyOf(resource, converter, one) ?? one)
}

export const servedOne = (
  answers: Answers,
  resource: ResourceDefinition.ResourceDefinition,
  version: Version.Version
): Version.Version => served(answers, resource, [version])[0] ?? version

const readyOf = (
  { version }: ResourceDefinition.ResourceDefinition,
  { id }: Converter,
  one: Version.Version
): Version.Version | undefined =>
  one.schemaVersion === version ? one : one.converted?.id === id ? one.converted.byVersion.get(version) : undefined

/** Whether the version of the resource can be read without calling a webhook. */
export const isReady = (resource: ResourceDefinition.ResourceDefinition, version: Version.Version): boolean =>
  resource.customResource?.converter === undefined ||
  readyOf(resource, resource.customResource.converter, version) !== undefined

/** Caches converted objects on their revisions; both lists have the same order. */
export const fill = (
  resource: ResourceDefinition.ResourceDefinition,
  versions: ReadonlyArray<Version.Version>,
  objects: ReadonlyArray<JsonObject>
): void => {
  for (const [index, version] of versions.entries()) {
    const object = objects[index]
    if (object !== undefined) remember(resource, version, object)
  }
}

const remember = (
  { customResource: custom, version: to }: ResourceDefinition.ResourceDefinition,
  version: Version.Version,
  object: JsonObject
): void => {
  const converter = custom?.converter
  if (converter === undefined) return
  const { id } = converter
  if (version.converted?.id !== id) version.converted = { id, byVersion: new Map() }
  version.converted.byVersion.set(to, withContent(version, pruned(converter, to, object), to))
}

/** The object without fields that are not in the schema of a version. */
const pruned = ({ schemas }: Converter, to: string, object: JsonObject): JsonObject =>
  prune(schemas.get(to) ?? {}, object).value

/** The object with defaults, which are set in the storage version only: reading another version adds none. */
const completed = ({ schemas }: Converter, to: string, object: JsonObject): JsonObject =>
  applyDefaults(schemas.get(to) ?? {}, object)

/** The same revision with another content; the metadata of a review has neither resourceVersion nor managedFields. */
const withContent = (version: Version.Version, object: JsonObject, schemaVersion: string): Version.Version => {
  const { name, namespace, generateName, uid, managedFields: _owners, ...rest } = objectAt(object, "metadata") ?? {}
  const metadata: JsonObject = {}
  for (const [key, value] of Object.entries({ name, generateName, namespace, uid })) put(metadata, key, value)
  metadata["resourceVersion"] = String(version.revision)
  const content = { ...object, metadata: { ...metadata, ...rest } }
  return Version.make([], content, version.revision, version.owners, schemaVersion)
}

/** The content of a stored revision for a review. */
export const contentOf = (version: Version.Version): Content => ({
  schemaVersion: version.schemaVersion ?? "",
  object: Version.parseWhole(version)
})

interface Content {
  /** Name of the object's version. */
  readonly schemaVersion: string
  readonly object: JsonObject
}

const textOf = ({ group, kind }: Converter, { object, schemaVersion }: Content): string => {
  const { resourceVersion: _revision, ...metadata } = objectAt(object, "metadata") ?? {}
  const { apiVersion: _apiVersion, kind: _kind, ...rest } = object
  return JSON.stringify({ kind, apiVersion: `${group}/${schemaVersion}`, ...rest, metadata })
}

/** The conversions that reading these revisions in the version of the resource requires; undefined without a converter. */
export const wantedOf = (
  resource: ResourceDefinition.ResourceDefinition,
  versions: ReadonlyArray<Version.Version>
): Wanted | undefined => {
  const converter = resource.customResource?.converter
  if (converter === undefined) return undefined
  return { converter, to: resource.version, objects: versions.map((one) => textOf(converter, contentOf(one))) }
}

const convert = (
  { webhookResponses }: Answers,
  converter: Converter,
  to: string,
  contents: ReadonlyArray<Content>
): ReadonlyArray<JsonObject> => {
  const objects = contents.map((one) => textOf(converter, one))
  const found = objects.map((text) => webhookResponses?.conversionOf(converter, to, text))
  const missing = objects.filter((_, index) => found[index] === undefined)
  if (missing.length > 0) {
    // Concurrent writes keep invalidating the webhook's results.
    if (webhookResponses?.mayConvert() !== true) throw StatusError.unavailable()
    throw new ConversionRequired({ converter, to, objects: missing })
  }
  return found.flatMap((one) => {
    if (one === undefined) return []
    if (one._tag === "Failed") throw StatusError.unclassified(one.why)
    return [JSON.parse(one.text) as JsonObject]
  })
}

/**
 * Converts an object that is not stored to another version of its kind. The result is not pruned, and has no apiVersion, kind and
 * resourceVersion.
 */
export const objectIn = (
  context: RequestScope,
  from: ResourceDefinition.ResourceDefinition,
  to: ResourceDefinition.ResourceDefinition,
  object: JsonObject
): JsonObject => {
  const converter = from.customResource?.converter
  if (converter === undefined || from.version === to.version) return object
  return convert(context, converter, to.version, [{ schemaVersion: from.version, object }])[0] ?? object
}

export interface Kept {
  /** In the storage version. */
  readonly stored: Version.Version
  /** In the version of the resource. */
  readonly read: Version.Version
}

/** The revision to store for a write, and the same revision as clients will read it: a conversion may lose data. */
export const kept = (
  context: RequestScope,
  resource: ResourceDefinition.ResourceDefinition,
  version: Version.Version
): Kept => {
  const converter = resource.customResource?.converter
  if (converter === undefined || resource.version === converter.storageVersion)
    return { stored: version, read: version }
  const to = converter.storageVersion
  const [object] = convert(context, converter, to, [contentOf(version)])
  const content = object === undefined ? undefined : completed(converter, to, pruned(converter, to, object))
  const stored = content === undefined ? version : withContent(version, content, to)
  return { stored, read: servedOne(context, resource, stored) }
}

const decided: ReadonlyArray<string> = ["labels", "annotations"]

/**
 * The server itself changes metadata only, which is the same in every version: no webhook is called. `next` is the stored revision after the
 * change, `read` the converted revision before it.
 */
export const carry = (
  resource: ResourceDefinition.ResourceDefinition,
  read: Version.Version,
  next: Version.Version
): Version.Version => {
  if (resource.customResource?.converter === undefined || next.schemaVersion === resource.version) return next
  const object = Version.parse(read)
  const metadata = objectAt(Version.parse(next), "metadata") ?? {}
  for (const key of decided) put(metadata, key, objectAt(object, "metadata", key))
  remember(resource, next, { ...object, metadata })
  return next
}

/** An encoder that converts to the version of the resource before it encodes. */
export const convertingEncoder = (
  answers: Answers,
  resource: ResourceDefinition.ResourceDefinition,
  encoder: Encoder
): Encoder => {
  const converter = resource.customResource?.converter
  if (converter === undefined) return encoder
  const one = (version: Version.Version) => servedOne(answers, resource, version)
  const inside = (encoder: Encoder | undefined) =>
    encoder === undefined ? undefined : convertingEncoder(answers, resource, encoder)
  const { next, withoutManagedFields: unowned } = encoder
  return {
    ...encoder,
    id: `${encoder.id} ${resource.version} ${converter.id}`,
    encode: (version) => encoder.encode(one(version)),
    encodeAt: (version, revision) => encoder.encodeAt(one(version), revision),
    encodeList: (versions, metadata) => encoder.encodeList(served(answers, resource, versions), metadata),
    ...(unowned === undefined ? {} : { withoutManagedFields: inside(unowned) ?? encoder }),
    ...(next === undefined ? {} : { next: inside(next) ?? encoder })
  }
}
