/**
 * What a controller may do, as values: `[read(Pod), patch(Node)]`. The requirements in an effect's type do not exist at run time, so
 * permissions are data. The client that a controller gets, the kinds that its cache serves and its RBAC rules are computed from this list.
 * This module enforces nothing.
 */
import type { KubeObject } from "./Meta.ts"
import * as Resource from "./Resource.ts"
import { Event } from "./resources.ts"

/**
 * `read`: cached reads; `record`: writing Events; every other tag is the client call of that name. {@link verbs} has the RBAC verbs of
 * each grant: exactly those that it needs, so that a generated role has no verb to spare.
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

/** `S` is the subresource, the empty string for the main endpoint. */
export interface Access<out G extends Grant, out R, out S extends string = ""> {
  /** What may be done. */
  readonly grant: G
  /** The kind that it may be done to, in all namespaces that are watched. */
  readonly resource: R
  /** `status`, `scale`, …: the grant is for that endpoint and no other. Empty for the main one. */
  readonly subresource: S
  /** True: the controller also runs against a server that does not serve the kind. See {@link whereServed}. */
  readonly isOptional?: true | undefined
}

/** Any permission, where only the data matters. */
export type Any = Access<Grant, Resource.AnyCreatable, string>

/** The resources for which `A` holds the grant `G` on the endpoint `S`. */
export type Granted<A, G extends Grant, S extends string = ""> =
  A extends Access<G, infer R, infer T> ? ([T, S] extends [S, T] ? R : never) : never

/** The kinds of {@link Granted}. In the compiler's message about any other kind, `Lacking` names what the declaration lacks. */
export type KindsWith<Lacking extends string, A, G extends Grant, S extends string = ""> =
  | Granted<A, G, S>
  | Missing<Lacking>

/** No value has this type: it is there to be read, in the message of the compiler about a declaration that lacks something. */
export interface Missing<out Lacking extends string> {
  /** What to add. */
  readonly [missing]: Lacking
}

declare const missing: unique symbol

/** The subresources that `A` names. */
export type Subresource<A> = A extends Access<Grant, unknown, infer S> ? Exclude<S, ""> : never

type Res<A extends KubeObject, Id extends string> = Resource.Resource<A, Id>

/**
 * Cached reads of a kind: the informer is started, and kept, for as long as the controller runs.
 *
 * @example
 * ```ts
 * const { reads } = Controller.make({
 *   name: "counter",
 *   for: Namespace,
 *   access: [Access.read(Pod)],
 *   reconcile: ({ name }, { cache }) => Effect.asVoid(cache.list(Pod, { namespace: name }))
 * })
 * assert.deepEqual(reads, [Namespace, Pod])
 * ```
 */
export const read = <A extends KubeObject, Id extends string>(resource: Res<A, Id>): Access<"read", Res<A, Id>> => ({
  grant: "read",
  resource,
  subresource: ""
})

/** Lists from the API server, without an informer. */
export const list = <A extends KubeObject, Id extends string>(resource: Res<A, Id>): Access<"list", Res<A, Id>> => ({
  grant: "list",
  resource,
  subresource: ""
})

/**
 * Marks the kind as optional, for kinds that not every cluster serves, such as those of an aggregated API server. Where it is not served,
 * that is no failure, and calls for it fail with NotFound.
 */
export const whereServed = <G extends Grant, R, S extends string>(access: Access<G, R, S>): Access<G, R, S> => ({
  ...access,
  isOptional: true
})

/**
 * Permission to write Events. Without it, the context of a reconcile has no `events`.
 *
 * @example
 * ```ts
 * const greeter = Controller.make({
 *   name: "greeter",
 *   for: Namespace,
 *   access: [Access.record],
 *   reconcileObject: (namespace, { events }) => events.normal(namespace, "Welcome", "hello")
 * })
 * assert.ok(greeter.access.includes(Access.record))
 * ```
 */
export const record: Access<"record", typeof Event> = { grant: "record", resource: Event, subresource: "" }

const on =
  <G extends "get" | "update" | "patch">(grant: G) =>
  <A extends KubeObject, Id extends string, const S extends string = "">(
    resource: Res<A, Id>,
    subresource?: S
    // Without NoInfer a list of permissions would widen S to string.
  ): Access<G, Res<A, Id>, NoInfer<S>> =>
    granted(grant, resource, subresource)

