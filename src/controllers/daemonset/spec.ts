/**
 * What a DaemonSet asks for, read from its spec with the defaults of a server that is too old to fill them in. Nothing here looks at nodes
 * or pods. Source: spec A.14, E.1, E.7.
 */
import * as IntOrPercent from "../../kube/intOrPercent.ts"
import type { DaemonSet } from "../../kube/resources.ts"
import * as Selector from "../../kube/Selector.ts"
import type { Template } from "../shared/workload/podControl.ts"
import * as Selectors from "../shared/workload/selectors.ts"

/** So many pods at most are created, and as many deleted, in one step. */
export const burst = 250

export const selectorOf = Selectors.memoised((set: DaemonSet) => Selectors.usable(set.spec?.selector))

export const selects = (set: DaemonSet, labels: Readonly<Record<string, string>> | undefined): boolean => {
  const selector = selectorOf(set)
  return selector !== undefined && Selector.matchesLabels(selector, labels)
}

/** An empty selector is read as one that selects everything, by everybody but this loop. */
export const selectsEverything = ({ spec }: DaemonSet): boolean =>
  spec?.selector !== undefined &&
  Object.keys(spec.selector.matchLabels ?? {}).length === 0 &&
  (spec.selector.matchExpressions ?? []).length === 0

export const templateOf = ({ spec }: DaemonSet): Template => spec?.template ?? {}

export const minReadySeconds = ({ spec }: DaemonSet): number => spec?.minReadySeconds ?? 0

export const historyLimit = ({ spec }: DaemonSet): number => spec?.revisionHistoryLimit ?? 10

export const isRolling = ({ spec }: DaemonSet): boolean =>
  (spec?.updateStrategy?.type ?? "RollingUpdate") === "RollingUpdate"

/** How many nodes an update may touch at once; counts of nodes. */
export interface Bounds {
  readonly maxSurge: number
  readonly maxUnavailable: number
}

const still: Bounds = { maxSurge: 0, maxUnavailable: 0 }

/** Shares are of the nodes that should have a pod, rounded up. If that leaves neither, one node may be without its pod. */
export const bounds = (set: DaemonSet, desired: number): Bounds => {
  if (!isRolling(set)) return still
  const rolling = set.spec?.updateStrategy?.rollingUpdate
  const maxSurge = IntOrPercent.resolve(rolling?.maxSurge ?? 0, desired, "up") ?? 0
  const maxUnavailable = IntOrPercent.resolve(rolling?.maxUnavailable ?? (maxSurge > 0 ? 0 : 1), desired, "up") ?? 0
  return maxSurge === 0 && maxUnavailable === 0 ? { maxSurge, maxUnavailable: 1 } : { maxSurge, maxUnavailable }
}

/** Whether a node may have a pod of the new template beside one of the old. */
export const surges = (set: DaemonSet): boolean => bounds(set, 1).maxSurge > 0

/** On pods, from before there were revisions. Source: extensions DaemonSetTemplateGenerationKey. */
export const generationLabel = "pod-template-generation"

/** The number of the template, as clients from before apps/v1 know it. Source: apps/v1 DeprecatedTemplateGeneration. */
export const templateGeneration = ({ metadata }: DaemonSet): string | undefined => {
  const text = metadata.annotations?.["deprecated.daemonset.template.generation"]
  return text !== undefined && /^-?\d{1,18}$/.test(text) ? String(Number(text)) : undefined
}
