/**
 * A resource descriptor: what a kind is called on the wire, where its endpoints are and which TypeScript type its objects
 * have. It is a plain value that every other room takes as an argument; it knows nothing of how requests are sent.
 */
import type { KubeObject, PartialObjectMetadata } from "./Meta.ts"

export type Scope = "Namespaced" | "Cluster"

/** `metadata` asks the server for `PartialObjectMetadata` only: same kind, much smaller objects. */
export type Projection = "object" | "metadata"

export interface Resource<out A extends KubeObject, out Id extends string = string> {
  /**
   * Identity of the kind and projection: `v1/pods`, `apps/v1/deployments`, `metadata:v1/pods`. Literal in the type too,
   * so that a permission for one kind is never mistaken for another's.
   */
  readonly id: Id
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  readonly kind: string
  /** Lower-case plural, as in paths. */
  readonly plural: string
  readonly scope: Scope
  readonly projection: Projection
  /** Phantom: the type of the objects. Never present at run time. */
  readonly _A?: (_: never) => A
}

/** Any resource, where only its endpoints matter. */
export type Any = Resource<KubeObject>

/** The type of a resource's objects. */
export type Object<R> = R extends Resource<infer A> ? A : never

export interface Options {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly scope?: Scope
}

type IdOf<O extends Options> = O["group"] extends ""
  ? `${O["version"]}/${O["plural"]}`
  : `${O["group"]}/${O["version"]}/${O["plural"]}`

/** Declares a kind, namespaced unless said otherwise: `Resource.make<Pod>()({ group: "", … })`. */
export const make =
  <A extends KubeObject>() =>
  <const O extends Options>(options: O): Resource<A, IdOf<O>> => ({
    scope: "Namespaced",
    projection: "object",
    ...options,
    id: `${options.group === "" ? "" : `${options.group}/`}${options.version}/${options.plural}` as IdOf<O>
  })

/** Whatever a server serves, custom resources included: for permissions of controllers that learn their kinds from discovery. */
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
  projection: "metadata"
})

/** `v1`, `apps/v1`. */
export const apiVersion = (resource: Any): string =>
  resource.group === "" ? resource.version : `${resource.group}/${resource.version}`

/** `pods`, `deployments.apps`: how kubectl and RBAC messages name a resource. */
export const qualifiedName = (resource: Any): string =>
  resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`

export interface Target {
  readonly namespace?: string | undefined
  readonly name?: string | undefined
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
