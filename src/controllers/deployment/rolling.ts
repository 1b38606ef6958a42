/**
 * One step of a RollingUpdate: the new ReplicaSet grows as far as the surge allows; if it cannot, the old ones shrink as far as
 * availability allows, those pods first that are not available anyway. Source: spec B.6.
 */
import type { Deployment, ReplicaSet } from "../../kube/resources.ts"
import * as Bounds from "./bounds.ts"
import * as ReplicaSets from "./replicaSets.ts"
import * as Scaling from "./scaling.ts"

/** The size of the new set; undefined if it has it. */
export const grow = (deployment: Deployment, { current, old }: ReplicaSets.Sets): Scaling.Resize | undefined => {
  if (current === undefined) return undefined
  const size = ReplicaSets.size(current)
  const replicas = Bounds.replicasOf(deployment)
  const next = size > replicas ? replicas : Bounds.sizeOfNew(deployment, size, old)
  return next === size ? undefined : Scaling.to(current, next)
}

/**
 * The old sets that shrink, in the order of writing; one may shrink twice, first by what is unhealthy and then by what is spare. Each
 * size counts on the ones before it.
 */
export const shrink = (deployment: Deployment, sets: ReplicaSets.Sets): ReadonlyArray<Scaling.Resize> => {
  const { minAvailable } = Bounds.of(deployment)
  const all = ReplicaSets.all(sets)
  const notYetAvailable =
    sets.current === undefined ? 0 : ReplicaSets.size(sets.current) - ReplicaSets.available(sets.current)
  const most = ReplicaSets.sum(all, ReplicaSets.size) - minAvailable - notYetAvailable
  if (most <= 0) return []
  const sizes = new Map(sets.old.map((set) => [set, ReplicaSets.size(set)]))
  const unhealthy = take(sizes, most, (set, size) => size - ReplicaSets.available(set))
  return [...unhealthy, ...take(sizes, ReplicaSets.sum(all, staying) - minAvailable, (_, size) => size)]
}

/** Available pods that nobody has decided to remove: a set that was scaled down reports the old number for a while. */
const staying = (set: ReplicaSet): number => Math.min(ReplicaSets.available(set), ReplicaSets.size(set))

/** Takes from each set what is offered, in order, at most `budget` in all; notes the sizes that are left. */
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
