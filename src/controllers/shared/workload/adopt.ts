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
  /** Whether the selector, and any further rule of the kind, select the object. */
  readonly matches: (object: A) => boolean
}

/** Disjoint lists, each in the order of the candidates. An object that is in none of them is not changed. */
export interface Plan<out A> {
  readonly claimed: ReadonlyArray<A>
  readonly adopt: ReadonlyArray<A>
  readonly release: ReadonlyArray<A>
}

type Verdict = "claimed" | "adopt" | "release" | "ignore"

const verdict = <A extends KubeObject>({ matches, owner }: Claiming<A>, object: A): Verdict => {
  const controller = Owner.controllerOf(object)
  const isTerminating = owner.metadata.deletionTimestamp !== undefined
  if (controller !== undefined) {
    if (controller.uid !== owner.metadata.uid) return "ignore"
    if (matches(object)) return "claimed"
    return isTerminating ? "ignore" : "release"
  }
  if (isTerminating || object.metadata.deletionTimestamp !== undefined || !matches(object)) return "ignore"
  const namespace = owner.metadata.namespace
  return namespace === undefined || namespace === object.metadata.namespace ? "adopt" : "ignore"
}

export const plan = <A extends KubeObject>(claiming: Claiming<A>, candidates: ReadonlyArray<A>): Plan<A> => {
  const found: Record<Verdict, Array<A>> = { claimed: [], adopt: [], release: [], ignore: [] }
  for (const object of candidates) found[verdict(claiming, object)].push(object)
  return found
}

/** On the server, the owner is being deleted, or another object has its name. */
export class OwnerGone extends Data.TaggedError("OwnerGone")<{ readonly message: string }> {}

/** Why one object could not be adopted or released. `cause` is undefined when the owner was gone. */
export interface ClaimFailure {
  readonly message: string
  readonly cause: ApiError.ApiError | undefined
}

/** All failures of one claim; the other objects were handled. */
export class ClaimError extends Data.TaggedError("ClaimError")<{ readonly failures: ReadonlyArray<ClaimFailure> }> {
  override get message(): string {
    return aggregate(this.failures.map((failure) => failure.message))
  }
}

export interface Claim<A> extends Claiming<A> {
  /** Reads the owner from the server; run at most once, and only before an adoption. */
  readonly live: Effect.Effect<KubeObject, ApiError.ApiError>
  /** Applies a patch to a dependent and returns the new state. */
  readonly patch: (object: A, patch: Patch.Patch) => Effect.Effect<A, ApiError.ApiError>
  /** Added with an adoption and removed with a release. */
  readonly finalizers?: ReadonlyArray<string> | undefined
}

/**
 * Adopts and releases, and returns the owner's dependents in the order of the candidates, an adopted one as the patch returned it. An object that
 * does not exist any more is not a failure. The claim fails only after all candidates were handled.
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
  let liveCheck: Result.Result<void, ApiError.ApiError | OwnerGone> | undefined
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
      liveCheck ??= yield* Effect.result(mayAdopt(claiming))
      if (Result.isFailure(liveCheck)) {
        failures.push(claimFailure(object, liveCheck.failure))
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

/** The part of a claim that does not depend on the kind of the dependents. */
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

/** The uid in the body is a precondition: the server answers with a conflict if another object has the dependent's name by now. */
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
