/**
 * The part of every Kubernetes object that controllers rely on: metadata, the generic object and list shapes, and
 * `Wire`, which turns a model class of `@kubernetes/client-node` into the plain JSON the server really sends.
 * Nothing here decodes or validates; an object is what the server sent, readonly by type.
 */

/** A reference from a dependent to the object that owns it. Source: meta/v1 OwnerReference. */
export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

/** One field manager's share of an object, as server-side apply records it. Trimmed from cached objects by default. */
export interface ManagedFieldsEntry {
  readonly manager?: string
  readonly operation?: string
  readonly apiVersion?: string
  readonly time?: string
  readonly fieldsType?: string
  readonly fieldsV1?: object
  readonly subresource?: string
}

/** Source: meta/v1 ObjectMeta. Timestamps are RFC 3339 strings, as on the wire. */
export interface ObjectMeta {
  readonly name: string
  readonly generateName?: string
  readonly namespace?: string
  readonly uid?: string
  /** Opaque to users; compared as a number of any length by `ResourceVersion`. */
  readonly resourceVersion?: string
  /** Raised by the server when the desired state changes, never by a status write. */
  readonly generation?: number
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  /** Seconds. */
  readonly deletionGracePeriodSeconds?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly ownerReferences?: ReadonlyArray<OwnerReference>
  readonly finalizers?: ReadonlyArray<string>
  readonly managedFields?: ReadonlyArray<ManagedFieldsEntry>
}

/** Any object a server stores. Kind and apiVersion are filled in by our client and informers even where lists omit them. */
export interface KubeObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: ObjectMeta
}

/** Source: meta/v1 ListMeta. */
export interface ListMeta {
  readonly resourceVersion?: string
  /** Non-empty when there is a next page. */
  readonly continue?: string
  readonly remainingItemCount?: number
}

export interface KubeList<A> {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: ListMeta
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

/** What one may send to create `A`: the server fills in the rest; `generateName` may stand for the name. */
export type Draft<A extends KubeObject> = Omit<A, "metadata" | "status"> & {
  readonly metadata: Partial<ObjectMeta>
  readonly status?: unknown
}
