/**
 * Brings one object into the wanted state, by a function from what there is to what there should be, and writes only when the two do
 * not mean the same. It reads from the cache and writes against the version it read: when the cache is behind it fails with `Conflict` or
 * `AlreadyExists`, and the reconcile runs again. Prefer `applier`, which needs no read and shares objects field by field.
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

/** What was done, and the object as it is now. */
export interface Written<A> {
  /** What was written. */
  readonly result: "unchanged" | "created" | "updated"
  /** As the server has it now. */
  readonly object: A
}

type ReadAndWritten<A> = Extract<
  Extract<Access.Granted<A, "create">, Access.Granted<A, "update">>,
  Access.Granted<A, "read">
>

type DraftOf<R> = R extends Resource.Resource<infer A> ? Draft<A> : never

/** Which object, and what it should be. */
export interface Wanted<R> {
  /** Its kind. */
  readonly resource: R
  /** Absent for cluster-scoped kinds. */
  readonly namespace?: string | undefined
  /** Its name. */
  readonly name: string
  /**
   * The whole object as it should be, made from the one there is, or from nothing. A field that it leaves out is taken away, except in the
   * metadata, where it stays. Version, identity and status are not its business. It must not say another name or namespace: that fails, and
   * is not tried again.
   */
  readonly mutate: (current: Resource.Object<R> | undefined) => DraftOf<R>
}

/**
 * Brings one object into the wanted state and says what it took; to want what there is writes nothing. Needs `read`, `create` and `update` of
 * the kind. Fails with `Conflict` or `AlreadyExists` when another writer was faster, which the next run repairs; terminally when another name is wanted.
 */
export const createOrUpdate = <A, R extends ReadAndWritten<A>>(
  { cache, client }: Pick<ReconcileContext<A>, "cache" | "client">,
  wanted: Wanted<R>
): Effect.Effect<Written<Resource.Object<R>>, ApiError | Reconcile.TerminalError> =>
  Effect.gen(function* () {
    const current = yield* cache.get(wanted.resource, Key.make(wanted.namespace, wanted.name))
    const step = plan(wanted, current, wanted.mutate(current))
    const resource = wanted.resource as Resource.Resource<KubeObject>
    // The id of a resource determines the type of its objects.
    return (yield* carryOut(Calls.of(client), resource, step)) as Written<Resource.Object<R>>
  })

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

/** What follows from the object there is and the one that is wanted. Total; after its own update it has nothing more to do. */
export const plan = (
  { name, namespace }: Pick<Wanted<unknown>, "name" | "namespace">,
  current: KubeObject | undefined,
  draft: Draft<KubeObject>
): Step => {
  const said = draft.metadata
  if ((said.name ?? name) !== name || (said.namespace ?? namespace) !== namespace) {
    const key = Key.make(said.namespace ?? namespace, said.name ?? name)
    return {
      _tag: "Refuse",
      why: `mutate made ${key} of ${Key.make(namespace, name)}: it must not change the name or the namespace`
    }
  }
  const place = { name, ...(namespace === undefined ? {} : { namespace }) }
  if (current === undefined) return { _tag: "Create", draft: { ...draft, metadata: { ...said, ...place } } }
  const { resourceVersion, uid } = current.metadata
  const identity = {
    ...place,
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion })
  }
  const object = { ...draft, metadata: { ...current.metadata, ...said, ...identity } }
  return isSame(current, object) ? { _tag: "Nothing", object: current } : { _tag: "Update", object }
}

/** Whether an update would change anything that an update can change. */
const isSame = (current: KubeObject, object: KubeObject): boolean =>
  Equality.equal(comparable(current), comparable(object))

/** Kind and version are the client's, the status has its own endpoint, and of the metadata most is the server's. */
const comparable = (object: KubeObject & { readonly status?: unknown }): object => {
  const { apiVersion: _, kind: _2, metadata, status: _3, ...rest } = object
  const { annotations, finalizers, labels, ownerReferences } = metadata
  return { ...rest, metadata: { annotations, finalizers, labels, ownerReferences } }
}
