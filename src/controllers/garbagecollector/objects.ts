/**
 * Reads, patches and deletes objects by identity, with the uid as a precondition, so that an object recreated under the
 * same name is not touched. Only metadata is transferred. An object is absent after a 404 for the object; a 404 for an
 * unknown resource proves nothing.
 */
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Schedule from "effect/Schedule"
import * as ApiError from "../../kube/ApiError.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import type * as Patch from "../../kube/Patch.ts"
import * as Resource from "../../kube/Resource.ts"
import { type Discovery, NotServed } from "../../layers/Discovery.ts"
import type { DeleteOptions, KubeClient, Target } from "../../layers/KubeClient.ts"
import type { Identity } from "./identity.ts"
import * as Patches from "./patches.ts"

/** A cluster-scoped object cannot have a namespaced owner, so the reference can never be resolved. */
export class MisplacedOwner extends Data.TaggedError("MisplacedOwner")<{ readonly kind: string }> {
  override get message(): string {
    return `a cluster-scoped object has an owner of the namespaced kind ${this.kind}, so it is never collected`
  }
}

export type Failure = ApiError.ApiError | NotServed | MisplacedOwner
type Call<A> = Effect.Effect<A, Failure>

/** Where the server has an object. */
interface Place {
  readonly clusterScoped: boolean
  readonly resource: Resource.Any
  readonly target: Target
}

/** The scope of the resource, and the object with that uid if it exists. */
export interface Found {
  readonly clusterScoped: boolean
  readonly object: KubeObject | undefined
}

/** Whether the object existed. */
export type Outcome = "done" | "absent"

export interface Objects {
  readonly find: (identity: Identity) => Call<Found>
  /** Returns the patched object. */
  readonly patch: (identity: Identity, change: Patches.Change) => Call<KubeObject | "absent">
  /**
   * Deletes the object in the state that was judged. After a conflict it is deleted as it is now if its owner
   * references are unchanged; otherwise the conflict is the failure.
   */
  readonly remove: (identity: Identity, judged: KubeObject, propagation: Propagation) => Call<Outcome>
  /** Deletes the object only in the state that was judged; otherwise it is `changed`. */
  readonly removeUnchanged: (
    identity: Identity,
    judged: KubeObject,
    propagation: Propagation
  ) => Call<Outcome | "changed">
  /** Does nothing if the object or the finalizer is absent. */
  readonly removeFinalizer: (identity: Identity, finalizer: string) => Call<void>
}

export type Propagation = NonNullable<DeleteOptions["propagationPolicy"]>

/** Retries of a conflict with another writer. Source: client-go util/retry: DefaultBackoff. */
const conflictRetry = { times: 3, schedule: Schedule.exponential(Duration.millis(10), 5) }

