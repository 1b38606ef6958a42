/**
 * Taints and tolerations, for the simulated scheduler and kubelets, and the controllers of DaemonSets and taint eviction. Total functions; a
 * malformed toleration tolerates nothing. Source: component-helpers scheduling/corev1 helpers and toleration.
 */
import type { Pod } from "./resources.ts"

export interface Taint {
  readonly key: string
  readonly value?: string
  /** `NoSchedule`, `PreferNoSchedule` or `NoExecute`. */
  readonly effect: string
}

export type Toleration = NonNullable<NonNullable<Pod["spec"]>["tolerations"]>[number]

/** An absent effect means all effects; an absent key, with the operator `Exists`, all keys. */
export const tolerates = (toleration: Toleration, taint: Taint): boolean =>
  (toleration.effect === undefined || toleration.effect === "" || toleration.effect === taint.effect) &&
  (toleration.key === undefined || toleration.key === ""
    ? toleration.operator === "Exists"
    : toleration.key === taint.key) &&
  (toleration.operator === "Exists" || (toleration.value ?? "") === (taint.value ?? ""))

export const isTolerated = (tolerations: ReadonlyArray<Toleration> | undefined, taint: Taint): boolean =>
  (tolerations ?? []).some((toleration) => tolerates(toleration, taint))

/** The first taint with one of these effects that none of the tolerations covers. */
export const untolerated = (
  tolerations: ReadonlyArray<Toleration> | undefined,
  taints: ReadonlyArray<Taint>,
  effects: ReadonlyArray<string>
): Taint | undefined => taints.find((taint) => effects.includes(taint.effect) && !isTolerated(tolerations, taint))
