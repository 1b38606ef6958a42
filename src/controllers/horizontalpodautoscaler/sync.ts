/**
 * One reconciliation of an autoscaler: reads the target's scale, queries the metrics, plans, and writes scale and
 * status. A failure is recorded in the status and in events, and fails the reconciliation. Source:
 * pkg/controller/podautoscaler: reconcileAutoscaler.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Key from "../../kube/Key.ts"
import type { Pod } from "../../kube/resources.ts"
import * as Selector from "../../kube/Selector.ts"
import type { Scale } from "../shared/scale/scales.ts"
import { apply, failureText, ReconcileError, undecidedText, writeStatus } from "./apply.ts"
import type { Deps } from "./deps.ts"
import * as Metrics from "./metrics.ts"
import * as History from "./plan/history.ts"
import * as Plan from "./plan/plan.ts"
import * as ReplicaProposals from "./replicaProposals.ts"
import * as Selectors from "./selectors.ts"
import * as Snapshot from "./snapshot.ts"
import type { State } from "./state.ts"
import type * as Status from "./status.ts"

/** Returns whether the autoscaler exists. */
export const sync =
  (deps: Deps, state: State) =>
  (key: Key.Key): Effect.Effect<boolean, ReconcileError> =>
    Effect.suspend(() => {
      const autoscaler = deps.autoscalers.get(key)
      if (autoscaler === undefined) return Effect.as(forget(state, key), false)
      return Effect.flatMap(Clock.currentTimeMillis, (now) =>
        Metrics.reconciled(reconcile(deps, state, Snapshot.take(autoscaler, now)))
      ).pipe(
        Effect.filterOrFail(
          ({ failure }) => failure === undefined,
          ({ failure = "" }) => new ReconcileError({ message: failure, fault: "internal" })
        ),
        Effect.as(true)
      )
    })

const forget = (state: State, key: Key.Key): Effect.Effect<void> =>
  Effect.suspend(() => {
    state.forget(key)
    return Effect.andThen(Metrics.counted(state.size()), Metrics.gone(key))
  })

const gotScale: Status.Claim = {
  type: "AbleToScale",
  status: true,
  reason: "SucceededGetScale",
  message: "the HPA controller was able to get the target's current scale"
}

const reconcile = Effect.fnUntraced(function* (deps: Deps, state: State, snapshot: Snapshot.Snapshot) {
  const { reference, target } = snapshot
  if (target.apiVersion.split("/").length > 2) {
    const why = `unexpected GroupVersion string: ${target.apiVersion}`
    return yield* unscalable(deps, snapshot, {
      why,
      logged: "invalid API version in scale target reference",
      fault: "spec"
    })
  }
  const scale = yield* Effect.result(deps.scales.get(target))
  if (Result.isSuccess(scale)) return yield* decide(deps, state, { snapshot, scale: scale.success })
  const logged =
    scale.failure._tag === "NotServed"
      ? "unable to determine resource for scale target reference"
      : `failed to query scale subresource for ${reference}`
  return yield* unscalable(deps, snapshot, { why: failureText(scale.failure), logged, fault: "internal" })
})

interface Unscalable {
  readonly why: string
  /** The prefix of the log message. */
  readonly logged: string
  readonly fault: Metrics.Fault
}

const unscalable = Effect.fnUntraced(function* (
  deps: Deps,
  snapshot: Snapshot.Snapshot,
  { fault, logged, why }: Unscalable
) {
  yield* deps.events.warning(snapshot.autoscaler, "FailedGetScale", why)
  const message = `the HPA controller was unable to get the target's current scale: ${why}`
  const claims = [{ type: "AbleToScale", status: false, reason: "FailedGetScale", message }] as const
  yield* Effect.ignore(writeStatus(deps, snapshot.autoscaler, { claims, now: snapshot.now }))
  return yield* new ReconcileError({ message: `${logged}: ${why}`, fault })
})

/** The rest of a reconciliation, once the scale is known. */
interface Sized {
  readonly snapshot: Snapshot.Snapshot
  readonly scale: Scale
}

const decide = Effect.fnUntraced(function* (deps: Deps, state: State, { snapshot, scale }: Sized) {
  const { autoscaler, key, now } = snapshot
  const { settings } = state
  const current = scale.spec?.replicas ?? 0
  const history = History.found(state.history(key, autoscaler), current, now)
  state.remember(key, autoscaler, history)
  yield* Metrics.counted(state.size())
  const isMeasured = Plan.course(autoscaler, current, settings)._tag === "Measure"
  const pods = isMeasured ? select(deps, state, { snapshot, scale }) : Result.succeed([])
  if (Result.isFailure(pods)) return yield* unselected(deps, { snapshot, scale }, pods.failure)
  const results = isMeasured ? yield* ReplicaProposals.all(deps, state, { snapshot, scale, pods: pods.success }) : []
  const plan = Plan.plan({ autoscaler, current, results, settings, history, now })
  state.remember(key, autoscaler, plan.history)
  return yield* apply(deps, state, { snapshot, scale, plan, claims: [gotScale] })
})

/** Why the target's pods are unknown. */
interface Unselected {
  readonly reason: string
  readonly message: string
  /** The condition's message, if it differs. */
  readonly claim?: { readonly reason: string; readonly message: string }
}

const noSelector: Unselected = {
  reason: "SelectorRequired",
  message: "selector is required",
  claim: { reason: "InvalidSelector", message: "the HPA target's scale is missing a selector" }
}

/** The pods of the target, unless another autoscaler selects one of them too. */
const select = (
  { pods }: Deps,
  { selectors }: State,
  { snapshot: { key, namespace }, scale }: Sized
): Result.Result<ReadonlyArray<Pod>, Unselected> => {
  const text = scale.status?.selector ?? ""
  if (text === "") return Result.fail(noSelector)
  const selector = Selector.parseLabels(text)
  if (Result.isFailure(selector)) {
    const message = `couldn't convert selector into a corresponding internal selector object: ${selector.failure}`
    return Result.fail({ reason: "InvalidSelector", message })
  }
  selectors.set(key, namespace, selector.success)
  const found = Selectors.podsOf(pods, namespace, selector.success)
  const all = selectors.selecting(namespace, found)
  if (all.length <= 1) return Result.succeed(found)
  const message = `pods by selector ${text} are controlled by multiple HPAs: [${all.join(" ")}]`
  return Result.fail({ reason: "AmbiguousSelector", message })
}

const unselected = Effect.fnUntraced(function* (deps: Deps, { snapshot, scale }: Sized, why: Unselected) {
  const { autoscaler, now, reference } = snapshot
  const { claim, message, reason } = why
  yield* deps.events.warning(autoscaler, reason, message)
  const claims = [gotScale, { type: "ScalingActive", status: false, reason, message, ...claim }] as const
  const observed = { replicas: scale.spec?.replicas ?? 0, metrics: [] }
  yield* Effect.ignore(writeStatus(deps, autoscaler, { claims, observed, now }))
  yield* deps.events.warning(autoscaler, "FailedComputeMetricsReplicas", message)
  return yield* new ReconcileError({ message: undecidedText(reference, message), fault: "internal" })
})
