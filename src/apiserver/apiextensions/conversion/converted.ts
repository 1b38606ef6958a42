/**
 * Custom resources in a requested version. The result of a conversion webhook is cached on the stored revision, so that each is
 * converted once for all readers. A request waits for a conversion before it encodes or stores, never between the two. Source:
 * apiextensions-apiserver, pkg/apiserver/conversion.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { applyDefaults } from "../../../kube/structural/applyDefaults.ts"
import { prune } from "../../../kube/structural/prune.ts"
import { objectAt, put } from "../../json.ts"
import type { JsonObject } from "../../json.ts"
import * as Version from "../../storage/Version.ts"
import * as StatusError from "../../StatusError.ts"
import type * as ResourceDefinition from "../../scheme/ResourceDefinition.ts"
import type { RequestScope } from "../../admission/Admission.ts"
import type { WebhookCaller } from "../../webhook/WebhookCaller.ts"
import type { Encoder } from "../../printers/Encoder.ts"
import type { Converter } from "../../scheme/ResourceDefinition.ts"
import * as Conversion from "./convert.ts"

/** The API version of an object's text: the version of the resource if a webhook converts, otherwise the storage version. */
export const schemaVersionOf = ({
  customResource: custom,
  version
}: ResourceDefinition.ResourceDefinition): string | undefined =>
  custom === undefined || custom.converter !== undefined ? version : custom.storageVersion

type Context = Pick<RequestScope, "state">

/**
 * Converts the stored revisions that are not cached in the version of the resource, and caches them; undefined when all of them are. Then `ready`
 * returns them.
 */
export const prepare = (
  { state }: Context,
  resource: ResourceDefinition.ResourceDefinition,
  versions: ReadonlyArray<Version.Version>
): Effect.Effect<void, StatusError.StatusError> | undefined => {
  const converter = resource.customResource?.converter
  if (converter === undefined) return undefined
  const missing = versions.filter((one) => !isReady(resource, one))
  if (missing.length === 0) return undefined
  return Effect.map(convert(state.caller, converter, resource.version, missing.map(contentOf)), (objects) => {
    for (const [index, version] of missing.entries()) {
      const object = objects[index]
      if (object !== undefined) remember(resource, version, object)
    }
  })
}

/** A stored revision that has been prepared, in the version that the resource serves. */
export const ready = (resource: ResourceDefinition.ResourceDefinition, version: Version.Version): Version.Version =>
  resource.customResource?.converter === undefined
    ? version
    : (readyOf(resource, resource.customResource.converter, version) ?? version)

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
const contentOf = (version: Version.Version): Content => ({
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

const convert = (
  caller: WebhookCaller,
  converter: Converter,
  to: string,
  contents: ReadonlyArray<Content>
): Effect.Effect<ReadonlyArray<JsonObject>, StatusError.StatusError> =>
  Effect.flatMap(
    Conversion.convert(caller, { converter, to, objects: contents.map((one) => textOf(converter, one)) }),
    (result) =>
      Result.isFailure(result) ? Effect.fail(StatusError.unclassified(result.failure)) : Effect.succeed(result.success)
  )

/**
 * Converts an object that is not stored to another version of its kind. The result is not pruned, and has no apiVersion, kind and
 * resourceVersion.
 */
export const objectIn = (
  context: RequestScope,
  from: ResourceDefinition.ResourceDefinition,
  to: ResourceDefinition.ResourceDefinition,
  object: JsonObject
): Effect.Effect<JsonObject, StatusError.StatusError> => {
  const converter = from.customResource?.converter
  if (converter === undefined || from.version === to.version) return Effect.succeed(object)
  const content = { schemaVersion: from.version, object }
  return Effect.map(convert(context.state.caller, converter, to.version, [content]), ([one = object]) => one)
}

export interface Kept {
  /** In the storage version. */
  readonly stored: Version.Version
  /** In the version of the resource. */
  readonly read: Version.Version
}

/**
 * The revision to store for a write, and the same revision as clients will read it: a conversion may lose data. Undefined when no webhook has to
 * convert the object.
 */
export const kept = (
  context: RequestScope,
  resource: ResourceDefinition.ResourceDefinition,
  make: () => Version.Version
): Effect.Effect<Kept, StatusError.StatusError> | undefined => {
  const converter = resource.customResource?.converter
  if (converter === undefined || resource.version === converter.storageVersion) return undefined
  const version = make()
  const to = converter.storageVersion
  return Effect.flatMap(convert(context.state.caller, converter, to, [contentOf(version)]), ([object]) => {
    const content = object === undefined ? undefined : completed(converter, to, pruned(converter, to, object))
    const stored = content === undefined ? version : withContent(version, content, to)
    return StatusError.after(prepare(context, resource, [stored]), () =>
      Effect.succeed({ stored, read: ready(resource, stored) })
    )
  })
}

/** The same at the revision of the commit: other requests may have written while this one waited. */
export const keptAt = (
  resource: ResourceDefinition.ResourceDefinition,
  { read, stored }: Kept,
  revision: number
): Kept => {
  if (stored.revision === revision) return { read, stored }
  const next = Version.atRevision(stored, revision)
  const shown = Version.atRevision(read, revision)
  const converter = resource.customResource?.converter
  if (converter !== undefined && read !== stored)
    next.converted = { id: converter.id, byVersion: new Map([[resource.version, shown]]) }
  return { stored: next, read: shown }
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

/** An encoder that encodes revisions as they were converted to the version of the resource, which `prepare` has done. */
export const convertingEncoder = (resource: ResourceDefinition.ResourceDefinition, encoder: Encoder): Encoder => {
  const converter = resource.customResource?.converter
  if (converter === undefined) return encoder
  const one = (version: Version.Version) => ready(resource, version)
  const inside = (encoder: Encoder | undefined) =>
    encoder === undefined ? undefined : convertingEncoder(resource, encoder)
  const { next, withoutManagedFields: unowned } = encoder
  return {
    ...encoder,
    id: `${encoder.id} ${resource.version} ${converter.id}`,
    encode: (version) => encoder.encode(one(version)),
    encodeAt: (version, revision) => encoder.encodeAt(one(version), revision),
    encodeList: (versions, metadata) => encoder.encodeList(versions.map(one), metadata),
    ...(unowned === undefined ? {} : { withoutManagedFields: inside(unowned) ?? encoder }),
    ...(next === undefined ? {} : { next: inside(next) ?? encoder })
  }
}