// Without a subresource, S is the empty string too.
const granted = <G extends Grant, R, S extends string>(grant: G, resource: R, subresource: S | undefined) => ({
  grant,
  resource,
  subresource: (subresource ?? "") as S
})

/**
 * Reads of single objects, or of a subresource of them, from the API server, without an informer.
 *
 * @example
 * ```ts
 * const { access } = Controller.make({
 *   name: "reader",
 *   for: Pod,
 *   access: [Access.get(Secret)],
 *   reconcile: ({ namespace }, { client }) => Effect.asVoid(client.get(Secret, { namespace, name: "password" }))
 * })
 * assert.deepEqual(access.map(({ grant }) => Access.verbs[grant]), [["list", "watch"], ["get"]])
 * ```
 */
export const get = on("get")

/**
 * May create objects, or post to a subresource. The only grant for kinds that are only created, such as SubjectAccessReview.
 *
 * @example
 * ```ts
 * const evict = Access.create(Pod, "eviction")
 * assert.deepEqual([evict.grant, evict.resource, evict.subresource], ["create", Pod, "eviction"])
 * ```
 */
export const create = <R extends Resource.AnyCreatable, const S extends string = "">(
  resource: R,
  subresource?: S
): Access<"create", R, NoInfer<S>> => granted("create", resource, subresource)

/**
 * May replace whole objects, or a subresource of them.
 *
 * @example
 * ```ts
 * const { name } = Controller.make({
 *   name: "scaler",
 *   for: Deployment,
 *   access: [Access.update(Deployment)],
 *   reconcileObject: (deployment, { client }) =>
 *     Effect.asVoid(client.update(Deployment, { ...deployment, metadata: { ...deployment.metadata, labels: {} } }))
 * })
 * assert.equal(name, "scaler")
 * ```
 */
export const update = on("update")

/**
 * Patches of every type, server-side apply included; one that may create its object needs `create` too.
 *
 * @example
 * ```ts
 * const { access } = Controller.make({
 *   name: "phases",
 *   for: Pod,
 *   access: [Access.patch(Pod, "status")],
 *   reconcile: ({ name, namespace }, { client }) =>
 *     Effect.asVoid(client.subresource("status").patch(Pod, { name, namespace }, Patch.merge({ status: { phase: "Failed" } })))
 * })
 * assert.deepEqual(access.map(({ grant, subresource }) => `${grant} ${subresource}`), ["read ", "patch status"])
 * ```
 */
export const patch = on("patch")

/**
 * May name objects of the kind in owner references with `blockOwnerDeletion`, as `Owner.reference` does. The admission plugin
 * OwnerReferencesPermissionEnforcement requires the right to update `finalizers` for that; without the plugin the grant has no effect.
 * Source: plugin/pkg/admission/gc.
 */
export const own = <A extends KubeObject, Id extends string>(
  resource: Res<A, Id>
): Access<"update", Res<A, Id>, "finalizers"> => ({ grant: "update", resource, subresource: "finalizers" })

/**
 * May delete one object at a time.
 *
 * @example
 * ```ts
 * const { access } = Controller.make({
 *   name: "janitor",
 *   for: Pod,
 *   access: [Access.remove(Pod)],
 *   reconcile: ({ name, namespace }, { client }) => Effect.asVoid(client.delete(Pod, { name, namespace }))
 * })
 * assert.deepEqual(access.map(({ grant }) => grant), ["read", "delete"])
 * ```
 */
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
 * May write roles of the kind that grant rights which the writer does not have itself; the API server refuses that to everyone else.
 * Source: pkg/registry/rbac: EscalationAllowed.
 */
export const escalate = <A extends KubeObject, Id extends string>(
  resource: Res<A, Id>
): Access<"escalate", Res<A, Id>> => ({ grant: "escalate", resource, subresource: "" })

/**
 * Resources with a `read` grant, each once, in the order of declaration. `Resource.anything` is left out: which kinds it stands for is
 * known only after discovery.
 */
export const reads = (access: ReadonlyArray<Any>): ReadonlyArray<Resource.Any> => [
  ...new Map(access.flatMap((one) => (isRead(one) ? [[one.resource.id, one.resource] as const] : []))).values()
]

// `read` takes no kind that is only created.
const isRead = (one: Any): one is Access<"read", Resource.Any> =>
  one.grant === "read" && one.resource.id !== Resource.anything.id

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
  // A repeated event is a patch of the count in the existing Event.
  record: ["create", "patch"]
}
