/**
 * Revisions number the templates a Deployment has had. The new ReplicaSet always has the highest; one that becomes the new one again
 * is renumbered and keeps its former numbers as history. Numbers are int64, hence bigint. Also which
 * old ReplicaSets the history no longer needs. Source: pkg/controller/deployment/util: SetNewReplicaSetAnnotations; cleanupDeployment.
 */
import type { KubeObject } from "../../kube/Meta.ts"
import type { Deployment, ReplicaSet } from "../../kube/resources.ts"
import * as Annotations from "./annotations.ts"
import * as ReplicaSets from "./replicaSets.ts"

/** Zero without an annotation or with an empty one, undefined with one that is no int64. */
export const of = (object: KubeObject): bigint | undefined => {
  const text = Annotations.of(object)[Annotations.revision] ?? ""
  return text === "" ? 0n : Annotations.int64(text)
}

/** Unreadable ones do not count. */
export const highest = (sets: ReadonlyArray<ReplicaSet>): bigint => ranked(sets)[0] ?? 0n

/** The revision before the highest; zero when there is none. */
export const secondHighest = (sets: ReadonlyArray<ReplicaSet>): bigint => ranked(sets)[1] ?? 0n

/** Descending, and never without two. */
const ranked = (sets: ReadonlyArray<ReplicaSet>): ReadonlyArray<bigint> =>
  [0n, 0n, ...sets.map(of).filter((revision) => revision !== undefined)].sort((a, b) => compare(b, a))

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)

/** Lowest revision first, an unreadable one counting as zero; of equals the older set. */
export const byRevision = (a: ReplicaSet, b: ReplicaSet): number =>
  compare(of(a) ?? 0n, of(b) ?? 0n) || ReplicaSets.byAge(a, b)

/** Characters of a history; annotations of an object share a limited space. */
export const historyLimit = 2000

/** Adds a revision, and drops the oldest so that the text keeps the limit; one that is longer than the limit itself is not added. */
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
 * The sets to delete, lowest revision first. One among the lowest that is still in use is left for later; no other is deleted in its
 * place, or the history would lose the newer revision.
 */
export const surplus = (deployment: Deployment, old: ReadonlyArray<ReplicaSet>): ReadonlyArray<ReplicaSet> => {
  // The largest int32, which stands for no limit, is never exceeded.
  const limit = deployment.spec?.revisionHistoryLimit ?? Infinity
  const present = old.filter((set) => set.metadata.deletionTimestamp === undefined)
  const excess = present.length - limit
  return excess <= 0 ? [] : present.sort(byRevision).slice(0, excess).filter(isIdle)
}

/** No pods wanted, none there, and the set's loop has seen that. */
const isIdle = (set: ReplicaSet): boolean =>
  ReplicaSets.size(set) === 0 &&
  ReplicaSets.replicas(set) === 0 &&
  (set.metadata.generation ?? 0) <= (set.status?.observedGeneration ?? 0)
