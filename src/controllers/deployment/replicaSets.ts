/**
 * Facts about a ReplicaSet: its template, age and sizes. Templates are compared, not hashes, because hashes may change
 * between versions of the controller. Source: pkg/controller/deployment/util: EqualIgnoreHash.
 */
import * as Equality from "../../kube/equality.ts"
import type { Deployment, ReplicaSet } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"

export type Template = NonNullable<NonNullable<Deployment["spec"]>["template"]>

/** The label that separates the pods of the ReplicaSets of one Deployment. */
export const hashLabel = "pod-template-hash"

export const isSame = (a: ReplicaSet, b: ReplicaSet): boolean => a.metadata.uid === b.metadata.uid

/** Oldest first; by name where the timestamps are equal. */
export const byAge = (a: ReplicaSet, b: ReplicaSet): number =>
  createdAt(a) - createdAt(b) || (a.metadata.name < b.metadata.name ? -1 : a.metadata.name > b.metadata.name ? 1 : 0)

const createdAt = ({ metadata }: ReplicaSet): number => Time.parse(metadata.creationTimestamp) ?? 0

/** Whether two templates are equal apart from the hash label. */
export const sameTemplate = (a: Template | undefined, b: Template | undefined): boolean =>
  a === b || Equality.equal(withoutHash(a), withoutHash(b))

/** The template without the hash label. */
export const withoutHash = (template: Template | undefined): Template | undefined => {
  const labels = template?.metadata?.labels
  if (template === undefined || labels === undefined || !Object.hasOwn(labels, hashLabel)) return template
  const { [hashLabel]: _, ...rest } = labels
  return { ...template, metadata: { ...template.metadata, labels: rest } }
}

/** `spec.replicas`, whose default is 1. */
export const size = (set: ReplicaSet): number => set.spec?.replicas ?? 1

export const isActive = (set: ReplicaSet): boolean => size(set) > 0

/** Available replicas, as last reported. */
export const available = (set: ReplicaSet): number => set.status?.availableReplicas ?? 0

/** Replicas, as last reported. */
export const replicas = (set: ReplicaSet): number => set.status?.replicas ?? 0

export const sum = (sets: ReadonlyArray<ReplicaSet>, of: (set: ReplicaSet) => number): number =>
  sets.reduce((total, set) => total + of(set), 0)
