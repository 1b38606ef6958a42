/**
 * How a resource is served, as data: names, verbs, subresources, storage, strategy hooks and printer columns. The request
 * handling reads these fields and never compares kinds by name. `make` fills in the defaults.
 */
import type { StructuralSchema } from "../../kube/structural/StructuralSchema.ts"
import type { User } from "../Api.ts"
import type { JsonObject } from "../json.ts"
import type { Address } from "../webhook/call.ts"
import { onCreateOf } from "./creation.ts"
import { defaultsOf } from "./defaults/table.ts"
import type { Shape } from "./Shape.ts"

export type Verb = "create" | "delete" | "deletecollection" | "get" | "list" | "patch" | "update" | "watch"

export interface PrinterColumn {
  readonly name: string
  readonly type: "string" | "integer" | "number" | "boolean" | "date"
  readonly format?: string | undefined
  /** The name by default. */
  readonly description?: string | undefined
  /** 0 is always printed, higher ones only with `-o wide`. */
  readonly priority?: number | undefined
  /** Cell of an object; `now` in milliseconds. */
  readonly cell: (object: JsonObject, now: number) => string | number | boolean | null
}

/** What a version of a CustomResourceDefinition adds to a resource. */
export interface CustomResourceInfo {
  /** Name of the CustomResourceDefinition. */
  readonly definition: string
  readonly schema: StructuralSchema
  readonly shape: Shape
  /** Paths of the scale subresource, as member names. */
  readonly scale: ScalePaths | undefined
  /** Version in which objects are stored. */
  readonly storageVersion: string
  /** Undefined with the conversion strategy None. */
  readonly converter: Converter | undefined
  /** The definition is being deleted: creates are rejected. */
  readonly terminating: boolean
}

/** Conversion between the versions of a custom resource by a webhook. */
export interface Converter {
  /** Changes with the definition; key of the cached conversions. */
  readonly id: string
  readonly group: string
  readonly kind: string
  readonly storageVersion: string
  /** Schema by version, including versions that are not served. */
  readonly schemas: ReadonlyMap<string, StructuralSchema>
  /** The first of conversionReviewVersions that this server supports. */
  readonly reviewVersion: "v1" | "v1beta1" | undefined
  readonly address: Address
}

export interface ScalePaths {
  readonly replicas: ReadonlyArray<string>
  readonly statusReplicas: ReadonlyArray<string>
  /** Path of the selector in its string form. */
  readonly selector: ReadonlyArray<string> | undefined
}

/** Conversion between the stored version and this group and version. Both may change their argument. */
export interface Conversion {
  readonly toStored: (object: JsonObject) => JsonObject
  readonly fromStored: (object: JsonObject) => JsonObject
}

export interface ResourceDefinition {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly singular: string
  readonly shortNames: ReadonlyArray<string>
  readonly categories: ReadonlyArray<string>
  readonly namespaced: boolean
  readonly verbs: ReadonlyArray<Verb>
  /** `status`, `scale`, `binding`, … as served. */
  readonly subresources: ReadonlyArray<string>
  /** Key of the collection of objects; two resources may share one. */
  readonly storage: string
  /**
   * Which changes increment `metadata.generation`: true: spec; `annotations`: spec and annotations; `content`: everything but metadata and
   * status; `whole`: everything but metadata.
   */
  readonly generation: boolean | "annotations" | "content" | "whole"
  /** Members of the metadata that the status subresource cannot change; it can change the others, as in kube-apiserver. */
  readonly statusKeeps: ReadonlyArray<string>
  /** Whether a deletion without a policy orphans dependents, as for resources older than the garbage collector. */
  readonly orphans: boolean
  /**
   * Where the objects are from: `store`; `usage`: they are measurements, made from the usage that the nodes report; `registry`: there is one for
   * each group and version that is served. Only those of the store can be written and watched.
   */
  readonly source: "store" | "usage" | "registry"
  /** The warning that every request for the resource gets, except a watch. */
  readonly deprecation: string | undefined
  /** A review: create returns the object with a status and stores nothing. */
  readonly review: boolean
  /** TTL in seconds since the last write; undefined without expiry. */
  readonly lifetime: number | undefined
  /** Whether an update may omit resourceVersion (AllowUnconditionalUpdate). */
  readonly unconditionalUpdate: boolean
  /** Whether PUT creates a missing object (AllowCreateOnUpdate). */
  readonly createOnUpdate: boolean
  /** Whether a deletion returns the object instead of a Status. */
  readonly returnsDeleted: boolean
  readonly nameRule: "subdomain" | "label" | "path" | "service"
  /** Selectable fields beyond metadata.name and metadata.namespace, read from the stored version. */
  readonly fields: Readonly<Record<string, (object: JsonObject) => string>>
  /** Sets defaults on every write of a whole object, in place. */
  readonly defaults: ((object: JsonObject) => void) | undefined
  /** PrepareForCreate: runs after metadata and defaults, in place. */
  readonly onCreate: ((object: JsonObject, user: User) => void) | undefined
  /**
   * PrepareForUpdate: runs for the main resource after the status is restored, and for the status subresource after everything else is
   * restored, in place. `now` is a timestamp.
   */
  readonly onUpdate: ((object: JsonObject, existing: JsonObject, now: string) => void) | undefined
  readonly conversion: Conversion | undefined
  readonly columns: ReadonlyArray<PrinterColumn> | undefined
  readonly customResource: CustomResourceInfo | undefined
}

const allVerbs: ReadonlyArray<Verb> = [
  "create",
  "delete",
  "deletecollection",
  "get",
  "list",
  "patch",
  "update",
  "watch"
]

type Required = "group" | "version" | "kind" | "plural"

/** A definition with the defaults of a namespaced resource. */
export const make = (
  resource: Pick<ResourceDefinition, Required> & Partial<Omit<ResourceDefinition, Required>>
): ResourceDefinition => ({
  singular: resource.kind.toLowerCase(),
  shortNames: [],
  categories: [],
  namespaced: true,
  verbs: allVerbs,
  subresources: [],
  storage: `${resource.group === "" ? "" : `${resource.group}/`}${resource.plural}`,
  generation: false,
  statusKeeps: [],
  orphans: false,
  source: "store",
  deprecation: undefined,
  review: false,
  lifetime: undefined,
  unconditionalUpdate: true,
  createOnUpdate: false,
  returnsDeleted: false,
  nameRule: "subdomain",
  fields: {},
  defaults: defaultsOf(resource),
  onCreate: onCreateOf(resource),
  onUpdate: undefined,
  conversion: undefined,
  columns: undefined,
  customResource: undefined,
  ...resource
})

export const apiVersion = (resource: Pick<ResourceDefinition, "group" | "version">): string =>
  resource.group === "" ? resource.version : `${resource.group}/${resource.version}`

export const hasStatus = (resource: ResourceDefinition): boolean => resource.subresources.includes("status")
