/**
 * Server-side apply: a controller says which fields it wants, the server knows whose each field is, and what the controller no longer
 * names is taken away. Each controller applies under its own name, the field manager, and takes fields over from others unless
 * configured not to. Nothing is read first, and applying the same again changes nothing.
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
  /** Its name, and the labels, annotations and owners that are wanted. */
  readonly metadata: Omit<Partial<ObjectMeta>, "name" | "namespace"> & {
    readonly name: string
    /** Absent for cluster-scoped kinds. */
    readonly namespace?: string | undefined
  }
}

type IntentOf<R> = R extends Resource.Resource<infer A> ? Intent<A> : never

type StatusOf<R> = Resource.Object<R> extends { readonly status?: infer S } ? Partial<NonNullable<S>> : object

/** Server-side apply for one controller. */
export interface Applier<A> {
  /**
   * Creates what is not there, so it needs `Access.create` and `Access.patch` of the kind, as the API server does. Fails with `Conflict`
   * only without `force`; the error names whose the fields are.
   */
  readonly apply: <R extends Extract<Access.Granted<A, "patch">, Access.Granted<A, "create">>>(
    resource: R,
    intent: IntentOf<R>
  ) => Effect.Effect<Resource.Object<R>, ApiError>
  /** The status of an object that is there. Needs `Access.patch` of the subresource `status`. */
  readonly applyStatus: <R extends Access.Granted<A, "patch", "status">>(
    resource: R,
    object: KubeObject,
    status: StatusOf<R>
  ) => Effect.Effect<Resource.Object<R>, ApiError>
}

/** How it is applied. */
export interface ApplierOptions {
  /**
   * Under which name the fields are the controller's; its own unless said otherwise. Two that apply under one name take fields from each
   * other.
   */
  readonly fieldManager?: string | undefined
  /** Whether fields of other managers are taken over. True unless said otherwise. */
  readonly force?: boolean | undefined
}

/** Server-side apply with a controller's client: `const { apply, applyStatus } = applier(client)`. */
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
