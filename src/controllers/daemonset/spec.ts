/**
 * Reads a DaemonSet's spec, with the defaults that an old server may not have set. Source: pkg/apis/apps/v1:
 * SetDefaults_DaemonSet; pkg/controller/daemon.
 */
import * as IntOrPercent from "../../kube/intOrPercent.ts"
import type { DaemonSet } from "../../kube/resources.ts"
import type { Template } from "../shared/workload/podControl.ts"
import * as Selectors from "../shared/workload/selectors.ts"

/**
 * At most this many pods are created, and as many deleted, in one sync. Source: pkg/controller/daemon: BurstReplicas.
 */
export const burst = 250

export const selectorOf = Selectors.memoised((set: DaemonSet) => Selectors.usable(set.spec?.selector))

export const selects = Selectors.selecting(selectorOf)

/** Other clients read an empty selector as one that selects every pod. */
export const selectsEverything = ({ spec }: DaemonSet): boolean =>
  spec?.selector !== undefined &&
  Object.keys(spec.selector.matchLabels ?? {}).length === 0 &&
  (spec.selector.matchExpressions ?? []).length === 0

export const templateOf = ({ spec }: DaemonSet): Template => spec?.template ?? {}

export const minReadySeconds = ({ spec }: DaemonSet): number => spec?.minReadySeconds ?? 0

export const historyLimit = ({ spec }: DaemonSet): number => spec?.revisionHistoryLimit ?? 10

export const isRolling = ({ spec }: DaemonSet): boolean =>
  (spec?.updateStrategy?.type ?? "RollingUpdate") === "RollingUpdate"

/** Limits of an update, in nodes. */
export interface Bounds {
  readonly maxSurge: number
  readonly maxUnavailable: number
}

const still: Bounds = { maxSurge: 0, maxUnavailable: 0 }

/** Percentages are of the nodes that should have a pod, rounded up. If both come to zero, `maxUnavailable` is 1. */
export const bounds = (set: DaemonSet, desired: number): Bounds => {
  if (!isRolling(set)) return still
  const rolling = set.spec?.updateStrategy?.rollingUpdate
  const maxSurge = IntOrPercent.resolve(rolling?.maxSurge ?? 0, desired, "up") ?? 0
  const maxUnavailable = IntOrPercent.resolve(rolling?.maxUnavailable ?? (maxSurge > 0 ? 0 : 1), desired, "up") ?? 0
  return maxSurge === 0 && maxUnavailable === 0 ? { maxSurge, maxUnavailable: 1 } : { maxSurge, maxUnavailable }
}

/** Whether a node may have a new pod beside an old one. */
export const surges = (set: DaemonSet): boolean => bounds(set, 1).maxSurge > 0

/** A pod label from before ControllerRevisions. Source: extensions/v1beta1: DaemonSetTemplateGenerationKey. */
export const generationLabel = "pod-template-generation"

/** The template generation that clients from before apps/v1 wrote. Source: apps/v1: DeprecatedTemplateGeneration. */
export const templateGeneration = ({ metadata }: DaemonSet): string | undefined => {
  const text = metadata.annotations?.["deprecated.daemonset.template.generation"]
  return text !== undefined && /^-?\d{1,18}$/.test(text) ? String(Number(text)) : undefined
}
