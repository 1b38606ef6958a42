/**
 * A resource descriptor: the names of a kind, its endpoints, and the TypeScript type of its objects. It is a plain value that other
 * modules take as an argument; it sends no requests. A custom kind is declared with Schemas, and its descriptor decodes and encodes
 * objects too; caches and clients hold the wire form all the same.
 */
import type * as Arbitrary from "effect/Arbitrary"
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Codec from "./crd/codec.ts"
import * as ObjectCodec from "./crd/objectCodec.ts"
import * as Generate from "./crd/objects/generate.ts"
import type { KubeObject, PartialObjectMetadata } from "./Meta.ts"

/** Whether objects live in namespaces. */
export type Scope = "Namespaced" | "Cluster"

/** `metadata` asks the server for `PartialObjectMetadata` only: same kind, much smaller objects. */
export type Projection = "object" | "metadata"

/** The objects of a kind that a field selector selects. */
export interface Part {
  /** The id of the whole kind. */
  readonly of: string
  /** As in a query: `type=kubernetes.io/tls`. */
  readonly fieldSelector: string
}

/** A kind as a value: its names, its endpoints and, in its type, its objects `A`. */
export interface Resource<out A extends KubeObject, out Id extends string = string> {
  /**
   * Identity of the kind and projection: `v1/pods`, `apps/v1/deployments`, `metadata:v1/pods`. Literal in the type too,
   * so that a permission for one kind is never mistaken for another's.
   */
  readonly id: Id
  /** Empty for the core group. */
  readonly group: string
  /** `v1`, `v1alpha1`. */
  readonly version: string
  /** `Deployment`. */
  readonly kind: string
  /** Lower-case plural, as in paths. */
  readonly plural: string
  /** Whether its objects live in namespaces. */
  readonly scope: Scope
  /** What a list or watch of it returns. */
  readonly projection: Projection
  /** Set where the resource is only a part of the kind's objects: see {@link selected}. Calls for one object ignore it. */
  readonly part?: Part | undefined
  /** Phantom: the type of the objects. Never present at run time. */
  readonly _A?: (_: never) => A
}

/**
 * A kind whose objects are only created, such as a SubjectAccessReview: the response has the answer, and the API server stores nothing. So
 * there is nothing to read, watch, change or delete: calls other than `create` do not accept it.
 */
export interface CreateOnly<out A extends KubeObject, out Id extends string = string> extends Omit<
  Resource<A, Id>,
  "projection" | "part"
> {
  /** There are no objects to list or watch. */
  readonly projection: "none"
}

/** A kind of which objects can be created. */
export type Creatable<A extends KubeObject, Id extends string = string> = Resource<A, Id> | CreateOnly<A, Id>

/** Any resource, where only its endpoints matter. */
export type Any = Resource<KubeObject>

/** Any kind, where only its names and its path matter. */
export type AnyCreatable = Creatable<KubeObject>

/** The type of a resource's objects. */
export type Object<R> = R extends Creatable<infer A> ? A : never

/** The names of a kind. */
export interface Options {
  /** `apps`, `cache.example.com`; empty for the core group. */
  readonly group: string
  /** `v1`, `v1alpha1`. */
  readonly version: string
  /** `Memcached`. */
  readonly kind: string
  /** Lower-case plural, as in paths: `memcacheds`. */
  readonly plural: string
  /** Default: Namespaced. */
  readonly scope?: Scope
}

type IdOf<O extends Options> = O["group"] extends ""
  ? `${O["version"]}/${O["plural"]}`
  : `${O["group"]}/${O["version"]}/${O["plural"]}`

/** A column of `kubectl get`. Source: apiextensions.k8s.io/v1 CustomResourceColumnDefinition. */
export interface PrinterColumn {
  /** Its heading. */
  readonly name: string
  /** How the value is shown; a date as the time since then. */
  readonly type: "string" | "integer" | "number" | "boolean" | "date"
  /** Where the value is: `.spec.size`. */
  readonly jsonPath: string
  /** For people: what the column shows. */
  readonly description?: string
  /** An OpenAPI format such as `int32`. */
  readonly format?: string
  /** Above 0 the column is shown with `-o wide` only. Default: 0. */
  readonly priority?: number
}

