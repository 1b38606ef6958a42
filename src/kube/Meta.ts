/**
 * The part of every Kubernetes object that controllers rely on: metadata, the generic object and list shapes, and
 * `Wire`, which turns a model class of `@kubernetes/client-node` into the plain JSON the server really sends.
 * Nothing here decodes or validates; an object is what the server sent, readonly by type.
 */

/** A reference from a dependent to the object that owns it. Source: meta/v1 OwnerReference. */
export interface OwnerReference {
  /** Group and version of the owner, `apps/v1`. The version may differ from the one that is read. */
  readonly apiVersion: string
  /** Of the owner, `ReplicaSet`. */
  readonly kind: string
  /** Of the owner, in the namespace of the dependent or in none. */
  readonly name: string
  /** Of the owner. An object that is created later with the same name has another uid. */
  readonly uid: string
  /** Whether the owner manages the dependent; at most one does. */
  readonly controller?: boolean
  /** Whether a foreground deletion of the owner waits for the dependent. */
  readonly blockOwnerDeletion?: boolean
}

/** One field manager's share of an object, as server-side apply records it. Trimmed from cached objects by default. */
export interface ManagedFieldsEntry {
  /** Who set the fields. */
  readonly manager?: string
  /** `Apply` or `Update`. */
  readonly operation?: string
  /** The version whose field names are used. */
  readonly apiVersion?: string
  /** RFC 3339: when the entry last changed. */
  readonly time?: string
  /** `FieldsV1`. */
  readonly fieldsType?: string
  /** The fields, as a tree of `f:name` and `k:{…}`. */
  readonly fieldsV1?: object
  /** The subresource through which they were set; absent for the main endpoint. */
  readonly subresource?: string
}

/** Source: meta/v1 ObjectMeta. Timestamps are RFC 3339 strings, as on the wire. */
export interface ObjectMeta {
  /** Unique in its kind and namespace. */
  readonly name: string
  /** A prefix from which the server makes a name. */
  readonly generateName?: string
  /** Absent for cluster-scoped kinds. */
  readonly namespace?: string
  /** Given by the server; never used twice. */
  readonly uid?: string
  /** Opaque to users; compared as a number of any length by `ResourceVersion`. */
  readonly resourceVersion?: string
  /** Raised by the server when the desired state changes, never by a status write. */
  readonly generation?: number
  /** RFC 3339, given by the server. */
  readonly creationTimestamp?: string
  /** RFC 3339: since when the object is being deleted. It stays until its finalizers are gone. */
  readonly deletionTimestamp?: string
  /** Seconds. */
  readonly deletionGracePeriodSeconds?: number
  /** For selectors. */
  readonly labels?: Readonly<Record<string, string>>
  /** For everything else; 256 KiB together at most. */
  readonly annotations?: Readonly<Record<string, string>>
  /** The owners; the garbage collector deletes the object with them. */
  readonly ownerReferences?: ReadonlyArray<OwnerReference>
  /** Names of what has to happen before the object is removed; a controller deletes its own when that is done. */
  readonly finalizers?: ReadonlyArray<string>
  /** Which manager set which field. Trimmed from what caches hold. */
  readonly managedFields?: ReadonlyArray<ManagedFieldsEntry>
}

/** Any object a server stores. Kind and apiVersion are filled in by our client and informers even where lists omit them. */
export interface KubeObject {
  /** `v1`, `apps/v1`. */
  readonly apiVersion?: string
  /** `Deployment`. */
  readonly kind?: string
  /** Name, version and what else all kinds have. */
  readonly metadata: ObjectMeta
}

/** The metadata of a list. Source: meta/v1 ListMeta. */
export interface ListMeta {
  /** The version of the collection that the list shows. */
  readonly resourceVersion?: string
  /** Non-empty when there is a next page. */
  readonly continue?: string
  /** How many objects follow on later pages, where the server knows. */
  readonly remainingItemCount?: number
}

/** A list, or one page of it. */
export interface KubeList<A> {
  /** Of the list, as of its objects. */
  readonly apiVersion?: string
  /** `PodList`. */
  readonly kind?: string
  /** Version of the list, and where the next page begins. */
  readonly metadata: ListMeta
  /** The objects, in the order of their keys. */
  readonly items: ReadonlyArray<A>
}

/** What a server sends when only metadata was asked for. */
export interface PartialObjectMetadata extends KubeObject {}

/**
 * The JSON form of a model class: dates are strings, everything is readonly, unknown fields survive because nothing is
 * decoded. Optional fields accept `undefined`, as the model classes declare them.
 */
export type Wire<A> = A extends Date
  ? string
  : A extends ReadonlyArray<infer B>
    ? ReadonlyArray<Wire<B>>
    : A extends object
      ? { readonly [K in keyof A]: Wire<A[K]> }
      : A

/** A stored object built from a model class: its wire form with the metadata that every stored object has. */
export type Stored<A> = Omit<Wire<A>, "metadata" | "kind" | "apiVersion"> & KubeObject

/** What a client may send to create `A`: the server fills in the rest; `generateName` may stand for the name. */
export type Draft<A extends KubeObject> = Omit<A, "metadata" | "status"> & {
  /** Fields that the server sets may be missing; the name too, where there is `generateName`. */
  readonly metadata: Partial<ObjectMeta>
  /** Ignored by the server if the kind has the status subresource. */
  readonly status?: unknown
}
