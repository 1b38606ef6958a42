/**
 * Objects by identity, on the server: read, patched, deleted, with the uid as a condition of every call, so that a namesake is
 * never touched. Only metadata travels. An object is absent when the server has said so of the object; a 404 that means "no such
 * kind" says nothing about it.
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
import type { DeleteOptions, KubeClient } from "../../layers/KubeClient.ts"
import type { Identity } from "./Identity.ts"
import * as Patches from "./patches.ts"

/** A cluster-scoped object cannot have an owner that lives in a namespace: nothing will ever make that reference right. */
export class MisplacedOwner extends Data.TaggedError("MisplacedOwner")<{ readonly kind: string }> {
  override get message(): string {
    return `a cluster-scoped object names an owner of the namespaced kind ${this.kind}: it is never collected`
  }
}

export type Failure = ApiError.ApiError | NotServed | MisplacedOwner
type Call<A> = Effect.Effect<A, Failure>

/** A kind, and the object of that uid, unless there is none. */
export interface Found {
  readonly clusterScoped: boolean
  readonly object: KubeObject | undefined
}

/** Whether the object was there. */
export type Outcome = "done" | "absent"

export interface Objects {
  readonly find: (identity: Identity) => Call<Found>
  /** Answers with the object as patched. */
  readonly patch: (identity: Identity, change: Patches.Change) => Call<KubeObject | "absent">
  /**
   * Deletes the object in the state that was judged. If it has changed since, but not its owners, the judgement still holds
   * and it is deleted as it is; if they have, it fails with a conflict.
   */
  readonly remove: (identity: Identity, judged: KubeObject, propagation: Propagation) => Call<Outcome>
  /** Nothing to do if the finalizer, or the object, is not there. */
  readonly removeFinalizer: (identity: Identity, finalizer: string) => Call<void>
}

export type Propagation = NonNullable<DeleteOptions["propagationPolicy"]>

/** A conflict says that another writer was faster: so many tries, quickly. Source: client-go retry.DefaultBackoff. */
const faster = { times: 3, schedule: Schedule.exponential(Duration.millis(10), 5) }

export const make = (client: KubeClient["Service"], discovery: Discovery["Service"]): Objects => {
  const locate = Effect.fnUntraced(function* ({ apiVersion, kind, name, namespace }: Identity) {
    const resource = yield* discovery.resourceFor({ ...parseVersion(apiVersion), kind })
    const clusterScoped = resource.scope === "Cluster"
    if (!clusterScoped && namespace === "") return yield* new MisplacedOwner({ kind })
    return {
      clusterScoped,
      resource: Resource.metadataOnly(resource),
      target: { name, namespace: clusterScoped ? undefined : namespace }
    }
  })

  const find = Effect.fnUntraced(function* (identity: Identity) {
    const { clusterScoped, resource, target } = yield* locate(identity)
    const object = yield* unlessAbsent(identity, client.get(resource, target))
    // Another uid: the name belongs to another object now.
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

  const remove = Effect.fnUntraced(function* (identity: Identity, judged: KubeObject, propagationPolicy: Propagation) {
    const { resource, target } = yield* locate(identity)
    const { uid } = identity
    const { resourceVersion } = judged.metadata
    const attempt = (preconditions: NonNullable<DeleteOptions["preconditions"]>) =>
      client.delete(resource, target, { propagationPolicy, preconditions })
    const again = (conflict: ApiError.ApiError) =>
      Effect.flatMap(client.get(resource, target), ({ metadata }) => {
        const holds =
          metadata.uid === uid &&
          metadata.resourceVersion !== resourceVersion &&
          Equal.equals(metadata.ownerReferences ?? [], judged.metadata.ownerReferences ?? [])
        return holds ? attempt({ uid }) : Effect.fail(conflict)
      })
    return yield* Effect.catchIf(attempt({ uid, resourceVersion }), isConflict, again)
  })

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
    remove: (identity, judged, propagation) =>
      Effect.map(unlessAbsent(identity, remove(identity, judged, propagation)), (answer) =>
        answer === "absent" ? answer : "done"
      ),
    removeFinalizer: (identity, finalizer) =>
      Effect.asVoid(
        unlessAbsent(
          identity,
          Effect.retry(removeFinalizer(identity, finalizer), {
            ...faster,
            while: (error) => error._tag === "ApiError" && isConflict(error)
          })
        )
      )
  }
}

const isConflict = (error: ApiError.ApiError): boolean => ApiError.hasReason(error, "Conflict")

/** `apps/v1`, `v1`. What is neither names no kind that a server could serve, and is looked for all the same. */
const parseVersion = (apiVersion: string): { readonly group: string; readonly version: string } => {
  const slash = apiVersion.indexOf("/")
  return { group: apiVersion.slice(0, Math.max(0, slash)), version: apiVersion.slice(slash + 1) }
}

/** Tells the absence of the object from that of its kind, which may come back with the objects in it. */
const unlessAbsent = <A, E extends Failure>(
  { apiVersion, kind }: Identity,
  call: Effect.Effect<A, E>
): Effect.Effect<A | "absent", Failure> =>
  Effect.catchIf(
    call,
    (error: Failure) => error._tag === "ApiError" && ApiError.hasReason(error, "NotFound"),
    (error) =>
      error._tag === "ApiError" && ApiError.isMissingResource(error)
        ? Effect.fail(new NotServed({ ...parseVersion(apiVersion), kind }))
        : Effect.succeed("absent" as const)
  )