/** The endpoints below an object. */
export interface Subresources {
  /** Whether status is written by its own endpoint, and specs by the main one. */
  readonly status?: boolean
  /** Where replicas are in an object, for `kubectl scale` and autoscalers: `.spec.size`. */
  readonly scale?: {
    readonly specReplicasPath: string
    readonly statusReplicasPath: string
    readonly labelSelectorPath?: string
  }
}

/** What may differ between the versions of a kind. */
export interface VersionOptions {
  /** `v1`, `v1alpha1`. */
  readonly version: string
  /** What `kubectl get` shows beside the name. Default: the age. */
  readonly printerColumns?: ReadonlyArray<PrinterColumn>
  /**
   * Fields by which clients may select objects, at most eight: `.spec.color` for `kubectl get --field-selector spec.color=blue` and
   * `Resource.selected(Widget, "spec.color=blue")`. Texts, integers and booleans outside lists. Default: none.
   */
  readonly selectableFields?: ReadonlyArray<string>
  /** Endpoints below an object. Default: none; without `status` there, spec and status are written together. */
  readonly subresources?: Subresources
  /** With a decoding default or as an optional key, objects need no `spec`. Always given, unless `object` is. */
  readonly spec?: Codec.AnySchema
  /** Never required: an object has no status before its controller has reconciled it. */
  readonly status?: Codec.AnySchema
  /**
   * In place of `spec` and `status`, for a kind with other fields or with a condition that involves several of them: the Schema of all of an
   * object but `apiVersion`, `kind` and `metadata`. It may have `metadata` too, to restrict the name.
   */
  readonly object?: Codec.AnySchema
  /** Whether clients that use the version are warned. Default: if there is a warning. */
  readonly deprecated?: true
  /** The warning that clients which use the version get, in place of the server's own. */
  readonly deprecationWarning?: string
}

/** A version beside the one that the resource itself names. */
export interface OtherVersion extends VersionOptions {
  /** Whether clients may use it. Default: true. */
  readonly served?: boolean
  /** Whether objects are stored in it, instead of in the version that the resource itself names. */
  readonly storage?: true
}

/** The declaration of a custom kind. */
export interface CustomOptions extends Options, VersionOptions {
  /** Default: the kind in lower case. */
  readonly singular?: string
  /** The kind of lists. Default: the kind followed by `List`. */
  readonly listKind?: string
  /** What kubectl accepts in place of the plural: `mc`. */
  readonly shortNames?: ReadonlyArray<string>
  /** Groups of kinds for kubectl, such as `all`. */
  readonly categories?: ReadonlyArray<string>
  /** The description of the kind in `kubectl explain`. */
  readonly description?: string
  /** Annotations of the definition, such as `api-approved.kubernetes.io`, which groups below `k8s.io` need. */
  readonly annotations?: Readonly<Record<string, string>>
  /** Further versions; objects are stored in the one that the resource itself names, unless one of these is the `storage`. */
  readonly versions?: ReadonlyArray<OtherVersion>
}

/** A custom kind, declared with Schemas. */
export interface Custom<A extends KubeObject, D, Id extends string = string> extends Resource<A, Id> {
  /** All that was declared; the CustomResourceDefinition follows from it. */
  readonly declaration: CustomOptions
  /** Decodes an object; fails with one sentence that has the path of the first field that does not fit. */
  readonly decode: (object: unknown) => Result.Result<D, Undecodable>
  /**
   * The wire form of a decoded object, written over the object it came from, so that fields which the Schemas do not know are kept. Fails
   * if the decoded object has been changed to one that the Schemas refuse.
   */
  readonly encode: (decoded: D, onto?: KubeObject) => Result.Result<A, Undecodable>
}

/** Any resource that was declared with Schemas. */
// oxlint-disable-next-line typescript/no-explicit-any -- the decoded type is both parameter and result, so only `any` accepts every resource
export type AnyCustom = Custom<KubeObject, any>

/** Whether a resource was declared with Schemas. False for its projections, such as {@link metadataOnly}. */
export const isCustom = (resource: AnyCreatable): resource is AnyCustom => "declaration" in resource

/** The type that a controller works with: the decoded form of a custom kind, the wire form of any other. */
export type Decoded<R> = R extends Custom<infer _, infer D> ? D : Object<R>

/** An object does not fit the Schemas of its kind. */
export class Undecodable extends Data.TaggedError("Undecodable")<{
  /** `Memcached default/sample does not fit its schema: spec.size: Expected a value between 1 and 3`. */
  readonly message: string
  /** `spec.size`. */
  readonly path: string
}> {}

