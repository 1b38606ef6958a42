/**
 * A Deployment's status: sums of the counts that its ReplicaSets last reported, and the conditions that follow from
 * them. Source: pkg/controller/deployment: calculateStatus, syncRolloutStatus.
 */
import type { Deployment, ReplicaSet } from "../../kube/resources.ts"
import * as Bounds from "./plan/bounds.ts"
import * as Conditions from "./conditions.ts"
import * as Progress from "./plan/progress.ts"
import * as ReplicaSets from "./replicaSets.ts"
import * as Snapshot from "./snapshot.ts"

/** The status without a new Progressing condition. */
export const counted = ({ deployment, now, sets }: Snapshot.Snapshot): Conditions.Status => {
  const all = Snapshot.all(sets)
  const available = ReplicaSets.sum(all, ReplicaSets.available)
  const terminatingReplicas = terminating(all)
  const collisionCount = deployment.status?.collisionCount
  return {
    ...counts({
      observedGeneration: deployment.metadata.generation ?? 0,
      replicas: ReplicaSets.sum(all, ReplicaSets.replicas),
      updatedReplicas: sets.current === undefined ? 0 : ReplicaSets.replicas(sets.current),
      readyReplicas: ReplicaSets.sum(all, (set) => set.status?.readyReplicas ?? 0),
      availableReplicas: available,
      unavailableReplicas: Math.max(0, ReplicaSets.sum(all, ReplicaSets.size) - available)
    }),
    ...(terminatingReplicas === undefined ? {} : { terminatingReplicas }),
    ...(collisionCount === undefined ? {} : { collisionCount }),
    conditions: Conditions.set(Conditions.of(deployment), availability(deployment, available, now))
  }
}

/** The status of a rollout: `counted` plus Progressing and ReplicaFailure. */
export const status = (snapshot: Snapshot.Snapshot): Conditions.Status => {
  const { deployment, now, sets } = snapshot
  const judged = Progress.judge(deployment, sets.current, counted(snapshot), now)
  const conditions = judged.conditions ?? []
  const failure = failureOf(sets)
  return {
    ...judged,
    conditions:
      failure === undefined
        ? Conditions.remove(conditions, Conditions.replicaFailure)
        : Conditions.set(conditions, failure)
  }
}

/** Omits zero counts, as the server stores them. */
const counts = <K extends string>(of: Readonly<Record<K, number>>): Partial<Readonly<Record<K, number>>> => {
  const out: Partial<Record<K, number>> = {}
  for (const key in of) if (of[key] !== 0) out[key] = of[key]
  return out
}

/** Undefined if a ReplicaSet that was synced does not report the field; one that was never synced has none. */
const terminating = (all: ReadonlyArray<ReplicaSet>): number | undefined => {
  let total = 0
  for (const { status } of all) {
    if (status?.terminatingReplicas !== undefined) total += status.terminatingReplicas
    else if ((status?.observedGeneration ?? 0) !== 0) return undefined
  }
  return total
}

const availability = (deployment: Deployment, available: number, now: number): Conditions.Condition =>
  available >= Bounds.of(deployment).minAvailable
    ? Conditions.make(
        Conditions.available,
        "True",
        "MinimumReplicasAvailable",
        "Deployment has minimum availability.",
        now
      )
    : Conditions.make(
        Conditions.available,
        "False",
        "MinimumReplicasUnavailable",
        "Deployment does not have minimum availability.",
        now
      )

/** The new ReplicaSet's failure takes precedence over those of the old ones. */
const failureOf = ({ current, old }: Snapshot.Sets): Conditions.Condition | undefined => {
  for (const set of current === undefined ? old : [current, ...old]) {
    const failure = set.status?.conditions?.find((condition) => condition.type === Conditions.replicaFailure)
    if (failure === undefined) continue
    return failure.lastTransitionTime === undefined
      ? failure
      : { ...failure, lastUpdateTime: failure.lastTransitionTime }
  }
  return undefined
}

/** Whether a write would change nothing. `isKept`: whether the server stores `terminatingReplicas`. */
export const isSame = (a: Conditions.Status, b: Conditions.Status, isKept: boolean): boolean =>
  numbers.every((field) => (a[field] ?? 0) === (b[field] ?? 0)) &&
  a.collisionCount === b.collisionCount &&
  (!isKept || a.terminatingReplicas === b.terminatingReplicas) &&
  sameConditions(a.conditions ?? [], b.conditions ?? [])

/** Fields where zero equals absent. In the two others absent means unknown. */
const numbers = [
  "observedGeneration",
  "replicas",
  "updatedReplicas",
  "readyReplicas",
  "availableReplicas",
  "unavailableReplicas"
] as const

const sameConditions = (a: Conditions.Conditions, b: Conditions.Conditions): boolean =>
  a.length === b.length && a.every((condition, i) => sameCondition(condition, b[i]))

const sameCondition = (a: Conditions.Condition, b: Conditions.Condition | undefined): boolean =>
  a === b ||
  (b !== undefined &&
    a.type === b.type &&
    a.status === b.status &&
    a.reason === b.reason &&
    a.message === b.message &&
    a.lastUpdateTime === b.lastUpdateTime &&
    a.lastTransitionTime === b.lastTransitionTime)
