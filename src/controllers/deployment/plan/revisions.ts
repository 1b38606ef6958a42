/**
 * Revisions number the templates of a Deployment. The new ReplicaSet has the highest; an old one that becomes new again
 * is renumbered and keeps its former numbers in an annotation. Revisions are int64, hence bigint. Also which old
 * ReplicaSets exceed the history limit. Source: pkg/controller/deployment/util: SetNewReplicaSetAnnotations;
 * pkg/controller/deployment: cleanupDeployment.
 */
import type { KubeObject } from "../../../kube/Meta.ts"
import type { Deployment, ReplicaSet } from "../../../kube/resources.ts"
import * as Annotations from "../annotations.ts"
import * as ReplicaSets from "../replicaSets.ts"

/** Zero when absent or empty, undefined when not an int64. */
export const of = (object: KubeObject): bigint | undefined => {
  const text = Annotations.of(object)[Annotations.revision] ?? ""
  return text === "" ? 0n : Annotations.int64(text)
}

/** Revisions that cannot be parsed do not count. */
export const highest = (sets: ReadonlyArray<ReplicaSet>): bigint => ranked(sets)[0] ?? 0n

/** The second highest revision; zero when there is none. */
export const secondHighest = (sets: ReadonlyArray<ReplicaSet>): bigint => ranked(sets)[1] ?? 0n

/** Descending, with at least two entries. */
const ranked = (sets: ReadonlyArray<ReplicaSet>): ReadonlyArray<bigint> =>
  [0n, 0n, ...sets.map(of).filter((revision) => revision !== undefined)].sort((a, b) => compare(b, a))

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)

/** Lowest revision first, one that cannot be parsed counts as zero; then the older ReplicaSet. */
export const byRevision = (a: ReplicaSet, b: ReplicaSet): number =>
  compare(of(a) ?? 0n, of(b) ?? 0n) || ReplicaSets.byAge(a, b)

/** Maximum length of the history annotation, because an object's annotations share one size limit. */
export const historyLimit = 2000

/** Appends a revision and drops the oldest ones above the limit; a revision longer than the limit is not appended. */
export const extend = (history: string, revision: string): string => {
  if (revision.length > historyLimit) return history
  if (history === "") return revision
  const entries = history.split(",")
  let length = history.length + 1 + revision.length
  let dropped = 0
  while (length > historyLimit) length -= (entries[dropped++]?.length ?? 0) + 1
  return [...entries.slice(dropped), revision].join(",")
}

/**
 * The ReplicaSets to delete, lowest revision first. One of the lowest that is still in use stays; no newer one is
 * deleted in its place.
 */
export const surplus = (deployment: Deployment, old: ReadonlyArray<ReplicaSet>): ReadonlyArray<ReplicaSet> => {
  // The largest int32 means no limit; no count exceeds it.
  const limit = deployment.spec?.revisionHistoryLimit ?? Infinity
  const present = old.filter((set) => set.metadata.deletionTimestamp === undefined)
  const excess = present.length - limit
  return excess <= 0 ? [] : present.sort(byRevision).slice(0, excess).filter(isIdle)
}

/** No replicas wanted and none reported, and the ReplicaSet controller has observed the current generation. */
const isIdle = (set: ReplicaSet): boolean =>
  ReplicaSets.size(set) === 0 &&
  ReplicaSets.replicas(set) === 0 &&
  (set.metadata.generation ?? 0) <= (set.status?.observedGeneration ?? 0)
