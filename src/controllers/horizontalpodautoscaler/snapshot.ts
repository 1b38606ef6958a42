/** The input of one reconciliation of an autoscaler. Pure. */
import * as Key from "../../kube/Key.ts"
import type { HorizontalPodAutoscaler } from "../../kube/resources.ts"
import type { Target } from "../shared/scale/scales.ts"

/** Taken once, at the start. */
export interface Snapshot {
  readonly key: Key.Key
  readonly autoscaler: HorizontalPodAutoscaler
  readonly namespace: string
  readonly target: Target
  /** Kind, namespace and name of the target, for messages. */
  readonly reference: string
  /** Milliseconds since 1970. */
  readonly now: number
}

export const take = (autoscaler: HorizontalPodAutoscaler, now: number): Snapshot => {
  const { apiVersion = "", kind, name } = autoscaler.spec?.scaleTargetRef ?? nothing
  const namespace = autoscaler.metadata.namespace ?? ""
  const target = { apiVersion, kind, name, namespace }
  return { key: Key.of(autoscaler), autoscaler, namespace, target, reference: `${kind}/${namespace}/${name}`, now }
}

const nothing: { readonly apiVersion?: string; readonly kind: string; readonly name: string } = { kind: "", name: "" }