type Parts<O> = (O extends { readonly spec: infer S extends Codec.AnySchema } ? { readonly spec: S } : {}) &
  (O extends { readonly status: infer S extends Codec.AnySchema } ? { readonly status: Schema.optionalKey<S> } : {})

type WireOf<O> = KubeObject &
  (O extends { readonly object: infer S extends Codec.AnySchema } ? S["Encoded"] : Schema.Struct.Encoded<Parts<O>>)

type DecodedOf<O> = KubeObject &
  (O extends { readonly object: infer S extends Codec.AnySchema } ? S["Type"] : Schema.Struct.Type<Parts<O>>)

/** Options without an `object` need a `spec`. */
type Shaped<O> = [keyof O & ("spec" | "object")] extends [never] ? { readonly spec: Codec.AnySchema } : unknown

/** The two ways to declare a kind. */
export interface Make {
  /** Declares a kind that the API server already serves, namespaced by default: `Resource.make<Pod>()({ group: "", … })`. */
  <A extends KubeObject>(): <const O extends Options>(options: O) => Resource<A, IdOf<O>>
  /** Declares a custom kind: `Resource.make({ group, version, kind, plural, spec: Schema.Struct({ … }) })`. */
  <const O extends CustomOptions>(options: O & Shaped<O>): Custom<WireOf<O>, DecodedOf<O>, IdOf<O>>
}

/**
 * Declares a kind, built-in or custom: see {@link Make}.
 *
 * @example
 * ```ts
 * const Team = Resource.make({
 *   group: "example.com",
 *   version: "v1",
 *   kind: "Team",
 *   plural: "teams",
 *   scope: "Cluster",
 *   spec: Schema.Struct({ tier: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("free"))) })
 * })
 * const team = Result.getOrThrow(Team.decode({ metadata: { name: "blue" }, spec: {} }))
 * assert.equal(team.spec.tier, "free")
 * assert.equal(Resource.qualifiedName(Team), "teams.example.com")
 * ```
 */
export const make = ((options?: CustomOptions) => (options === undefined ? described : custom(options))) as Make

const described = <O extends Options>(options: O) => ({
  scope: "Namespaced" as const,
  projection: "object" as const,
  ...options,
  id: `${options.group === "" ? "" : `${options.group}/`}${options.version}/${options.plural}`
})

/**
 * Declares a kind that the API server already serves and whose objects are only created: see {@link CreateOnly}.
 *
 * @example
 * ```ts
 * const Review = Resource.createOnly<Resource.Object<typeof Namespace>>()({
 *   group: "example.com",
 *   version: "v1",
 *   kind: "NameReview",
 *   plural: "namereviews"
 * })
 * const { access } = Controller.make({
 *   name: "reviewer",
 *   for: Namespace,
 *   access: [Access.create(Review)],
 *   reconcile: ({ name }, { client }) => Effect.asVoid(client.create(Review, { metadata: { name } }, { namespace: name }))
 * })
 * assert.deepEqual(access.map(({ grant }) => grant), ["read", "create"])
 * ```
 */
export const createOnly =
  <A extends KubeObject>() =>
  <const O extends Options>(options: O): CreateOnly<A, IdOf<O>> => ({ ...described(options), projection: "none" })

const custom = (declaration: CustomOptions): AnyCustom => {
  const { group, kind, plural, scope = "Namespaced", version } = declaration
  const codec = ObjectCodec.make(kind, partsOf(declaration))
  return {
    ...described({ group, version, kind, plural, scope }),
    declaration,
    decode: (object) => Result.mapError(codec.decode(object), (refused) => new Undecodable(refused)),
    encode: (decoded, onto) => Result.mapError(codec.encode(decoded, onto), (refused) => new Undecodable(refused))
  }
}

/** The Schema of an object without what all kinds have: of its `spec` and `status`, or its `object`. */
export const partsOf = ({ object, spec, status }: VersionOptions): Codec.AnySchema => {
  const fields: Readonly<Record<string, Codec.AnySchema>> = {
    ...(spec === undefined ? {} : { spec }),
    ...(status === undefined ? {} : { status: Schema.optionalKey(status) })
  }
  return object ?? Schema.Struct(fields)
}

