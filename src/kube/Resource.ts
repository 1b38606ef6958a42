/**
 * A resource descriptor: the names of a kind, its endpoints, and the TypeScript type of its objects. It is a plain value that other
 * modules take as an argument; it sends no requests. A custom kind is declared with Schemas, and its descriptor decodes and encodes
 * objects too; caches and clients hold the wire form all the same.
 */
import type * as Arbitrary from "effect/Arbitrary"
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Codec from "./crd/codec.ts"
import * as Generate from "./crd/objects/generate.ts"
import type { KubeObject, ObjectMeta, PartialObjectMetadata } from "./Meta.ts"

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

/** Any resource, where only its endpoints matter. */
export type Any = Resource<KubeObject>

/** The type of a resource's objects. */
export type Object<R> = R extends Resource<infer A> ? A : never

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
  /** Endpoints below an object. Default: none; without `status` there, spec and status are written together. */
  readonly subresources?: Subresources
  /** With a decoding default, objects need no `spec`. */
  readonly spec: Codec.AnySchema
  /** Never required: an object has no status before its controller has reconciled it. */
  readonly status?: Codec.AnySchema
}

/** A version beside the stored one. */
export interface OtherVersion extends VersionOptions {
  /** Whether clients may use it. Default: true. */
  readonly served?: boolean
  /** The warning that clients which use it get. */
  readonly deprecationWarning?: string
}

/** The declaration of a custom kind. */
export interface CustomOptions extends Options, VersionOptions {
  /** Default: the kind in lower case. */
  readonly singular?: string
  /** What kubectl accepts in place of the plural: `mc`. */
  readonly shortNames?: ReadonlyArray<string>
  /** Groups of kinds for kubectl, such as `all`. */
  readonly categories?: ReadonlyArray<string>
  /** The description of the kind in `kubectl explain`. */
  readonly description?: string
  /** Further versions that the API server offers; objects are stored in the one that the resource itself names. */
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
export const isCustom = (resource: Any): resource is AnyCustom => "declaration" in resource

/** The type that a controller works with: the decoded form of a custom kind, the wire form of any other. */
export type Decoded<R> = R extends Custom<infer _, infer D> ? D : Object<R>

/** An object does not fit the Schemas of its kind. */
export class Undecodable extends Data.TaggedError("Undecodable")<{
  /** `Memcached default/sample does not fit its schema: spec.size: Expected a value between 1 and 3`. */
  readonly message: string
  /** `spec.size`. */
  readonly path: string
}> {}

type Parts<O extends VersionOptions> = { readonly spec: O["spec"] } & (O extends {
  readonly status: infer S extends Codec.AnySchema
}
  ? { readonly status: Schema.optionalKey<S> }
  : {})

type WireOf<O extends VersionOptions> = KubeObject & Schema.Struct.Encoded<Parts<O>>

type DecodedOf<O extends VersionOptions> = KubeObject & Schema.Struct.Type<Parts<O>>

/** The two ways to declare a kind. */
export interface Make {
  /** Declares a kind that the API server already serves, namespaced by default: `Resource.make<Pod>()({ group: "", … })`. */
  <A extends KubeObject>(): <const O extends Options>(options: O) => Resource<A, IdOf<O>>
  /** Declares a custom kind: `Resource.make({ group, version, kind, plural, spec: Schema.Struct({ … }) })`. */
  <const O extends CustomOptions>(options: O): Custom<WireOf<O>, DecodedOf<O>, IdOf<O>>
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

const custom = (declaration: CustomOptions): AnyCustom => {
  const { group, kind, plural, scope = "Namespaced", version } = declaration
  const names = described({ group, version, kind, plural, scope })
  const parts = Codec.make(partsOf(declaration))
  const refuse = (object: unknown, { expected, path }: Codec.Flaw) =>
    new Undecodable({ path, message: `${kind}${nameOf(object)} does not fit its schema: ${sentence(path, expected)}` })
  return {
    ...names,
    declaration,
    decode: (object) =>
      isObject(object)
        ? Result.mapBoth(parts.decode(object), {
            onFailure: (flaw) => refuse(object, flaw),
            onSuccess: (decoded) => ({ ...headOf(object), ...(decoded as object) })
          })
        : Result.fail(refuse(object, { path: "metadata", expected: "Expected an object with metadata" })),
    encode: (decoded, onto = headOf(decoded)) =>
      Result.mapBoth(parts.encode(decoded, onto), {
        onFailure: (flaw) => refuse(decoded, flaw),
        onSuccess: (written) => ({ ...(written as KubeObject), metadata: decoded.metadata })
      })
  }
}

/** The Schema of the `spec` and `status` of an object. */
export const partsOf = ({ spec, status }: VersionOptions): Codec.AnySchema =>
  status === undefined ? Schema.Struct({ spec }) : Schema.Struct({ spec, status: Schema.optionalKey(status) })

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

const sentence = (path: string, expected: string): string => (path === "" ? expected : `${path}: ${expected}`)

const isObject = (value: unknown): value is KubeObject =>
  typeof value === "object" && value !== null && "metadata" in value && isMetadata(value.metadata)

const isMetadata = (value: unknown): value is ObjectMeta => typeof value === "object" && value !== null

const headOf = ({ apiVersion, kind, metadata }: KubeObject): KubeObject => ({
  ...(apiVersion === undefined ? {} : { apiVersion }),
  ...(kind === undefined ? {} : { kind }),
  metadata
})

const nameOf = (object: unknown): string => {
  if (!isObject(object)) return ""
  const { name, namespace } = object.metadata
  return name === undefined ? "" : ` ${namespace === undefined ? "" : `${namespace}/`}${name}`
}

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
 * can be selected: `metadata.name` and `metadata.namespace` always, `type` of Secrets, `spec.nodeName` and `status.phase` of pods.
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
export const apiVersion = (resource: Any): string =>
  resource.group === "" ? resource.version : `${resource.group}/${resource.version}`

/** `pods`, `deployments.apps`: how kubectl and RBAC messages name a resource. */
export const qualifiedName = (resource: Any): string =>
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
export const path = (resource: Any, target: Target = {}): string => {
  let out = resource.group === "" ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`
  if (target.namespace !== undefined && target.namespace !== "" && resource.scope === "Namespaced") {
    out += `/namespaces/${encodeURIComponent(target.namespace)}`
  }
  out += `/${resource.plural}`
  if (target.name !== undefined) out += `/${encodeURIComponent(target.name)}`
  if (target.subresource !== undefined) out += `/${target.subresource}`
  return out
}
