/**
 * Claims dependents for an owner: adopts matching orphans and releases dependents that no longer match. The decision is pure (`plan`); `claim` makes
 * the writes. Before the first adoption of a sync the owner is read from the server, once; if it is gone or being deleted, nothing is adopted.
 * Source: pkg/controller: BaseControllerRefManager, RecheckDeletionTimestamp.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { aggregate } from "../../../kube/ApiError.ts"
import * as ApiError from "../../../kube/ApiError.ts"
import type { KubeObject } from "../../../kube/Meta.ts"
import * as Owner from "../../../kube/Owner.ts"
import * as Patch from "../../../kube/Patch.ts"
import type * as Resource from "../../../kube/Resource.ts"

export interface Claiming<in A> {
  readonly owner: KubeObject
  /** The kind of the owner, as its references name it. */
  readonly resource: Resource.Any
  /** Selector and whatever else makes an object one of this owner's. */
  readonly matches: (object: A) => boolean
}

/** Disjoint, each in the order of the candidates; what is in none is left alone. */
export interface Plan<out A> {
  readonly claimed: ReadonlyArray<A>
  readonly adopt: ReadonlyArray<A>
  readonly release: ReadonlyArray<A>
}

type Verdict = "claimed" | "adopt" | "release" | "ignore"

const verdict = <A extends KubeObject>({ matches, owner }: Claiming<A>, object: A): Verdict => {
  const controller = Owner.controllerOf(object)
  const leaving = owner.metadata.deletionTimestamp !== undefined
  if (controller !== undefined) {
    if (controller.uid !== owner.metadata.uid) return "ignore"
    if (matches(object)) return "claimed"
    return leaving ? "ignore" : "release"
  }
  if (leaving || object.metadata.deletionTimestamp !== undefined || !matches(object)) return "ignore"
  const namespace = owner.metadata.namespace
  return namespace === undefined || namespace === object.metadata.namespace ? "adopt" : "ignore"
}

export const plan = <A extends KubeObject>(claiming: Claiming<A>, candidates: ReadonlyArray<A>): Plan<A> => {
  const found: Record<Verdict, Array<A>> = { claimed: [], adopt: [], release: [], ignore: [] }
  for (const object of candidates) found[verdict(claiming, object)].push(object)
  return found
}

/** The live read of the owner: another object has its name, or it is being deleted. */
export class OwnerGone extends Data.TaggedError("OwnerGone")<{ readonly message: string }> {}

/** Why one object could not be adopted or released. `cause` is undefined when the owner was gone. */
export interface ClaimFailure {
  readonly message: string
  readonly cause: ApiError.ApiError | undefined
}

/** All failures of one claim; the other objects were handled. */
export class ClaimError extends Data.TaggedError("ClaimError")<{ readonly failures: ReadonlyArray<ClaimFailure> }> {
  override get message(): string {
    return aggregate(this.failures.map((refusal) => refusal.message))
  }
}

export interface Claim<A> extends Claiming<A> {
  /** The owner as the server has it now; asked at most once, and only if something is to be adopted. */
  readonly live: Effect.Effect<KubeObject, ApiError.ApiError>
  /** Applies a patch to a dependent and answers with the new state. */
  readonly patch: (object: A, patch: Patch.Patch) => Effect.Effect<A, ApiError.ApiError>
  /** Added with an adoption and removed with a release. */
  readonly finalizers?: ReadonlyArray<string> | undefined
}

/**
 * Adopts and releases, and returns what the owner has then, in the order of the candidates; an adopted object as the patch returned it. An object
 * that is gone is not a failure. Every object is tried before the claim fails.
 */
export const claim = <A extends KubeObject>(
  claiming: Claim<A>,
  candidates: ReadonlyArray<A>
): Effect.Effect<ReadonlyArray<A>, ClaimError> => {
  const { adopt, claimed, release } = plan(claiming, candidates)
  // Most syncs change no owner.
  return adopt.length === 0 && release.length === 0 ? Effect.succeed(claimed) : carryOut(claiming, candidates)
}

const carryOut = Effect.fnUntraced(function* <A extends KubeObject>(
  claiming: Claim<A>,
  candidates: ReadonlyArray<A>
): Effect.fn.Return<ReadonlyArray<A>, ClaimError> {
  let asked: Result.Result<void, ApiError.ApiError | OwnerGone> | undefined
  const claimed: Array<A> = []
  const failures: Array<ClaimFailure> = []
  for (const object of candidates) {
    const decided = verdict(claiming, object)
    if (decided === "claimed") claimed.push(object)
    else if (decided === "release") {
      const released = yield* Effect.result(claiming.patch(object, releasing(claiming, object)))
      if (Result.isFailure(released) && !ApiError.hasReason(released.failure, "NotFound", "Invalid"))
        failures.push({ message: released.failure.message, cause: released.failure })
    } else if (decided === "adopt") {
      asked ??= yield* Effect.result(mayAdopt(claiming))
      if (Result.isFailure(asked)) {
        failures.push(claimFailure(object, asked.failure))
        continue
      }
      const adopted = yield* Effect.result(claiming.patch(object, adopting(claiming, object)))
      if (Result.isSuccess(adopted)) claimed.push(adopted.success)
      else if (!ApiError.hasReason(adopted.failure, "NotFound"))
        failures.push({ message: adopted.failure.message, cause: adopted.failure })
    }
  }
  return failures.length === 0 ? claimed : yield* new ClaimError({ failures })
})

/** What of a claim does not depend on the kind of the dependents. */
type Owning = Pick<Claim<KubeObject>, "owner" | "resource" | "live" | "finalizers">

/** Succeeds if the owner still exists under its uid and is not being deleted. */
const mayAdopt = ({ live, owner, resource }: Owning): Effect.Effect<void, ApiError.ApiError | OwnerGone> =>
  Effect.flatMap(live, ({ metadata }) => {
    const name = `${owner.metadata.namespace ?? ""}/${owner.metadata.name}`
    if (metadata.uid !== owner.metadata.uid) {
      const found = `got uid ${metadata.uid}, wanted ${owner.metadata.uid}`
      return Effect.fail(new OwnerGone({ message: `original ${resource.kind} ${name} is gone: ${found}` }))
    }
    return metadata.deletionTimestamp === undefined
      ? Effect.void
      : Effect.fail(new OwnerGone({ message: `${name} has just been deleted at ${metadata.deletionTimestamp}` }))
  })

const claimFailure = (object: KubeObject, failure: ApiError.ApiError | OwnerGone): ClaimFailure => {
  const { name, namespace = "", uid } = object.metadata
  return {
    message: `can't adopt ${object.kind ?? "object"} ${namespace}/${name} (${uid}): ${failure.message}`,
    cause: ApiError.isApiError(failure) ? failure : undefined
  }
}

/** The uid in the body is a precondition: a namesake of the dependent is answered with a conflict. */
const adopting = ({ finalizers = [], owner, resource }: Owning, object: KubeObject): Patch.Patch =>
  Patch.strategic({
    metadata: {
      uid: object.metadata.uid,
      ownerReferences: [Owner.reference(resource, owner)],
      ...(finalizers.length === 0 ? {} : { finalizers })
    }
  })

const releasing = ({ finalizers = [], owner }: Owning, object: KubeObject): Patch.Patch =>
  Patch.strategic({
    metadata: {
      uid: object.metadata.uid,
      ownerReferences: [{ $patch: "delete", uid: owner.metadata.uid }],
      ...(finalizers.length === 0 ? {} : { "$deleteFromPrimitiveList/finalizers": finalizers })
    }
  })
