/**
 * Scaling a Deployment while several of its ReplicaSets have pods: each gets a share of the change in proportion to its
 * size, so that a bad template does not get all new pods. Source: pkg/controller/deployment: scale.
 */
import type { Deployment, ReplicaSet } from "../../../kube/resources.ts"
import * as Annotations from "../annotations.ts"
import * as Bounds from "./bounds.ts"
import * as ReplicaSets from "../replicaSets.ts"
import * as Snapshot from "../snapshot.ts"

/** A ReplicaSet and its new size. */
export interface Resize {
  readonly set: ReplicaSet
  readonly size: number
  /** Write even if the size is the same, to update the desired-replicas annotations. */
  readonly force: boolean
}

export const to = (set: ReplicaSet, size: number): Resize => ({ set, size, force: false })

/**
 * Whether a ReplicaSet was scaled for another `spec.replicas` than the Deployment's. One without the annotation does
 * not count.
 */
export const isDue = (deployment: Deployment, sets: Snapshot.Sets): boolean =>
  Snapshot.all(sets).some((set) => {
    const desired = Annotations.count(set, Annotations.desiredReplicas)
    return ReplicaSets.isActive(set) && desired !== undefined && desired !== Bounds.replicasOf(deployment)
  })

/** The ReplicaSet to write; undefined when nothing changes. */
export const resized = (deployment: Deployment, { force, set, size }: Resize): ReplicaSet | undefined => {
  if (!force && ReplicaSets.size(set) === size) return undefined
  const { maxTotal, replicas } = Bounds.of(deployment)
  const before = Annotations.of(set)
  const scaledFor = { [Annotations.desiredReplicas]: String(replicas), [Annotations.maxReplicas]: String(maxTotal) }
  const isMarked = Object.entries(scaledFor).every(([key, value]) => before[key] === value)
  if ((ReplicaSets.size(set) === size && isMarked) || set.spec === undefined) return undefined
  return Annotations.put({ ...set, spec: { ...set.spec, replicas: size } }, { ...before, ...scaledFor })
}

/**
 * The new sizes in write order: old ReplicaSets newest first, then the new one; by size where they are scaled in
 * proportion. Source: pkg/controller/deployment: scale; deployment/util: FindActiveOrLatest.
 */
export const plan = (deployment: Deployment, sets: Snapshot.Sets): ReadonlyArray<Resize> => {
  const active = Snapshot.all({ ...sets, old: sets.old.toReversed() }).filter(ReplicaSets.isActive)
  if (active.length < 2) {
    const only = active[0] ?? sets.current ?? sets.old.at(-1)
    return only === undefined ? [] : [to(only, Bounds.replicasOf(deployment))]
  }
  if (isSaturated(deployment, sets.current)) {
    return active.filter((set) => set !== sets.current).map((set) => to(set, 0))
  }
  return Bounds.isRolling(deployment) ? proportional(deployment, active) : []
}

/** The new ReplicaSet has all replicas, and all are available. */
const isSaturated = (deployment: Deployment, set: ReplicaSet | undefined): boolean => {
  const replicas = Bounds.replicasOf(deployment)
  return (
    set !== undefined &&
    ReplicaSets.size(set) === replicas &&
    // This annotation may have a sign. Source: pkg/controller/deployment/util: IsSaturated.
    Annotations.int64(Annotations.of(set)[Annotations.desiredReplicas] ?? "") === BigInt(replicas) &&
    ReplicaSets.available(set) === replicas
  )
}

/**
 * Sizes whose sum is what the bounds allow. Each ReplicaSet takes its share, largest first; the rounding remainder goes
 * to the first. No size moves against the direction of the change or below zero: what the first cannot give, the next
 * ones do.
 */
const proportional = (deployment: Deployment, active: ReadonlyArray<ReplicaSet>): ReadonlyArray<Resize> => {
  const { maxTotal, replicas } = Bounds.of(deployment)
  const allowed = replicas > 0 ? maxTotal : 0
  const change = allowed - ReplicaSets.sum(active, ReplicaSets.size)
  const sorted = change === 0 ? active : active.toSorted(bySize(change > 0 ? "newestFirst" : "oldestFirst"))
  let rest = change
  const shared = sorted.map((set) => {
    const share = clip(fraction(deployment, set), rest)
    rest -= share
    return ReplicaSets.size(set) + share
  })
  return sorted.map((set, i) => {
    const before = shared[i] ?? 0
    const size = Math.max(0, before + rest)
    rest -= size - before
    return { set, size, force: true }
  })
}

/** Clips to the range between zero and `rest`, which may be negative. */
const clip = (share: number, rest: number): number =>
  rest > 0 ? Math.min(Math.max(share, 0), rest) : Math.max(Math.min(share, 0), rest)

const bySize =
  (ties: "newestFirst" | "oldestFirst") =>
  (a: ReplicaSet, b: ReplicaSet): number =>
    ReplicaSets.size(b) - ReplicaSets.size(a) ||
    (ties === "newestFirst" ? ReplicaSets.byAge(b, a) : ReplicaSets.byAge(a, b))

/** By how much the ReplicaSet grows in proportion. */
const fraction = (deployment: Deployment, set: ReplicaSet): number => {
  const { maxTotal, replicas } = Bounds.of(deployment)
  const size = ReplicaSets.size(set)
  if (replicas === 0) return -size
  // Zero means unknown here.
  const whole = Annotations.count(set, Annotations.maxReplicas) || (deployment.status?.replicas ?? 0)
  return whole === 0 ? 0 : round((size * maxTotal) / whole) - size
}

/** To the nearest integer, halves away from zero. */
const round = (value: number): number => Math.sign(value) * Math.round(Math.abs(value))