export const make = (client: KubeClient["Service"], discovery: Discovery["Service"]): Objects => {
  // Neither this nor a deletion is a generator: a cascade does little else.
  const locate = ({ apiVersion, kind, name, namespace }: Identity): Call<Place> =>
    Effect.flatMap(discovery.resourceFor({ ...parseVersion(apiVersion), kind }), (resource): Call<Place> => {
      const clusterScoped = resource.scope === "Cluster"
      if (!clusterScoped && namespace === "") return Effect.fail(new MisplacedOwner({ kind }))
      return Effect.succeed({
        clusterScoped,
        resource: Resource.metadataOnly(resource),
        target: { name, namespace: clusterScoped ? undefined : namespace }
      })
    })

  const find = Effect.fnUntraced(function* (identity: Identity) {
    const { clusterScoped, resource, target } = yield* locate(identity)
    const object = yield* unlessAbsent(identity, client.get(resource, target))
    // Another uid: the object was recreated.
    const isSame = object !== "absent" && object.metadata.uid === identity.uid
    return { clusterScoped, object: isSame ? object : undefined }
  })

  const send = Effect.fnUntraced(function* (identity: Identity, patch: Patch.Patch) {
    const { resource, target } = yield* locate(identity)
    return yield* client.patch(resource, target, patch)
  })

  const patchLive = Effect.fnUntraced(function* (identity: Identity, change: Patches.Change) {
    const { object } = yield* find(identity)
    return object === undefined ? ("absent" as const) : yield* send(identity, change.merge(object))
  })

  const attempt = (
    identity: Identity,
    propagationPolicy: Propagation,
    preconditions: NonNullable<DeleteOptions["preconditions"]>
  ): Call<"done"> =>
    Effect.flatMap(locate(identity), ({ resource, target }) =>
      Effect.as(client.delete(resource, target, { propagationPolicy, preconditions, returns: "nothing" }), "done")
    )

  const removeUnchanged = (identity: Identity, { metadata: { resourceVersion } }: KubeObject, policy: Propagation) =>
    attempt(identity, policy, { uid: identity.uid, resourceVersion })

  const remove = (identity: Identity, judged: KubeObject, propagation: Propagation) =>
    Effect.catchIf(removeUnchanged(identity, judged, propagation), isConflict, (conflict) =>
      Effect.flatMap(find(identity), ({ object }): Call<Outcome> => {
        if (object === undefined) return Effect.succeed("absent")
        const holds =
          object.metadata.resourceVersion !== judged.metadata.resourceVersion &&
          Equal.equals(object.metadata.ownerReferences ?? [], judged.metadata.ownerReferences ?? [])
        return holds ? attempt(identity, propagation, { uid: identity.uid }) : Effect.fail(conflict)
      })
    )

  const removeFinalizer = Effect.fnUntraced(function* (identity: Identity, finalizer: string) {
    const { object } = yield* find(identity)
    if (object?.metadata.finalizers?.includes(finalizer) !== true) return
    yield* send(identity, Patches.withoutFinalizer(object, finalizer))
  })

  return {
    find,
    patch: (identity, change) =>
      unlessAbsent(
        identity,
        Effect.catchIf(
          send(identity, change.strategic),
          (error) => error._tag === "ApiError" && ApiError.hasReason(error, "UnsupportedMediaType"),
          () => patchLive(identity, change)
        )
      ),
    remove: (identity, judged, propagation) => unlessAbsent(identity, remove(identity, judged, propagation)),
    removeUnchanged: (identity, judged, propagation) =>
      Effect.catch(removeUnchanged(identity, judged, propagation), (error): Call<"absent" | "changed"> =>
        isConflict(error) ? Effect.succeed("changed") : orAbsent(identity, error)
      ),
    removeFinalizer: (identity, finalizer) =>
      Effect.asVoid(
        unlessAbsent(
          identity,
          Effect.retry(removeFinalizer(identity, finalizer), {
            ...conflictRetry,
            while: isConflict
          })
        )
      )
  }
}

const isConflict = (error: Failure): boolean => error._tag === "ApiError" && ApiError.hasReason(error, "Conflict")

/** `apps/v1` or `v1`. Any other text is looked up too, and not found. */
const parseVersion = (apiVersion: string): { readonly group: string; readonly version: string } => {
  const slash = apiVersion.indexOf("/")
  return { group: apiVersion.slice(0, Math.max(0, slash)), version: apiVersion.slice(slash + 1) }
}

/** Separates an absent object from an absent resource, which may be served again with its objects. */
const unlessAbsent = <A, E extends Failure>(
  identity: Identity,
  call: Effect.Effect<A, E>
): Effect.Effect<A | "absent", Failure> => Effect.catch(call, (error) => orAbsent(identity, error))

const orAbsent = ({ apiVersion, kind }: Identity, error: Failure): Call<"absent"> =>
  error._tag !== "ApiError" || !ApiError.hasReason(error, "NotFound")
    ? Effect.fail(error)
    : ApiError.isMissingResource(error)
      ? Effect.fail(new NotServed({ ...parseVersion(apiVersion), kind }))
      : Effect.succeed("absent")
