/**
 * Applies a plan: updates the scale, records events, writes the status and the history. After a conflict the scale is
 * read again; if another client has changed the size, the update fails and the next reconciliation decides. Source:
 * pkg/controller/podautoscaler: reconcileAutoscaler.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as ApiError from "../../kube/ApiError.ts"
import type { HorizontalPodAutoscaler } from "../../kube/resources.ts"
import type { Failure, Scale, Scales, Target } from "../shared/scale/scales.ts"
import type { Deps } from "./deps.ts"
import * as Metrics from "./metrics.ts"
import * as History from "./plan/history.ts"
import type { Plan } from "./plan/plan.ts"
import * as Spec from "./plan/spec.ts"
import type { Snapshot } from "./snapshot.ts"
import type { State } from "./state.ts"
import * as Status from "./status.ts"

/** The outcome of a reconciliation. */
export interface Outcome {
  readonly action: Metrics.Action
  readonly fault: Metrics.Fault
  /** A failure although the size may have been changed. */
  readonly failure: string | undefined
}

/** The reconciliation failed; the message is logged. */
export class ReconcileError extends Data.TaggedError("ReconcileError")<{
  readonly message: string
  readonly fault: Metrics.Fault
  /** What was done before the failure. Default: nothing. */
  readonly done?: Metrics.Action
}> {
  get action(): Metrics.Action {
    return this.done ?? "none"
  }
}

export interface Rescale {
  readonly snapshot: Snapshot
  readonly scale: Scale
  readonly plan: Plan
  /** Conditions from before the plan. */
  readonly claims: ReadonlyArray<Status.Claim>
}

const sizeOf = ({ spec }: Scale): number => spec?.replicas ?? 0

export const apply = Effect.fnUntraced(function* (deps: Deps, state: State, rescale: Rescale) {
  const { snapshot, plan, scale } = rescale
  for (const { message, reason } of plan.warnings) yield* deps.events.warning(snapshot.autoscaler, reason, message)
  if (plan.desired === undefined) return yield* undecided(deps, rescale)
  const current = sizeOf(scale)
  const { desired, failure } = plan
  const isRescaled = desired !== current
  const zero = zeroClaims(state, rescale, desired)
  const autoscaler = isRescaled ? yield* resize(deps, state, { ...rescale, desired, zero }) : snapshot.autoscaler
  yield* Metrics.desired(autoscaler, desired)
  const action = Metrics.actionOf(current, desired)
  const written = writeStatus(deps, autoscaler, {
    claims: [...rescale.claims, ...plan.claims, ...(isRescaled ? [rescaled(desired)] : []), ...zero],
    // With the gate off the condition is removed.
    dropped: state.settings.scalesToZero ? [] : ["ScaledToZero"],
    observed: { replicas: current, metrics: plan.metrics },
    desired,
    isRescaled,
    now: snapshot.now
  })
  yield* Effect.mapError(written, ({ fault, message }) => new ReconcileError({ message, fault, done: action }))
  return { action, fault: failure === undefined ? "none" : "internal", failure } satisfies Outcome
})

/** The desired replicas could not be determined. */
const undecided = Effect.fnUntraced(function* (deps: Deps, { claims, snapshot, plan, scale }: Rescale) {
  const { autoscaler, now, reference } = snapshot
  const observed = { replicas: sizeOf(scale), metrics: plan.metrics }
  yield* Effect.ignore(writeStatus(deps, autoscaler, { claims: [...claims, ...plan.claims], observed, now }))
  const why = plan.failure ?? "there are no metrics"
  yield* deps.events.warning(autoscaler, "FailedComputeMetricsReplicas", why)
  // The message about all metrics does not keep a metric's kind of fault, as upstream.
  return yield* new ReconcileError({ message: undecidedText(reference, why), fault: "internal" })
})

const rescaled = (replicas: number): Status.Claim => ({
  type: "AbleToScale",
  status: true,
  reason: "SucceededRescale",
  message: `the HPA controller was able to update the target scale to ${replicas}`
})

const toZero: Status.Claim = {
  type: "ScaledToZero",
  status: true,
  reason: "ScaledToZero",
  message: "the HPA controller scaled the workload to zero"
}
const notToZero: Status.Claim = {
  type: "ScaledToZero",
  status: false,
  reason: "NotScaledToZero",
  message: "the HPA controller did not scale the workload to zero"
}

/** The condition ScaledToZero, which separates a scale to zero by this controller from one by a user. */
const zeroClaims = (
  { settings }: State,
  { snapshot: { autoscaler }, scale }: Rescale,
  desired: number
): ReadonlyArray<Status.Claim> => {
  const current = sizeOf(scale)
  if (!settings.scalesToZero) return []
  if (desired === current) return current > 0 && Status.isScaledToZero(autoscaler) ? [notToZero] : []
  return [desired === 0 && Spec.minReplicasOf(autoscaler) === 0 && Spec.measuresOthers(autoscaler) ? toZero : notToZero]
}

interface Resize extends Rescale {
  readonly desired: number
  readonly zero: ReadonlyArray<Status.Claim>
}

