/**
 * One sync of a Deployment: claims ReplicaSets, takes the snapshot, plans, applies, writes the status. A sync changes one
 * thing and then writes the status; the watch event of its own write triggers the next sync. Source:
 * pkg/controller/deployment: syncDeployment.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as ApiError from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import { Deployment, type ReplicaSet } from "../../kube/resources.ts"
import * as Selector from "../../kube/Selector.ts"
import * as Reconcile from "../../streams/reconcile/Reconcile.ts"
import * as Adopt from "../shared/workload/adopt.ts"
import * as Indexes from "../shared/workload/indexes.ts"
import * as StatusWriter from "../shared/workload/statusWriter.ts"
import * as Apply from "./apply.ts"
import type * as Conditions from "./conditions.ts"
import type { Deps } from "./deps.ts"
import * as NewReplicaSet from "./newReplicaSet.ts"
import * as Plan from "./plan/plan.ts"
import * as Progress from "./plan/progress.ts"
import * as Snapshot from "./snapshot.ts"
import * as Status from "./status.ts"

/**
 * A selector that cannot be parsed; retried with backoff. Source: pkg/controller/deployment:
 * getReplicaSetsForDeployment.
 */
export class InvalidSelector extends Data.TaggedError("InvalidSelector")<{
  readonly deployment: Key.Key
  readonly why: string
}> {
  override get message(): string {
    return `deployment ${this.deployment} has invalid label selector: ${this.why}`
  }
}

export type Failure = Apply.Failure | Adopt.ClaimError | InvalidSelector

export const sync = (deps: Deps) => {
  const terminatingReplicas = StatusWriter.keptField()
  return Effect.fnUntraced(function* (key: Key.Key): Effect.fn.Return<Reconcile.Outcome, Failure> {
    const deployment = deps.deployments.get(key)
    if (deployment === undefined) return Reconcile.done
    if (Plan.selectsEverything(deployment)) return yield* Effect.as(refuse(deps, deployment), Reconcile.done)
    const owned = yield* claim(deps, deployment)
    const recheck = yield* run(deps, terminatingReplicas, { deployment, owned })
    if (recheck?._tag === "After") return Reconcile.after(recheck.millis)
    if (recheck?._tag === "Soon") deps.queue.addWithUnsafe(key, { rateLimited: true })
    return Reconcile.done
  }, forgetInTerminatingNamespace)
}

/** Nothing can be created in a terminating namespace, and the Deployment will be deleted too. */
const forgetInTerminatingNamespace = <E, R>(
  outcome: Effect.Effect<Reconcile.Outcome, E, R>
): Effect.Effect<Reconcile.Outcome, E, R> =>
  Effect.catchIf(
    outcome,
    (error) => ApiError.isApiError(error) && ApiError.isNamespaceTerminating(error),
    () => Effect.succeed(Reconcile.done)
  )

/**
 * For a selector that selects every pod: an event, and nothing else. `observedGeneration` is written once per
 * generation.
 */
export const refuse = Effect.fnUntraced(function* (
  deps: Deps,
  deployment: Deployment
): Effect.fn.Return<void, ApiError.ApiError> {
  const message = "This deployment is selecting all pods. A non-empty selector is required."
  yield* deps.events.event(deployment, "Warning", "SelectingAll", message)
  const generation = deployment.metadata.generation ?? 0
  if ((deployment.status?.observedGeneration ?? 0) >= generation) return
  yield* deps.updateStatus({ ...deployment, status: { ...deployment.status, observedGeneration: generation } })
})

/** The ReplicaSets of the Deployment, after adoptions and releases. */
const claim = Effect.fnUntraced(function* (
  deps: Deps,
  deployment: Deployment
): Effect.fn.Return<ReadonlyArray<ReplicaSet>, Adopt.ClaimError | InvalidSelector> {
  const selector = Selector.fromSpec(deployment.spec?.selector ?? {})
  if (Result.isFailure(selector))
    return yield* new InvalidSelector({ deployment: Key.of(deployment), why: selector.failure })
  return yield* Adopt.claim(
    {
      owner: deployment,
      resource: Deployment,
      matches: (set: ReplicaSet) => Selector.matchesLabels(selector.success, set.metadata.labels),
      live: deps.live(deployment),
      patch: deps.patchSet
    },
    Indexes.candidates(deps.sets, deployment)
  )
})

interface Claimed {
  readonly deployment: Deployment
  /** The ReplicaSets that the Deployment controls. */
  readonly owned: ReadonlyArray<ReplicaSet>
}

/** `terminatingReplicas`: whether the server keeps that field. Returns when to check again without an event. */
export const run = Effect.fnUntraced(function* (
  deps: Deps,
  terminatingReplicas: StatusWriter.KeptField,
  { deployment, owned }: Claimed
): Effect.fn.Return<Progress.Recheck, Apply.Failure> {
  const now = yield* Clock.currentTimeMillis
  const isLeaving = deployment.metadata.deletionTimestamp !== undefined
  const paused = isLeaving
    ? deployment
    : yield* NewReplicaSet.writeChanged(deps, deployment, Progress.pause(deployment, now))
  const snapshot = yield* NewReplicaSet.update(deps, Snapshot.take(paused, owned, now))
  const plan = Plan.plan(snapshot)
  const done = yield* Apply.apply(deps, snapshot, plan)
  if (done === undefined) return undefined
  const recheck = yield* writeStatus(deps, terminatingReplicas, { snapshot: done.snapshot, plan })
  return done.failure === undefined ? recheck : yield* done.failure
})

interface Reporting {
  readonly snapshot: Snapshot.Snapshot
  readonly plan: Plan.Plan
}

/**
 * Writes the counts and, in a rollout, whether it progresses; returns when to check again if nothing was written, or if
 * the server, which may be too old for a field, stored nothing new. Progress is not judged while sizes change.
 */
const writeStatus = Effect.fnUntraced(function* (
  deps: Deps,
  terminatingReplicas: StatusWriter.KeptField,
  { plan, snapshot }: Reporting
): Effect.fn.Return<Progress.Recheck, ApiError.ApiError> {
  const { deployment, now } = snapshot
  const isJudged = plan._tag !== "Report" && plan._tag !== "Scale"
  const status = isJudged ? Status.status(snapshot) : Status.counted(snapshot)
  const written = yield* updateIfChanged(deps, terminatingReplicas, { deployment, status })
  return isJudged && written.metadata.resourceVersion === deployment.metadata.resourceVersion
    ? Progress.recheck(deployment, status, now)
    : undefined
})

/** Returns the Deployment as written, or the same object if its status is equal. */
const updateIfChanged = (
  { updateStatus }: Deps,
  terminatingReplicas: StatusWriter.KeptField,
  { deployment, status }: { readonly deployment: Deployment; readonly status: Conditions.Status }
): Effect.Effect<Deployment, ApiError.ApiError> =>
  Status.isSame(deployment.status ?? {}, status, terminatingReplicas.isKept())
    ? Effect.succeed(deployment)
    : Effect.tap(updateStatus({ ...deployment, status }), (written) =>
        Effect.sync(() => {
          terminatingReplicas.answered(status.terminatingReplicas, written.status?.terminatingReplicas)
        })
      )
