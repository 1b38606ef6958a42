/**
 * The ReplicaSets of a Deployment and which of them is the new one: the oldest whose template means the same as the Deployment's. It
 * is found by comparing templates, never by hash, because a hash is only as stable as the program that made it. Source: spec B.3.
 */
import * as Equality from "../../kube/equality.ts"
import type { Deployment, ReplicaSet } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"

export type Template = NonNullable<NonNullable<Deployment["spec"]>["template"]>

/** The label that tells the pods of one ReplicaSet from those of another. */
export const hashLabel = "pod-template-hash"

/** Disjoint; together all that the Deployment owns. */
export interface Sets {
  /** Undefined while no set has the Deployment's template. */
  readonly current: ReplicaSet | undefined
  /** By age, oldest first. */
  readonly old: ReadonlyArray<ReplicaSet>
}

export const find = (deployment: Deployment, owned: ReadonlyArray<ReplicaSet>): Sets => {
  const sorted = [...owned].sort(byAge)
  const current = sorted.find((set) => sameTemplate(set.spec?.template, deployment.spec?.template))
  return { current, old: sorted.filter((set) => set !== current) }
}

/** The old ones first, then the new one. */
export const all = ({ current, old }: Sets): ReadonlyArray<ReplicaSet> =>
  current === undefined ? old : [...old, current]

/** A set that was written replaces its former state; one that is not among them becomes the new one. */
export const replace = (sets: Sets, written: ReplicaSet): Sets => {
  const isOld = sets.old.some((set) => isSame(set, written))
  return isOld
    ? { ...sets, old: sets.old.map((set) => (isSame(set, written) ? written : set)) }
    : { ...sets, current: written }
}

export const isSame = (a: ReplicaSet, b: ReplicaSet): boolean => a.metadata.uid === b.metadata.uid

/** Oldest first; sets of one second by name. */
export const byAge = (a: ReplicaSet, b: ReplicaSet): number =>
  createdAt(a) - createdAt(b) || (a.metadata.name < b.metadata.name ? -1 : a.metadata.name > b.metadata.name ? 1 : 0)

const createdAt = ({ metadata }: ReplicaSet): number => Time.parse(metadata.creationTimestamp) ?? 0

/** Whether two templates mean the same pods, whatever hash labels they carry. */
export const sameTemplate = (a: Template | undefined, b: Template | undefined): boolean =>
  a === b || Equality.equal(withoutHash(a), withoutHash(b))

/** The template as a user would have written it. */
export const withoutHash = (template: Template | undefined): Template | undefined => {
  const labels = template?.metadata?.labels
  if (template === undefined || labels === undefined || !Object.hasOwn(labels, hashLabel)) return template
  const { [hashLabel]: _, ...rest } = labels
  return { ...template, metadata: { ...template.metadata, labels: rest } }
}

/** Pods wanted. The server fills the number in; one is what it fills in. */
export const size = (set: ReplicaSet): number => set.spec?.replicas ?? 1

export const isActive = (set: ReplicaSet): boolean => size(set) > 0

/** Pods that are available, as the set last reported. */
export const available = (set: ReplicaSet): number => set.status?.availableReplicas ?? 0

/** Pods that exist, as the set last reported. */
export const replicas = (set: ReplicaSet): number => set.status?.replicas ?? 0

export const sum = (sets: ReadonlyArray<ReplicaSet>, of: (set: ReplicaSet) => number): number =>
  sets.reduce((total, set) => total + of(set), 0)