/**
 * Random valid objects of a kind, for property tests: `it.effect.prop("…", { memcached: Resource.arbitrary(Memcached) }, …)`. In wire form;
 * the Schemas decode each of them, and the definition of the kind allows it.
 */
export const arbitrary = <A extends KubeObject, D, Id extends string>(
  resource: Custom<A, D, Id>
): Arbitrary.Arbitrary<A> => Generate.arbitrary(kindOf(resource)) as Arbitrary.Arbitrary<A>

/** Random objects of a kind that are invalid for one reason; both the Schemas and the definition refuse them. */
export const invalid = (resource: AnyCustom): Arbitrary.Arbitrary<KubeObject> => Generate.invalid(kindOf(resource))

/**
 * A short valid object of a kind, always the same, as an example for users: it has the fields that are required or have a default.
 * Undefined where the Schemas ask for more than can be guessed, such as a pattern; `arbitrary` finds a valid object there.
 */
export const sample = <A extends KubeObject, D, Id extends string>(resource: Custom<A, D, Id>): A | undefined =>
  Generate.sample(kindOf(resource)) as A | undefined

const kindOf = (resource: AnyCustom): Generate.Kind => ({
  apiVersion: apiVersion(resource),
  kind: resource.kind,
  isNamespaced: resource.scope === "Namespaced",
  parts: partsOf(resource.declaration),
  decode: resource.decode
})

/** Every kind that a server serves, custom resources included: for controllers that find their kinds by discovery. */
export const anything = make<KubeObject>()({ group: "*", version: "*", kind: "*", plural: "*" })

/** The same kind, read as metadata only. Its informer is separate from the full one: they are two caches. */
export const metadataOnly = <Id extends string>(
  resource: Resource<KubeObject, Id>
): Resource<PartialObjectMetadata, `metadata:${Id}`> => ({
  id: `metadata:${resource.id}`,
  group: resource.group,
  version: resource.version,
  kind: resource.kind,
  plural: resource.plural,
  scope: resource.scope,
  projection: "metadata",
  // `of` is an id, and gets the same prefix.
  ...(resource.part === undefined ? {} : { part: { ...resource.part, of: `metadata:${resource.part.of}` } })
})

/**
 * The objects of a kind that the server selects by their fields: `Resource.selected(Secret, "type=kubernetes.io/tls")`. For `read`: the
 * cache then holds these objects only, in one informer for all controllers that select the same. An object whose fields change so that
 * it is no longer selected arrives as a deletion. It takes the same rights as reading the whole kind. The server decides which fields
 * can be selected: `metadata.name` and `metadata.namespace` always, `type` of Secrets, `spec.nodeName` and `status.phase` of pods, and the
 * `selectableFields` of a custom kind.
 */
export const selected = <A extends KubeObject, Id extends string, const F extends string>(
  resource: Resource<A, Id>,
  fieldSelector: F
): Resource<A, `${Id}?${F}`> => {
  const { group, kind, plural, projection, scope, version } = resource
  const part = { of: resource.id, fieldSelector }
  return { id: `${resource.id}?${fieldSelector}`, group, version, kind, plural, scope, projection, part }
}

/** The `apiVersion` of its objects: `v1` in the core group, `apps/v1` in others. */
export const apiVersion = (resource: AnyCreatable): string =>
  resource.group === "" ? resource.version : `${resource.group}/${resource.version}`

/** `pods`, `deployments.apps`: how kubectl and RBAC messages name a resource. */
export const qualifiedName = (resource: AnyCreatable): string =>
  resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`

/** An endpoint of a kind; without a name, the collection. */
export interface Target {
  /** Absent: all namespaces, or a cluster-scoped kind. */
  readonly namespace?: string | undefined
  /** Of an object. */
  readonly name?: string | undefined
  /** `status`, `scale`, … */
  readonly subresource?: string | undefined
}

/** The URL path of a collection, an object or a subresource. Segments are escaped; cluster-scoped kinds ignore the namespace. */
export const path = (resource: AnyCreatable, target: Target = {}): string => {
  let out = resource.group === "" ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`
  if (target.namespace !== undefined && target.namespace !== "" && resource.scope === "Namespaced") {
    out += `/namespaces/${encodeURIComponent(target.namespace)}`
  }
  out += `/${resource.plural}`
  if (target.name !== undefined) out += `/${encodeURIComponent(target.name)}`
  if (target.subresource !== undefined) out += `/${target.subresource}`
  return out
}
