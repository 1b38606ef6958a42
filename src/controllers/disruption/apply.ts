/** The writes of the disruption controller: the status of a budget, and the condition of a pod that was not deleted. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as ApiError from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import type { PodDisruptionBudget } from "../../kube/resources.ts"
import * as Family from "../../streams/reconcile/metricFamily.ts"
import * as Reconcile from "../../streams/reconcile/Reconcile.ts"
import type { Deps } from "./deps.ts"
import type { Uncountable } from "./expectedScale.ts"
import * as Plan from "./plan.ts"
import * as Stale from "./stale.ts"
import type { State } from "./triggers.ts"

export const apply = Effect.fnUntraced(function* (
  deps: Deps,
  { written }: State,
  found: PodDisruptionBudget,
  status: Plan.Status
) {
  const { metadata } = yield* deps.updateStatus({ ...found, status })
  if (metadata.resourceVersion !== undefined) written.set(Key.of(found), metadata.resourceVersion)
  const condition = status.conditions?.find(({ type }) => type === "DisruptionAllowed")
  yield* countWrite(condition?.reason ?? "")
  yield* Effect.annotateLogs(Effect.logDebug("Wrote how many disruptions a budget allows"), {
    allowed: status.disruptionsAllowed,
    healthy: status.currentHealthy,
    desired: status.desiredHealthy,
    expected: status.expectedPods,
    reason: condition?.reason
  })
})

export type Failure = ApiError.ApiError | Uncountable

/** The server's message without the request. */
export const textOf = (error: Failure): string => (error._tag === "ApiError" ? error.detail : error.message)

/** Best effort: a failure here is reported together with the first one. */
export const writeFailSafe = Effect.fnUntraced(function* (
  deps: Deps,
  state: State,
  found: PodDisruptionBudget,
  error: Failure
) {
  const status = Plan.failSafe(found, textOf(error), yield* Clock.currentTimeMillis)
  if (status !== undefined) yield* apply(deps, state, found, status)
})

export const resetStale = Effect.fnUntraced(function* (
  deps: Deps,
  key: Key.Key
): Effect.fn.Return<Reconcile.Outcome, Failure> {
  const pod = deps.pods.get(key)
  const due = pod === undefined ? undefined : Stale.due(pod)
  if (pod === undefined || due === undefined) return Reconcile.done
  const now = yield* Clock.currentTimeMillis
  if (due > now) return Reconcile.after(due - now)
  const patched = yield* ApiError.unlessGone(deps.patchPodStatus(pod, Stale.reset(pod, now)))
  if (patched === undefined) return Reconcile.done
  yield* countReset
  yield* Effect.annotateLogs(Effect.logInfo("Reset the stale DisruptionTarget condition of a pod"), { pod: key })
  return Reconcile.done
})

const writes = Family.counter(
  "disruption_controller_status_writes_total",
  "Writes of the status of disruption budgets, by the reason of its condition",
  ["reason"]
)

const resets = Family.counter(
  "disruption_controller_stale_disruptions_total",
  "Pods whose stale DisruptionTarget condition was reset"
)

export const families = [writes, resets]

const countWrite = (reason: string): Effect.Effect<void> => writes.add(1, { reason })

const countReset: Effect.Effect<void> = resets.add(1)
