/**
 * Server-side apply: a controller sends the fields that it manages, the server records the manager of each field, and removes fields that the
 * controller no longer sends. Each controller applies under its own field manager, and by default takes over fields from others.
 * It reads nothing first, and applying the same again changes nothing.
 */
import type * as Effect from "effect/Effect"
import type * as Access from "../../../kube/Access.ts"
import type { ApiError } from "../../../kube/ApiError.ts"
import type { KubeObject, ObjectMeta } from "../../../kube/Meta.ts"
import * as Patch from "../../../kube/Patch.ts"
import * as Resource from "../../../kube/Resource.ts"
import type { Client } from "../reconcileContext.ts"
import * as Calls from "./calls.ts"

/** The name of an object and the fields to apply, without those that the server sets. */
export type Intent<A extends KubeObject> = Partial<Omit<A, "apiVersion" | "kind" | "metadata" | "status">> & {
  /** The name of the object, and the labels, annotations and owners to apply. */
  readonly metadata: Omit<Partial<ObjectMeta>, "name" | "namespace"> & {
    readonly name: string
    /** Absent for cluster-scoped kinds. */
    readonly namespace?: string | undefined
  }
}

type IntentOf<R> = R extends Resource.Resource<infer A> ? Intent<A> : never

type StatusOf<R> = Resource.Object<R> extends { readonly status?: infer S } ? Partial<NonNullable<S>> : object

/** An apply creates an object that does not exist. */
type Creatable<A> = Extract<Access.Granted<A, "patch">, Access.Granted<A, "create">>

/** Server-side apply for one controller. */
export interface Applier<in A> {
  /**
   * Creates the object if it does not exist, so it needs `Access.create` and `Access.patch` of the kind. Fails with `Conflict` only without
   * `force`; the error names the other managers of the fields.
   */
  readonly apply: <R extends Creatable<A> | Access.Missing<"Access.create(…) and Access.patch(…) in access">>(
    resource: R,
    intent: IntentOf<R>
  ) => Effect.Effect<Resource.Object<R>, ApiError>
  /** Applies the status of an object that exists. Needs `Access.patch` of the subresource `status`. */
  readonly applyStatus: <R extends Access.KindsWith<'Access.patch(…, "status") in access', A, "patch", "status">>(
    resource: R,
    object: KubeObject,
    status: StatusOf<R>
  ) => Effect.Effect<Resource.Object<R>, ApiError>
}

/** Settings of an apply. */
export interface ApplierOptions {
  /**
   * The field manager. Default: the name of the controller. Two that apply under one name remove each other's fields.
   */
  readonly fieldManager?: string | undefined
  /** Whether to take over fields of other managers. Default true. */
  readonly force?: boolean | undefined
}

/**
 * Server-side apply with a controller's client: `const { apply, applyStatus } = applier(client)`.
 *
 * @example
 * ```ts
 * const Copies = Controller.make({
 *   name: "copies",
 *   for: Namespace,
 *   access: [Access.create(ConfigMap), Access.patch(ConfigMap)],
 *   reconcile: ({ name }, { client }) =>
 *     applier(client).apply(ConfigMap, { metadata: { namespace: name, name: "name" }, data: { name } }).pipe(Effect.asVoid)
 * })
 * const copy = Effect.gen(function* () {
 *   const cluster = yield* ClusterTest
 *   yield* cluster.run(Copies)
 *   yield* cluster.settle
 *   return yield* (yield* KubeClient).get(ConfigMap, { namespace: "default", name: "name" })
 * }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()), Effect.provide(TestClock.layer()))
 * assert.deepEqual((await Effect.runPromise(copy)).data, { name: "default" })
 * ```
 */
export const applier = <A>(client: Client<A>, { fieldManager, force = true }: ApplierOptions = {}): Applier<A> => {
  const calls = Calls.of(client)
  const options = { fieldManager, force }
  const bodyOf = (resource: Resource.Any, rest: object) =>
    Patch.apply({ apiVersion: Resource.apiVersion(resource), kind: resource.kind, ...rest })
  const apply = (resource: Resource.Any, intent: KubeObject) =>
    calls.patch(resource, Calls.targetOf(intent), bodyOf(resource, intent), options)
  const applyStatus = (resource: Resource.Any, object: KubeObject, status: object) => {
    const body = bodyOf(resource, { metadata: Calls.targetOf(object), status })
    return calls.subresource("status").patch(resource, Calls.targetOf(object), body, options)
  }
  // The id of a resource determines the type of its objects.
  return { apply, applyStatus } as unknown as Applier<A>
}
