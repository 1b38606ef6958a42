/**
 * How many pods a Deployment may have and how many must be available. A percentage is rounded up for `maxSurge` and
 * down for `maxUnavailable`; if both come to zero, one pod may be unavailable, so that the rollout can proceed. Source:
 * pkg/controller/deployment/util: ResolveFenceposts, NewRSNewReplicas.
 */
import * as IntOrPercent from "../../../kube/intOrPercent.ts"
import type { Deployment, ReplicaSet } from "../../../kube/resources.ts"
import * as ReplicaSets from "../replicaSets.ts"

/** Pod counts, none negative. */
export interface Bounds {
  readonly replicas: number
  /** Zero unless the strategy is RollingUpdate. */
  readonly maxSurge: number
  /** At most `replicas`; zero unless the strategy is RollingUpdate. */
  readonly maxUnavailable: number
  /** `replicas + maxSurge`. */
  readonly maxTotal: number
  /** `replicas - maxUnavailable`. */
  readonly minAvailable: number
}

export const isRolling = (deployment: Deployment): boolean => deployment.spec?.strategy?.type === "RollingUpdate"

/** The server's default is 1. */
export const replicasOf = (deployment: Deployment): number => deployment.spec?.replicas ?? 1

export const of = (deployment: Deployment): Bounds => {
  const replicas = replicasOf(deployment)
  const { maxSurge, maxUnavailable } = isRolling(deployment)
    ? fenceposts(replicas, deployment.spec?.strategy?.rollingUpdate ?? {})
    : { maxSurge: 0, maxUnavailable: 0 }
  return {
    replicas,
    maxSurge,
    maxUnavailable,
    maxTotal: replicas + maxSurge,
    minAvailable: replicas - maxUnavailable
  }
}

const fenceposts = (
  replicas: number,
  given: {
    readonly maxSurge?: IntOrPercent.IntOrPercent | undefined
    readonly maxUnavailable?: IntOrPercent.IntOrPercent | undefined
  }
): Pick<Bounds, "maxSurge" | "maxUnavailable"> => {
  const maxSurge = IntOrPercent.resolve(given.maxSurge ?? 0, replicas, "up") ?? 0
  const asked = IntOrPercent.resolve(given.maxUnavailable ?? 0, replicas, "down") ?? 0
  const maxUnavailable = maxSurge === 0 && asked === 0 ? 1 : asked
  return { maxSurge, maxUnavailable: Math.min(maxUnavailable, replicas) }
}

/** The size that the bounds allow for the new ReplicaSet; never below `current`. `others`: the other ReplicaSets. */
export const sizeOfNew = (deployment: Deployment, current: number, others: ReadonlyArray<ReplicaSet>): number => {
  const { maxTotal, replicas } = of(deployment)
  if (!isRolling(deployment)) return replicas
  const room = maxTotal - current - ReplicaSets.sum(others, ReplicaSets.size)
  return current + Math.max(0, Math.min(room, replicas - current))
}
