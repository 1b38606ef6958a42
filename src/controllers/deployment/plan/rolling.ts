/**
 * One step of a RollingUpdate: the new ReplicaSet is scaled up as far as `maxSurge` allows; if it has its size, the old
 * ones are scaled down as far as `maxUnavailable` allows, unavailable pods first. Source: pkg/controller/deployment:
 * reconcileNewReplicaSet, reconcileOldReplicaSets.
 */
import type { Deployment, ReplicaSet } from "../../../kube/resources.ts"
import * as Bounds from "./bounds.ts"
import * as ReplicaSets from "../replicaSets.ts"
import * as Snapshot from "../snapshot.ts"
import * as Scaling from "./scaling.ts"

/** Scales the new ReplicaSet; undefined if it has its size. */
export const grow = (deployment: Deployment, { current, old }: Snapshot.Sets): Scaling.Resize | undefined => {
  if (current === undefined) return undefined
  const size = ReplicaSets.size(current)
  const replicas = Bounds.replicasOf(deployment)
  const next = size > replicas ? replicas : Bounds.sizeOfNew(deployment, size, old)
  return next === size ? undefined : Scaling.to(current, next)
}

/**
 * The old ReplicaSets to scale down, in write order. One may occur twice, first for its unavailable pods, then for the
 * rest. Each size includes the steps before it.
 */
export const shrink = (deployment: Deployment, sets: Snapshot.Sets): ReadonlyArray<Scaling.Resize> => {
  const { minAvailable } = Bounds.of(deployment)
  const all = Snapshot.all(sets)
  const notYetAvailable =
    sets.current === undefined ? 0 : ReplicaSets.size(sets.current) - ReplicaSets.available(sets.current)
  const most = ReplicaSets.sum(all, ReplicaSets.size) - minAvailable - notYetAvailable
  if (most <= 0) return []
  const sizes = new Map(sets.old.map((set) => [set, ReplicaSets.size(set)]))
  const unhealthy = take(sizes, most, (set, size) => size - ReplicaSets.available(set))
  return [...unhealthy, ...take(sizes, ReplicaSets.sum(all, staying) - minAvailable, (_, size) => size)]
}

/**
 * Available pods that no earlier decision removes: a ReplicaSet that was scaled down reports its old count for a while.
 */
const staying = (set: ReplicaSet): number => Math.min(ReplicaSets.available(set), ReplicaSets.size(set))

/** Takes up to `offered` from each ReplicaSet, at most `budget` in total, and stores the new sizes. */
const take = (
  sizes: Map<ReplicaSet, number>,
  budget: number,
  offered: (set: ReplicaSet, size: number) => number
): ReadonlyArray<Scaling.Resize> => {
  const steps: Array<Scaling.Resize> = []
  let rest = budget
  for (const [set, size] of sizes) {
    const taken = Math.min(rest, offered(set, size))
    if (taken <= 0) continue
    rest -= taken
    sizes.set(set, size - taken)
    steps.push(Scaling.to(set, size - taken))
  }
  return steps
}
