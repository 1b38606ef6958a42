/** The input of one reconciliation of an autoscaler, and its outcome. */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Key from "../../kube/Key.ts"
import type { HorizontalPodAutoscaler } from "../../kube/resources.ts"
import type { Target } from "../shared/scale/scales.ts"
import type { Action, Fault } from "./metrics.ts"

/** Taken once, at the start. */
export interface Snapshot {
  readonly key: Key.Key
  readonly autoscaler: HorizontalPodAutoscaler
  readonly namespace: string
  readonly target: Target
  /** Kind, namespace and name of the target, for messages. */
  readonly reference: string
  readonly now: number
}

/** The reconciliation failed; the message is logged. */
export class ReconcileError extends Data.TaggedError("LookError")<{
  readonly message: string
  readonly fault: Fault
  /** What was done before the failure. Default: nothing. */
  readonly done?: Action
}> {
  get action(): Action {
    return this.done ?? "none"
  }
}

/** The outcome of a reconciliation. */
export interface Outcome {
  readonly action: Action
  readonly fault: Fault
  /** A failure although the size may have been changed. */
  readonly failure: string | undefined
}

const nothing: { readonly apiVersion?: string; readonly kind: string; readonly name: string } = { kind: "", name: "" }

export const of = (autoscaler: HorizontalPodAutoscaler): Effect.Effect<Snapshot> =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const { apiVersion = "", kind, name } = autoscaler.spec?.scaleTargetRef ?? nothing
    const namespace = autoscaler.metadata.namespace ?? ""
    const target = { apiVersion, kind, name, namespace }
    return { key: Key.of(autoscaler), autoscaler, namespace, target, reference: `${kind}/${namespace}/${name}`, now }
  })
