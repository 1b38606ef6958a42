/**
 * Accessors for the spec of a StatefulSet, with the defaults for servers that are too old to set them. Nothing here reads pods or claims. Source:
 * pkg/apis/apps/v1: SetDefaults_StatefulSet.
 */
import * as IntOrPercent from "../../kube/intOrPercent.ts"
import type { StatefulSet } from "../../kube/resources.ts"
import type { Template } from "../shared/workload/podControl.ts"
import * as Selectors from "../shared/workload/selectors.ts"

export const selectorOf = Selectors.memoised((set: StatefulSet) => Selectors.usable(set.spec?.selector))

export const selects = Selectors.selecting(selectorOf)

export const templateOf = ({ spec }: StatefulSet): Template => spec?.template ?? {}

export const replicas = ({ spec }: StatefulSet): number => spec?.replicas ?? 1

/** The first ordinal. */
export const start = ({ spec }: StatefulSet): number => spec?.ordinals?.start ?? 0

/** Whether the set should have a pod of that ordinal. */
export const isInRange = (set: StatefulSet, ordinal: number): boolean =>
  ordinal >= start(set) && ordinal < start(set) + replicas(set)

export const minReadySeconds = ({ spec }: StatefulSet): number => spec?.minReadySeconds ?? 0

export const historyLimit = ({ spec }: StatefulSet): number => spec?.revisionHistoryLimit ?? 10

/** Whether each pod is created only when those before it are available. */
export const isOrdered = ({ spec }: StatefulSet): boolean => spec?.podManagementPolicy !== "Parallel"

export const isRolling = ({ spec }: StatefulSet): boolean =>
  (spec?.updateStrategy?.type ?? "RollingUpdate") === "RollingUpdate"

/** How many replicas, from the first ordinal on, keep the old revision; undefined for a set that was stored before the field existed. */
export const partition = ({ spec }: StatefulSet): number | undefined => {
  const rolling = spec?.updateStrategy?.rollingUpdate
  return rolling === undefined ? undefined : (rolling.partition ?? 0)
}

/** How many replicas may be unavailable during an update, at least one; percentages are rounded down. */
export const maxUnavailable = (set: StatefulSet): number => {
  const asked = set.spec?.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1
  return Math.max(1, IntOrPercent.resolve(asked, replicas(set), "down") ?? 1)
}

type ClaimTemplate = NonNullable<NonNullable<StatefulSet["spec"]>["volumeClaimTemplates"]>[number]

/** Each replica gets a claim from every template. A template without a name is ignored; no server stores one. */
export const claimTemplates = ({ spec }: StatefulSet): ReadonlyArray<ClaimTemplate> =>
  (spec?.volumeClaimTemplates ?? noTemplates).filter(({ metadata }) => metadata?.name !== undefined)

const noTemplates: ReadonlyArray<ClaimTemplate> = []

/** Whether claims are deleted with the set or with a condemned replica. Any value but `Delete` retains them. */
export interface Retention {
  readonly whenDeleted: boolean
  readonly whenScaled: boolean
}

export const retention = ({ spec }: StatefulSet): Retention => {
  const policy = spec?.persistentVolumeClaimRetentionPolicy
  return { whenDeleted: policy?.whenDeleted === "Delete", whenScaled: policy?.whenScaled === "Delete" }
}
