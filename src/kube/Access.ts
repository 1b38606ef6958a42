/**
 * What a controller may do, as values: `[read(Pod), patch(Node)]`. Requirements in an effect's type are erased at run time,
 * so permissions are data; the client a controller receives, the kinds the cache serves it and the RBAC rules it needs
 * are all computed from them. Nothing here enforces anything.
 */
import type { KubeObject } from "./Meta.ts"
import * as Resource from "./Resource.ts"
import { Event } from "./resources.ts"

/**
 * `read`: cached reads; `record`: events; every other tag is the one call of that name.
 * Verbs behind them: read = list, watch; record = create, patch. Each verb is granted for itself, so that a role has none to spare.
 */
export type Grant =
  | "read"
  | "get"
  | "list"
  | "create"
  | "update"
  | "patch"
  | "delete"
  | "deletecollection"
  | "escalate"
  | "record"

/** `S` is the empty text for the main endpoint. */
export interface Access<out G extends Grant, out R, out S extends string = ""> {
  /** What may be done. */
  readonly grant: G
  /** The kind that it may be done to, in all namespaces that are watched. */
  readonly resource: R
  /** `status`, `scale`, …: the grant is for that endpoint and no other. Empty for the main one. */
  readonly subresource: S
  /** True: a server that has no such kind lacks nothing. See {@link whereServed}. */
  readonly isOptional?: true | undefined
}

/** Any permission, where only the data matters. */
export type Any = Access<Grant, Resource.Any, string>

/** The resources for which `A` holds the grant `G` on the endpoint `S`. */
export type Granted<A, G extends Grant, S extends string = ""> =
  A extends Access<G, infer R, infer T> ? ([T, S] extends [S, T] ? R : never) : never

/** The subresources that `A` names. */
export type Subresource<A> = A extends Access<Grant, unknown, infer S> ? Exclude<S, ""> : never

type Res<A extends KubeObject, Id extends string> = Resource.Resource<A, Id>

/** Cached reads of a kind: the informer is started, and kept, for as long as the controller runs. */
export const read = <A extends KubeObject, Id extends string>(resource: Res<A, Id>): Access<"read", Res<A, Id>> => ({
  grant: "read",
  resource,
  subresource: ""
})

/** Lists as the server has them now, without an informer. */
export const list = <A extends KubeObject, Id extends string>(resource: Res<A, Id>): Access<"list", Res<A, Id>> => ({
  grant: "list",
  resource,
  subresource: ""
})

/**
 * For kinds that a cluster may do without, as those of an aggregated server: their absence is no failure, and calls fail with
 * NotFound.
 */
export const whereServed = <G extends Grant, R, S extends string>(access: Access<G, R, S>): Access<G, R, S> => ({
  ...access,
  isOptional: true
})

/** Events about what the controller does: without it there is no `events` among its tools. */
export const record: Access<"record", typeof Event> = { grant: "record", resource: Event, subresource: "" }

const on =
  <G extends "get" | "create" | "update" | "patch">(grant: G) =>
  <A extends KubeObject, Id extends string, const S extends string = "">(
    resource: Res<A, Id>,
    subresource?: S
    // Without NoInfer a list of permissions would widen S to string.
  ): Access<G, Res<A, Id>, NoInfer<S>> => ({
    grant,
    resource,
    // Absent is the main endpoint, which is what S is then.
    subresource: (subresource ?? "") as S
  })

/** Single objects, or a subresource of them, as the server has them now: it is asked each time, without an informer. */
export const get = on("get")

/** May create objects, or post to a subresource. */
export const create = on("create")

/** May replace whole objects, or a subresource of them. */
export const update = on("update")

/** Patches of every type, server-side apply included; one that may create its object needs `create` too. */
export const patch = on("patch")

/**
 * May name objects of the kind as owners whose deletion waits for what they own, as `Owner.reference` does: where the API server enforces
 * rights over owner references, that takes the right to update `finalizers`. It gives nothing elsewhere.
 * Source: the admission plugin OwnerReferencesPermissionEnforcement.
 */
export const own = <A extends KubeObject, Id extends string>(
  resource: Res<A, Id>
): Access<"update", Res<A, Id>, "finalizers"> => ({ grant: "update", resource, subresource: "finalizers" })

/** May delete one object at a time. */
export const remove = <A extends KubeObject, Id extends string>(
  resource: Res<A, Id>
): Access<"delete", Res<A, Id>> => ({
  grant: "delete",
  resource,
  subresource: ""
})

/** May delete all objects of a selection with one request. */
export const removeCollection = <A extends KubeObject, Id extends string>(
  resource: Res<A, Id>
): Access<"deletecollection", Res<A, Id>> => ({ grant: "deletecollection", resource, subresource: "" })

/**
 * May give rights in roles of the kind that it does not have itself: the API server refuses them to anybody else who writes a role.
 * Source: the reference server's check of privilege escalation.
 */
export const escalate = <A extends KubeObject, Id extends string>(
  resource: Res<A, Id>
): Access<"escalate", Res<A, Id>> => ({ grant: "escalate", resource, subresource: "" })

/**
 * Resources with a `read` grant, each once, in the order they were declared. `Resource.anything` is none of them: which kinds that is, is
 * known only when discovery has been asked.
 */
export const reads = (access: ReadonlyArray<Any>): ReadonlyArray<Resource.Any> => [
  ...new Map(
    access
      .filter(({ grant, resource }) => grant === "read" && resource.id !== Resource.anything.id)
      .map((one) => [one.resource.id, one.resource])
  ).values()
]

/** RBAC verbs behind a grant. Source: kube-apiserver's request info; apply is a patch. */
export const verbs: Readonly<Record<Grant, ReadonlyArray<string>>> = {
  read: ["list", "watch"],
  get: ["get"],
  list: ["list"],
  create: ["create"],
  update: ["update"],
  patch: ["patch"],
  delete: ["delete"],
  deletecollection: ["deletecollection"],
  escalate: ["escalate"],
  // An event that happens again is counted in the one there is.
  record: ["create", "patch"]
}
