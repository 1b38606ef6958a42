/**
 * Finalizers of a controller: what has to be done before an object may go. The names are on the stored object before the controller is
 * given it to work on, so nothing it does can be left behind; a name is taken off after its work has succeeded, never on an error. Each
 * work is done once for a deletion unless the process ends, or the server cannot be reached, between the work and the record of it;
 * a cache that is behind does not repeat it, because the server is asked first. So it must bear being repeated, but rarely is.
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

/** Which object, and what has to be done before it goes. */
export interface Finalizing<R, E, Req> {
  /** Its kind. */
  readonly resource: R
  /** As the cache has it. */
  readonly object: Resource.Object<R>
  /** By name, `example.com/what-for`: what to do before the object goes. In this order; all are tried even if one fails. */
  readonly finalizers: Readonly<Record<string, (object: Resource.Object<R>) => Effect.Effect<void, E, Req>>>
}

/**
 * The object to work on, with the finalizers on it; undefined when it is being deleted or gone, and there is nothing more to do. Needs
 * `Access.patch` of the kind. Fails with what the first work failed with, after the others; with `Conflict` when the cache is behind.
 */
export const finalize = <A, R extends Access.Granted<A, "patch">, E = never, Req = never>(
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

/** One object on the server. Undefined: it is gone, or another one has its name. */
interface Store {
  /** The object as it is now, if it still is what was read. */
  readonly confirmed: Call<KubeObject | undefined>
  readonly current: Call<KubeObject | undefined>
  /** Writes the list, if the object is still the one given. */
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
    // A patch that changes nothing needs no grant but the one there is, and fails if the version is another.
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

/** Ends without an object, or with the failure of what was tried first. */
const finish = <E, Req>(
  store: Store,
  { finalizers, object: read }: Erased<E, Req>
): Effect.Effect<undefined, E | ApiError.ApiError, Req> =>
  Effect.gen(function* () {
    const mine = Object.entries(finalizers).filter(([name]) => Finalizers.has(read, name))
    const object = mine.length === 0 ? undefined : yield* store.confirmed
    if (object === undefined) return undefined
    const [, failures] = yield* Effect.partition(mine, ([name, work]) =>
      Effect.andThen(work(object), takeOff(store, name))
    )
    for (const failure of failures) return yield* Effect.fail(failure)
    return undefined
  })

/** Does not give up at the first difficulty: then the work would be done again. */
const takeOff = (store: Store, name: string): Call<void> =>
  retryWhile(
    Effect.flatMap(store.current, (object) =>
      object === undefined || !Finalizers.has(object, name)
        ? Effect.void
        : Effect.asVoid(store.put(object, Finalizers.remove(Finalizers.of(object), name)))
    ),
    (error) => ApiError.isTransient(error) || ApiError.hasReason(error, "Conflict")
  )
