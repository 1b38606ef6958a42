/**
 * How a resource is served, as data: names, verbs, subresources, storage, strategy hooks and printer columns. The request
 * handling reads these fields and never compares kinds by name. `make` fills in the defaults.
 */
import type { StructuralSchema } from "../../kube/structural/StructuralSchema.ts"
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
  /** Its name unless said otherwise. */
  readonly description?: string | undefined
  /** 0 is always shown, above that only with `-o wide`. */
  readonly priority?: number | undefined
  /** Cell of an object; `now` in milliseconds. */
  readonly cell: (object: JsonObject, now: number) => string | number | boolean | null
}

/** What a CustomResourceDefinition says of a version of its kind, and no built-in kind has. */
export interface CustomResourceInfo {
  /** Name of the definition. */
  readonly definition: string
  readonly schema: StructuralSchema
  readonly shape: Shape
  /** Where a Scale finds what it is about, as names of members. */
  readonly scale: ScalePaths | undefined
  /** Name of the version that objects are written in from now on. */
  readonly storageVersion: string
  /** Undefined where versions differ in their name alone. */
  readonly converter: Converter | undefined
  /** The definition is being deleted: nothing new is made. */
  readonly terminating: boolean
}

/** How the versions of a custom kind become one another: by a webhook, or not at all. */
export interface Converter {
  /** The same as long as the definition says the same. Converted forms are remembered by it. */
  readonly id: string
  readonly group: string
  readonly kind: string
  readonly storageVersion: string
  /** Of every version, served or not. */
  readonly schemas: ReadonlyMap<string, StructuralSchema>
  /** The first of those the webhook understands that this server speaks. */
  readonly reviewVersion: "v1" | "v1beta1" | undefined
  readonly address: Address
}

export interface ScalePaths {
  readonly replicas: ReadonlyArray<string>
  readonly statusReplicas: ReadonlyArray<string>
  /** To a text. */
  readonly selector: ReadonlyArray<string> | undefined
}

/** Translation between the stored form and the one this group and version serves. Both may change their argument. */
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
  /** Collection the objects live in; two kinds may share one. */
  readonly storage: string
  /**
   * Whether `metadata.generation` counts changes of the spec; `annotations`: of the annotations too; `content`: of all that
   * is neither metadata nor status, as kinds without a spec do; `whole`: of the status too.
   */
  readonly generation: boolean | "annotations" | "content" | "whole"
  /** Members of the metadata that the status endpoint cannot change; the others it can, as on the reference server. */
  readonly statusKeeps: ReadonlyArray<string>
  /** Whether a deletion without a policy leaves the dependents alone; for kinds older than the garbage collector. */
  readonly orphans: boolean
  /** Nothing is stored: an object that is created is a question, and the answer comes back. */
  readonly review: boolean
  /** Seconds after its last write at which an object is dropped; undefined for those that stay. */
  readonly lifetime: number | undefined
  /** Whether an update without a resource version is let through. */
  readonly unconditionalUpdate: boolean
  /** Whether PUT of an absent object creates it. */
  readonly createOnUpdate: boolean
  /** Whether a deletion answers with the object instead of a Status. */
  readonly returnsDeleted: boolean
  readonly nameRule: "subdomain" | "label" | "path" | "service"
  /** Selectable fields beyond metadata.name and metadata.namespace, read from the stored form. */
  readonly fields: Readonly<Record<string, (object: JsonObject) => string>>
  /** Fills in what was left out, on every write of the whole object; works in place. */
  readonly defaults: ((object: JsonObject) => void) | undefined
  /** Applied to every object that is created, after metadata and defaults; works in place. */
  readonly onCreate: ((object: JsonObject) => void) | undefined
  /**
   * Applied to every new state on the main endpoint, after the status was restored, and on the status endpoint, after
   * everything else was; works in place. `now` is a timestamp.
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

/** A row with the defaults of an ordinary namespaced kind. */
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
