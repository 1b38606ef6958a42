/**
 * Finalizers of a controller: the cleanup before an object is deleted. The stored object has the finalizers before the controller works on it,
 * so nothing that the controller does can be left behind; a finalizer is removed after its cleanup has succeeded, never after an error. A
 * cleanup runs once for a deletion, unless the process ends, or the server cannot be reached, between the cleanup and the removal of the
 * finalizer. A cache that is behind does not repeat it, because the server is asked first. So a cleanup must be idempotent.
 */
import * as Effect from "effect/Effect"
import type * as Access from "../../../kube/Access.ts"
import * as ApiError from "../../../kube/ApiError.ts"
import * as Finalizers from "../../../kube/finalizers.ts"
import type { KubeObject } from "../../../kube/Meta.ts"
import * as Patch from "../../../kube/Patch.ts"
import type * as Resource from "../../../kube/Resource.ts"
import type { Client } from "../reconcileContext.ts"
import * as Calls from "./calls.ts"
import { retryWhile } from "./calls.ts"

/** Which object, and its cleanup. */
export interface Finalizing<R, E, Req> {
  /** Its kind. */
  readonly resource: R
  /** The object from the cache. */
  readonly object: Resource.Object<R>
  /** The cleanup, by the name of the finalizer, `example.com/what-for`. In this order; all of them run even if one fails. */
  readonly finalizers: Readonly<Record<string, (object: Resource.Object<R>) => Effect.Effect<void, E, Req>>>
}

/**
 * The object to reconcile, with its finalizers; undefined when it is being deleted or gone, and there is nothing more to do. Needs
 * `Access.patch` of the kind. Fails with the first failure of a cleanup, after all have run, and with `Conflict` when the cache is behind.
 */
export const finalize = <
  A,
  R extends Access.KindsWith<"Access.patch(…) in access", A, "patch">,
  E = never,
  Req = never
>(
  client: Client<A>,
  options: Finalizing<R, E, Req>
): Effect.Effect<Resource.Object<R> | undefined, E | ApiError.ApiError, Req> => {
  const typed = options as unknown as Erased<E, Req>
  const store = storeOf(Calls.of(client), typed.resource, typed.object)
  const outcome = Finalizers.isDeleting(typed.object) ? finish(store, typed) : begin(store, typed)
  // The id of a resource determines the type of its objects.
  return Effect.map(outcome, (object) => object as Resource.Object<R> | undefined)
}

type Erased<E, Req> = Finalizing<Resource.Resource<KubeObject>, E, Req>

type Call<A> = Effect.Effect<A, ApiError.ApiError>

/** The object on the server. Undefined: it is gone, or another object has its name. */
interface Store {
  /** The object, if it still has the version that was read; otherwise it fails with `Conflict`. */
  readonly confirmed: Call<KubeObject | undefined>
  readonly current: Call<KubeObject | undefined>
  /** Writes the list of finalizers, if the object still has the version given. */
  readonly put: (object: KubeObject, names: ReadonlyArray<string>) => Call<KubeObject | undefined>
}

const storeOf = (calls: Calls.Calls, resource: Resource.Resource<KubeObject>, read: KubeObject): Store => {
  const target = Calls.targetOf(read)
  const { resourceVersion, uid } = read.metadata
  const patch = (metadata: object, dryRun: boolean) =>
    calls.patch(resource, target, Patch.merge({ metadata }), { dryRun }).pipe(
      Effect.map((object) => (object.metadata.uid === uid ? object : undefined)),
      Effect.catchReason("ApiError", "NotFound", () => Effect.undefined)
    )
  return {
    // A patch that changes nothing needs no further grant, and fails if the version differs.
    confirmed: patch({ resourceVersion }, true),
    current: patch({}, true),
    put: (object, finalizers) => patch({ resourceVersion: object.metadata.resourceVersion, finalizers }, false)
  }
}

const begin = <E, Req>(store: Store, { finalizers, object }: Erased<E, Req>): Call<KubeObject | undefined> => {
  const names = Finalizers.of(object)
  const wanted = Finalizers.add(names, ...Object.keys(finalizers))
  return wanted === names ? Effect.succeed(object) : store.put(object, wanted)
}

/** Ends without an object, or with the first failure of a cleanup. */
const finish = <E, Req>(
  store: Store,
  { finalizers, object: read }: Erased<E, Req>
): Effect.Effect<undefined, E | ApiError.ApiError, Req> =>
  Effect.gen(function* () {
    const mine = Object.entries(finalizers).filter(([name]) => Finalizers.has(read, name))
    const object = mine.length === 0 ? undefined : yield* store.confirmed
    if (object === undefined) return undefined
    const [, failures] = yield* Effect.partition(mine, ([name, work]) =>
      Effect.andThen(work(object), removeFinalizer(store, name))
    )
    for (const failure of failures) return yield* Effect.fail(failure)
    return undefined
  })

/** Retries conflicts and transient failures, because otherwise the cleanup would run again. */
const removeFinalizer = (store: Store, name: string): Call<void> =>
  retryWhile(
    Effect.flatMap(store.current, (object) =>
      object === undefined || !Finalizers.has(object, name)
        ? Effect.void
        : Effect.asVoid(store.put(object, Finalizers.remove(Finalizers.of(object), name)))
    ),
    (error) => ApiError.isTransient(error) || ApiError.hasReason(error, "Conflict")
  )
