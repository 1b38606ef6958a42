/**
 * One look at an autoscaler: reads the size of its target, asks its metrics, decides, and writes the size and the status. What went wrong
 * is told to the user in the status and in events, and fails the look. Source: pkg/controller/podautoscaler: reconcileAutoscaler.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Key from "../../kube/Key.ts"
import type { Pod } from "../../kube/resources.ts"
import * as Selector from "../../kube/Selector.ts"
import type { Scale } from "../shared/scale/scales.ts"
import * as Ask from "./replicaProposals.ts"
import * as Look from "./snapshot.ts"
import * as Metrics from "./metrics.ts"
import * as History from "./plan/history.ts"
import * as Plan from "./plan/plan.ts"
import type * as Status from "./plan/status.ts"
import type { Memory, Ports } from "./deps.ts"
import * as Rescale from "./rescale.ts"
import * as Selectors from "./selectors.ts"
import * as Tell from "./statusWriter.ts"

/** Whether there is such an autoscaler. */
export const sync =
  (ports: Ports, memory: Memory) =>
  (key: Key.Key): Effect.Effect<boolean, Look.LookError> =>
    Effect.suspend(() => {
      const autoscaler = ports.autoscalers.get(key)
      if (autoscaler === undefined) return Effect.as(forget(memory, key), false)
      return Effect.flatMap(Look.of(autoscaler), (look) => Metrics.looked(reconcile(ports, memory, look))).pipe(
        Effect.filterOrFail(
          ({ failure }) => failure === undefined,
          ({ failure = "" }) => new Look.LookError({ message: failure, fault: "internal" })
        ),
        Effect.as(true)
      )
    })

const forget = ({ books }: Memory, key: Key.Key): Effect.Effect<void> =>
  Effect.suspend(() => {
    books.forget(key)
    return Effect.andThen(Metrics.counted(books.size()), Metrics.gone(key))
  })

const gotScale: Status.Claim = {
  type: "AbleToScale",
  status: true,
  reason: "SucceededGetScale",
  message: "the HPA controller was able to get the target's current scale"
}

const reconcile = Effect.fnUntraced(function* (ports: Ports, memory: Memory, look: Look.Look) {
  const { reference, target } = look
  if (target.apiVersion.split("/").length > 2) {
    const why = `unexpected GroupVersion string: ${target.apiVersion}`
    return yield* unscalable(ports, look, { why, told: "invalid API version in scale target reference", fault: "spec" })
  }
  const scale = yield* Effect.result(ports.scales.get(target))
  if (Result.isSuccess(scale)) return yield* decide(ports, memory, { look, scale: scale.success })
  const told =
    scale.failure._tag === "NotServed"
      ? "unable to determine resource for scale target reference"
      : `failed to query scale subresource for ${reference}`
  return yield* unscalable(ports, look, { why: Tell.failure(scale.failure), told, fault: "internal" })
})

interface Unscalable {
  readonly why: string
  /** What the log says before it. */
  readonly told: string
  readonly fault: Metrics.Fault
}

const unscalable = Effect.fnUntraced(function* (ports: Ports, look: Look.Look, { fault, told, why }: Unscalable) {
  yield* ports.events.warning(look.autoscaler, "FailedGetScale", why)
  const message = `the HPA controller was unable to get the target's current scale: ${why}`
  const claims = [{ type: "AbleToScale", status: false, reason: "FailedGetScale", message }] as const
  yield* Effect.ignore(Tell.status(ports, look.autoscaler, { claims, now: look.now }))
  return yield* new Look.LookError({ message: `${told}: ${why}`, fault })
})

/** A look at a target that has a size. */
interface Sized {
  readonly look: Look.Look
  readonly scale: Scale
}

const decide = Effect.fnUntraced(function* (ports: Ports, memory: Memory, { look, scale }: Sized) {
  const { autoscaler, key, now } = look
  const { books, settings } = memory
  const current = scale.spec?.replicas ?? 0
  const history = History.found(books.history(key, autoscaler), current, now)
  books.remember(key, autoscaler, history)
  yield* Metrics.counted(books.size())
  const isMeasured = Plan.course(autoscaler, current, settings)._tag === "Measure"
  const pods = isMeasured ? select(ports, memory, { look, scale }) : Result.succeed([])
  if (Result.isFailure(pods)) return yield* unselected(ports, { look, scale }, pods.failure)
  const said = isMeasured ? yield* Ask.all(ports, memory, { look, scale, pods: pods.success }) : []
  const plan = Plan.plan({ autoscaler, current, said, settings, history, now })
  books.remember(key, autoscaler, plan.history)
  return yield* Rescale.carryOut(ports, memory, { look, scale, plan, claims: [gotScale] })
})

/** Why the target's pods are not known. */
interface Unselected {
  readonly reason: string
  readonly message: string
  /** What the condition says, where that is something else. */
  readonly claim?: { readonly reason: string; readonly message: string }
}

const noSelector: Unselected = {
  reason: "SelectorRequired",
  message: "selector is required",
  claim: { reason: "InvalidSelector", message: "the HPA target's scale is missing a selector" }
}

/** The pods of the target, unless another autoscaler has some of them too. */
const select = (
  { pods }: Ports,
  { books }: Memory,
  { look: { key, namespace }, scale }: Sized
): Result.Result<ReadonlyArray<Pod>, Unselected> => {
  const text = scale.status?.selector ?? ""
  if (text === "") return Result.fail(noSelector)
  const selector = Selector.parseLabels(text)
  if (Result.isFailure(selector)) {
    const message = `couldn't convert selector into a corresponding internal selector object: ${selector.failure}`
    return Result.fail({ reason: "InvalidSelector", message })
  }
  books.selectors.set(key, namespace, selector.success)
  const found = Selectors.podsOf(pods, namespace, selector.success)
  const all = books.selectors.selecting(namespace, found)
  if (all.length <= 1) return Result.succeed(found)
  const message = `pods by selector ${text} are controlled by multiple HPAs: [${all.join(" ")}]`
  return Result.fail({ reason: "AmbiguousSelector", message })
}

const unselected = Effect.fnUntraced(function* (ports: Ports, { look, scale }: Sized, why: Unselected) {
  const { autoscaler, now, reference } = look
  const { claim, message, reason } = why
  yield* ports.events.warning(autoscaler, reason, message)
  const claims = [gotScale, { type: "ScalingActive", status: false, reason, message, ...claim }] as const
  const seen = { replicas: scale.spec?.replicas ?? 0, metrics: [] }
  yield* Effect.ignore(Tell.status(ports, autoscaler, { claims, seen, now }))
  yield* ports.events.warning(autoscaler, "FailedComputeMetricsReplicas", message)
  return yield* new Look.LookError({ message: Tell.undecided(reference, message), fault: "internal" })
})
