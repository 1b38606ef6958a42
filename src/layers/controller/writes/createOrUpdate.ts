/**
 * Brings one object into the desired state, with a function from the present object to the desired one, and writes only when the two differ
 * in meaning. It reads from the cache and writes with the version that it read: when the cache is behind it fails with `Conflict` or
 * `AlreadyExists`, and the reconcile runs again. Prefer `applier`, which needs no read and manages single fields.
 * Source: controller-runtime controllerutil.CreateOrUpdate.
 */
import * as Effect from "effect/Effect"
import type * as Access from "../../../kube/Access.ts"
import type { ApiError } from "../../../kube/ApiError.ts"
import * as Equality from "../../../kube/equality.ts"
import * as Key from "../../../kube/Key.ts"
import type { Draft, KubeObject } from "../../../kube/Meta.ts"
import type * as Resource from "../../../kube/Resource.ts"
import * as Reconcile from "../../../streams/reconcile/Reconcile.ts"
import type { ReconcileContext } from "../reconcileContext.ts"
import * as Calls from "./calls.ts"

/** The result: what was written, and the object. */
export interface Written<A> {
  /** What was written. */
  readonly result: "unchanged" | "created" | "updated"
  /** The object as it is now. */
  readonly object: A
}

type ReadAndWritten<A> =
  | Extract<Extract<Access.Granted<A, "create">, Access.Granted<A, "update">>, Access.Granted<A, "read">>
  | Access.Missing<"Access.read(…), Access.create(…) and Access.update(…) in access">

type DraftOf<R> = R extends Resource.Resource<infer A> ? Draft<A> : never

/** Which object, and its desired state. */
export interface Wanted<R> {
  /** Its kind. */
  readonly resource: R
  /** Absent for cluster-scoped kinds. */
  readonly namespace?: string | undefined
  /** Its name. */
  readonly name: string
  /**
   * Makes the desired object from the present one, or from undefined. A field that it leaves out is removed, except in the metadata, where it
   * stays. It does not have to set the version, uid and status. Another name or namespace is a failure that is not retried.
   */
  readonly mutate: (current: Resource.Object<R> | undefined) => DraftOf<R>
}

/**
 * Brings one object into the desired state and returns what it wrote; it writes nothing when the object is in that state. Needs `read`, `create`
 * and `update` of the kind. Fails with `Conflict` or `AlreadyExists` when another writer was faster, which the next run repairs, and with a
 * terminal failure for another name.
 */
export const createOrUpdate = <A, R extends ReadAndWritten<A>>(
  { cache, client }: Pick<ReconcileContext<A>, "cache" | "client">,
  wanted: Wanted<R>
): Effect.Effect<Written<Resource.Object<R>>, ApiError | Reconcile.TerminalError> =>
  Effect.gen(function* () {
    const current = yield* (cache as unknown as AnyReader<R>).get(
      wanted.resource,
      Key.make(wanted.namespace, wanted.name)
    )
    const step = plan(wanted, current, wanted.mutate(current))
    const resource = wanted.resource as Resource.Resource<KubeObject>
    // The id of a resource determines the type of its objects.
    return (yield* carryOut(Calls.of(client), resource, step)) as Written<Resource.Object<R>>
  })

/** `ReadAndWritten` admits only kinds that may be read. */
interface AnyReader<R> {
  readonly get: (resource: R, key: Key.Key) => Effect.Effect<Resource.Object<R> | undefined>
}

const carryOut = (
  calls: Calls.Calls,
  resource: Resource.Resource<KubeObject>,
  step: Step
): Effect.Effect<Written<KubeObject>, ApiError | Reconcile.TerminalError> => {
  switch (step._tag) {
    case "Refuse":
      return Effect.fail(Reconcile.terminal(new Error(step.why)))
    case "Nothing":
      return Effect.succeed({ result: "unchanged", object: step.object })
    case "Create":
      return Effect.map(calls.create(resource, step.draft), (object) => ({ result: "created", object }))
    case "Update":
      return Effect.map(calls.update(resource, step.object), (object) => ({ result: "updated", object }))
  }
}

type Step =
  | { readonly _tag: "Refuse"; readonly why: string }
  | { readonly _tag: "Nothing"; readonly object: KubeObject }
  | { readonly _tag: "Create"; readonly draft: Draft<KubeObject> }
  | { readonly _tag: "Update"; readonly object: KubeObject }

/** The next step from the present object and the desired one. Pure; after its own update there is no further step. */
export const plan = (
  { name, namespace }: Pick<Wanted<unknown>, "name" | "namespace">,
  current: KubeObject | undefined,
  draft: Draft<KubeObject>
): Step => {
  const desired = draft.metadata
  if ((desired.name ?? name) !== name || (desired.namespace ?? namespace) !== namespace) {
    const key = Key.make(desired.namespace ?? namespace, desired.name ?? name)
    return {
      _tag: "Refuse",
      why: `mutate made ${key} of ${Key.make(namespace, name)}: it must not change the name or the namespace`
    }
  }
  const place = { name, ...(namespace === undefined ? {} : { namespace }) }
  if (current === undefined) return { _tag: "Create", draft: { ...draft, metadata: { ...desired, ...place } } }
  const { resourceVersion, uid } = current.metadata
  const identity = {
    ...place,
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion })
  }
  const object = { ...draft, metadata: { ...current.metadata, ...desired, ...identity } }
  return isSame(current, object) ? { _tag: "Nothing", object: current } : { _tag: "Update", object }
}

/** Whether an update would change any field that an update can change. */
const isSame = (current: KubeObject, object: KubeObject): boolean =>
  Equality.equal(comparable(current), comparable(object))

/** The client sets kind and apiVersion, the status is a subresource, and the server sets most of the metadata. */
const comparable = (object: KubeObject & { readonly status?: unknown }): object => {
  const { apiVersion: _, kind: _2, metadata, status: _3, ...rest } = object
  const { annotations, finalizers, labels, ownerReferences } = metadata
  return { ...rest, metadata: { annotations, finalizers, labels, ownerReferences } }
}