/** Returns the autoscaler with its new status. */
const resize = Effect.fnUntraced(function* (deps: Deps, { remember, settings }: State, rescale: Resize) {
  const { desired, snapshot, plan, scale, zero } = rescale
  const { autoscaler: before, key, now, target } = snapshot
  const current = sizeOf(scale)
  // Written before the scale: a new leader would take a zero without the condition for a user's.
  const isAnnounced = zero.includes(toZero)
  const autoscaler = isAnnounced ? yield* writeStatus(deps, before, { claims: [toZero], now }) : before
  yield* Effect.catch(writeScale(deps.scales, target, { scale, desired }), (error) =>
    refused(deps, { ...rescale, snapshot: { ...snapshot, autoscaler } }, error)
  )
  const behavior = Spec.behaviorOf(autoscaler, settings)
  remember(key, autoscaler, History.changed(plan.history, desired - current, now, behavior))
  yield* deps.events.normal(autoscaler, "SuccessfulRescale", `New size: ${desired}; reason: ${plan.reason}`)
  yield* Effect.annotateLogs(Effect.logInfo("Rescaled the target of an autoscaler"), {
    target: snapshot.reference,
    from: current,
    to: desired,
    reason: plan.reason
  })
  return autoscaler
})

/** The update of the scale failed. */
const refused = Effect.fnUntraced(function* (deps: Deps, rescale: Resize, error: Failure) {
  const { claims, desired, snapshot, plan, scale, zero } = rescale
  const { autoscaler, now, reference } = snapshot
  const why = failureText(error)
  const event = `New size: ${desired}; reason: ${plan.reason}; error: ${why}`
  yield* deps.events.warning(autoscaler, "FailedRescale", event)
  const failed: Status.Claim = {
    type: "AbleToScale",
    status: false,
    reason: "FailedUpdateScale",
    message: `the HPA controller was unable to update the target scale: ${why}`
  }
  const withdrawn = zero.includes(toZero) ? [notToZero] : []
  const observed = { replicas: sizeOf(scale), metrics: plan.metrics }
  const all = [...claims, ...plan.claims, failed, ...withdrawn]
  yield* Effect.ignore(writeStatus(deps, autoscaler, { claims: all, observed, now }))
  return yield* new ReconcileError({ message: `failed to rescale ${reference}: ${why}`, fault: "internal" })
})

/** Source: client-go util/retry: DefaultRetry. */
const tries = 5
const pause = "10 millis"

/** Overwrites only the size that the decision was based on. */
const writeScale = (
  scales: Scales,
  target: Target,
  { attempt = 1, desired, scale }: { readonly scale: Scale; readonly desired: number; readonly attempt?: number }
): Effect.Effect<void, Failure> =>
  Effect.catchIf(
    Effect.asVoid(scales.update(target, { ...scale, spec: { ...scale.spec, replicas: desired } })),
    (error) => error._tag === "ApiError" && ApiError.hasReason(error, "Conflict") && attempt < tries,
    (error) =>
      Effect.flatMap(Effect.delay(scales.get(target), pause), (latest) => {
        if (sizeOf(latest) === desired) return Effect.void
        return sizeOf(latest) === sizeOf(scale) && latest.metadata.uid === scale.metadata.uid
          ? writeScale(scales, target, { scale: latest, desired, attempt: attempt + 1 })
          : Effect.fail(error)
      })
  )

/** Writes the status if it changed; returns the autoscaler with its new status. Source: pkg/controller/podautoscaler: updateStatus. */
export const writeStatus = (
  deps: Deps,
  autoscaler: HorizontalPodAutoscaler,
  change: Status.StatusChange
): Effect.Effect<HorizontalPodAutoscaler, ReconcileError> => {
  const next = Status.status(autoscaler, change)
  if (next === undefined) return Effect.succeed(autoscaler)
  return ApiError.unlessGone(updateStatus(deps, { ...autoscaler, status: next })).pipe(
    Effect.tapError(({ detail }) => deps.events.warning(autoscaler, "FailedUpdateStatus", detail)),
    Effect.mapError(({ detail }) => {
      const message = `failed to update status for ${autoscaler.metadata.name}: ${detail}`
      return new ReconcileError({ message, fault: "internal" })
    }),
    Effect.map((written) => written ?? autoscaler)
  )
}

/** After a conflict the status is written once more, to the live object if it has the same uid. */
const updateStatus = (
  { live, updateStatus: update }: Deps,
  wanted: HorizontalPodAutoscaler
): Effect.Effect<HorizontalPodAutoscaler, ApiError.ApiError> =>
  Effect.catchIf(
    update(wanted),
    (error) => ApiError.hasReason(error, "Conflict"),
    (error) =>
      Effect.flatMap(live(wanted), (latest) =>
        latest.metadata.uid === wanted.metadata.uid
          ? update({ ...latest, ...(wanted.status === undefined ? {} : { status: wanted.status }) })
          : Effect.fail(error)
      )
  )

/** The failure of reading or writing a scale. */
export const failureText = (error: Failure): string => {
  switch (error._tag) {
    case "NotServed":
      return `no matches for kind "${error.kind}" in group "${error.group}"`
    case "NotScalable":
      return "the server could not find the requested resource"
    case "ApiError":
      return error.detail
  }
}

/** Why nothing was decided. */
export const undecidedText = (reference: string, why: string): string =>
  `failed to compute desired number of replicas based on listed metrics for ${reference}: ${why}`
