/**
 * The plan of one sync of a ReplicaSet or ReplicationController: how many pods to create or which to delete, and the resulting status. Pure. Times
 * are milliseconds since 1970. Source: pkg/controller/replicaset: manageReplicas, calculateStatus.
 */
import type { KubeObject } from "../../../kube/Meta.ts"
import * as PodFacts from "../../../kube/pod.ts"
import type { Pod } from "../../../kube/resources.ts"
import * as Time from "../../../kube/time.ts"
import type { Template } from "./podControl.ts"
import * as Ranking from "./ranking.ts"

/** A condition of an owner. This loop writes only `ReplicaFailure`. */
export interface Condition {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
}

export interface Status {
  readonly replicas: number
  readonly fullyLabeledReplicas?: number
  readonly readyReplicas?: number
  readonly availableReplicas?: number
  /** ReplicaSets only. */
  readonly terminatingReplicas?: number
  /** The generation for which the counts were computed. */
  readonly observedGeneration?: number
  readonly conditions?: ReadonlyArray<Condition>
}

/** What ReplicaSets and ReplicationControllers have in common. */
export interface ReplicaOwner extends KubeObject {
  readonly spec?: {
    readonly replicas?: number
    readonly minReadySeconds?: number
    readonly template?: Template
  }
  readonly status?: Status
}

/** The limit of pods created or deleted in one sync. */
export const burst = 500

/** The server's default is 1. */
export const desired = (owner: ReplicaOwner): number => owner.spec?.replicas ?? 1

export const minReadySeconds = (owner: ReplicaOwner): number => owner.spec?.minReadySeconds ?? 0

export type Step =
  | { readonly _tag: "Nothing" }
  /** From 1 to {@link burst}. */
  | { readonly _tag: "Create"; readonly count: number }
  /** At least one, at most {@link burst}. */
  | { readonly _tag: "Delete"; readonly pods: ReadonlyArray<Pod> }

export const nothing: Step = { _tag: "Nothing" }

/** The step that brings the active pods to the desired number. `related`: see `Ranking.victims`. */
export const step = (replicas: number, active: ReadonlyArray<Pod>, related: () => Iterable<Pod>, now: number): Step => {
  const surplus = active.length - replicas
  if (surplus === 0) return nothing
  const count = Math.min(Math.abs(surplus), burst)
  return surplus < 0
    ? { _tag: "Create", count }
    : { _tag: "Delete", pods: Ranking.victims(active, count, related, now) }
}

export interface Observed<O> {
  readonly owner: O
  /** The owner's active pods as they were before anything was done. */
  readonly active: ReadonlyArray<Pod>
  /** How many pods of the owner are terminating; undefined for a kind without that field. */
  readonly terminating: number | undefined
  /** Why creating or deleting pods failed; undefined if nothing failed. */
  readonly failure: string | undefined
  readonly now: number
}

/** The status for the observed pods; unknown fields are kept. */
export const status = <O extends ReplicaOwner>(observed: Observed<O>): Status => {
  const { active, now, owner, terminating } = observed
  const labels = Object.entries(owner.spec?.template?.metadata?.labels ?? {})
  const count = (holds: (pod: Pod) => boolean): number => active.reduce((sum, pod) => (holds(pod) ? sum + 1 : sum), 0)
  const { conditions: before, ...rest } = owner.status ?? {}
  const conditions = conditionsOf(before ?? [], observed)
  return {
    ...rest,
    replicas: active.length,
    fullyLabeledReplicas: count((pod) => labels.every(([key, value]) => pod.metadata.labels?.[key] === value)),
    readyReplicas: count(PodFacts.isReady),
    availableReplicas: count((pod) => PodFacts.isAvailable(pod, minReadySeconds(owner), now)),
    ...(terminating === undefined ? {} : { terminatingReplicas: terminating }),
    ...(owner.metadata.generation === undefined ? {} : { observedGeneration: owner.metadata.generation }),
    ...(conditions.length === 0 ? {} : { conditions })
  }
}

const replicaFailure = "ReplicaFailure"

/** ReplicaFailure is present while creating or deleting pods fails. An existing condition is kept, so it has the message of the first failure. */
const conditionsOf = (
  before: ReadonlyArray<Condition>,
  { active, failure, now, owner }: Observed<ReplicaOwner>
): ReadonlyArray<Condition> => {
  const known = before.some(({ type }) => type === replicaFailure)
  if (failure === undefined) return known ? before.filter(({ type }) => type !== replicaFailure) : before
  if (known) return before
  const surplus = active.length - desired(owner)
  const reason = surplus < 0 ? "FailedCreate" : surplus > 0 ? "FailedDelete" : ""
  return [
    ...before,
    { type: replicaFailure, status: "True", reason, message: failure, lastTransitionTime: Time.format(now) }
  ]
}

/**
 * Whether the stored status has the same content for the present generation. Absent counts equal zero, except `terminatingReplicas`: absent means
 * not counted yet. `isKept`: whether the server keeps that field. Source: pkg/controller/replicaset: updateReplicaSetStatus.
 */
export const isCurrent = (owner: ReplicaOwner, next: Status, isKept: boolean): boolean => {
  const before = owner.status
  return (
    (before?.replicas ?? 0) === next.replicas &&
    counts.every((field) => (before?.[field] ?? 0) === (next[field] ?? 0)) &&
    (!isKept || before?.terminatingReplicas === next.terminatingReplicas) &&
    before?.observedGeneration === owner.metadata.generation &&
    sameConditions(before?.conditions ?? [], next.conditions ?? [])
  )
}

const counts = ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"] as const

const sameConditions = (a: ReadonlyArray<Condition>, b: ReadonlyArray<Condition>): boolean =>
  a === b ||
  (a.length === b.length &&
    a.every((x, i) => {
      const y = b[i]
      return (
        x.type === y?.type &&
        x.status === y.status &&
        (x.reason ?? "") === (y.reason ?? "") &&
        (x.message ?? "") === (y.message ?? "") &&
        x.lastTransitionTime === y.lastTransitionTime
      )
    }))

/**
 * Milliseconds until the next pod becomes available, or `minReadySeconds` if no pod has a ready time; undefined if all ready pods are available.
 * `written`: the stored status.
 */
export const recheck = <O extends ReplicaOwner>(
  { active, now, owner }: Pick<Observed<O>, "owner" | "active" | "now">,
  written: Status
): number | undefined => {
  const seconds = minReadySeconds(owner)
  if (seconds <= 0 || (written.readyReplicas ?? 0) === (written.availableReplicas ?? 0)) return undefined
  return PodFacts.nextAvailability(active, seconds, now) ?? seconds * 1000
}
