/**
 * The status of a budget: healthy, desired and expected pods, and allowed disruptions. Pure and idempotent. Entries
 * that the eviction API added to `disruptedPods` are kept until the pod is deleted or the entry expires. Also when a
 * DisruptionTarget condition is stale. Source: pkg/controller/disruption: updatePdbStatus, buildDisruptedPodMap.
 */
import * as Conditions from "../../kube/conditions.ts"
import * as PodState from "../../kube/pod.ts"
import type { Pod, PodDisruptionBudget } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"

/**
 * Milliseconds in which an evicted pod must be observed as deleted. Source: pkg/controller/disruption: DeletionTimeout.
 */
export const deletionTimeout = 120_000

export type Status = NonNullable<PodDisruptionBudget["status"]>

export interface Snapshot {
  readonly budget: PodDisruptionBudget
  /** The pods that the budget selects. */
  readonly pods: ReadonlyArray<Pod>
  /** Expected pods. */
  readonly expected: number
  /** Pods that must be healthy. */
  readonly desired: number
  /** Milliseconds since 1970. */
  readonly now: number
}

export interface Plan {
  /** The status to write; undefined if it is unchanged. */
  readonly status: Status | undefined
  /** Pods that were evicted but not deleted in time. */
  readonly expired: ReadonlyArray<Pod>
  /** Milliseconds until the next entry expires. */
  readonly recheck: number | undefined
}

type Disrupted = Readonly<Record<string, string>>

interface Going {
  /** Evicted and not observed as deleted yet. */
  readonly disrupted: Disrupted
  readonly expired: ReadonlyArray<Pod>
  readonly recheck: number | undefined
}

export const plan = (snapshot: Snapshot): Plan => {
  const { budget, desired, expected, now, pods } = snapshot
  const { disrupted, expired, recheck } = goingOf(snapshot)
  const healthy = pods.filter(
    (pod) =>
      pod.metadata.deletionTimestamp === undefined &&
      !Object.hasOwn(disrupted, pod.metadata.name) &&
      PodState.isReady(pod)
  ).length
  // Without expected pods nothing is allowed: new pods may exist before they are counted.
  const allowed = expected <= 0 ? 0 : Math.max(0, healthy - desired)
  const { generation } = budget.metadata
  const status: Status = {
    ...(Object.keys(disrupted).length === 0 ? {} : { disruptedPods: disrupted }),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    currentHealthy: healthy,
    desiredHealthy: desired,
    expectedPods: expected,
    disruptionsAllowed: allowed,
    conditions: verdict(budget, { status: allowed > 0, ...reasonOf(allowed) }, now)
  }
  return { status: isSame(budget.status, status) ? undefined : status, expired, recheck }
}

const goingOf = ({ budget, now, pods }: Snapshot): Going => {
  const noted: Disrupted = budget.status?.disruptedPods ?? {}
  const disrupted: Record<string, string> = {}
  const expired: Array<Pod> = []
  let recheck: number | undefined
  for (const pod of pods) {
    const { deletionTimestamp, name } = pod.metadata
    const at = Object.hasOwn(noted, name) ? noted[name] : undefined
    if (at === undefined || deletionTimestamp !== undefined) continue
    const left = (Time.parse(at) ?? -Infinity) + deletionTimeout - now
    if (left <= 0) expired.push(pod)
    else {
      disrupted[name] = at
      recheck = Math.min(recheck ?? left, left)
    }
  }
  return { disrupted, expired, recheck }
}

const reasonOf = (allowed: number) => ({ reason: allowed > 0 ? "SufficientPods" : "InsufficientPods" })

/**
 * The status after a failed count, which allows no disruption; undefined if it is unchanged. Source:
 * pkg/controller/disruption: failSafe.
 */
export const failSafe = (budget: PodDisruptionBudget, why: string, now: number): Status | undefined => {
  const { status = empty } = budget
  const claim = { status: false, reason: "SyncFailed", message: why, observedGeneration: status.observedGeneration }
  const safe: Status = { ...status, disruptionsAllowed: 0, conditions: conditionsOf(status, claim, now) }
  return budget.status !== undefined && isSame(status, safe) ? undefined : safe
}

const empty: Status = { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 }

type Claim = Omit<Conditions.Claim, "type">

const verdict = ({ metadata, status = empty }: PodDisruptionBudget, claim: Claim, now: number) =>
  conditionsOf(status, { ...claim, observedGeneration: metadata.generation }, now)

const conditionsOf = ({ conditions }: Status, claim: Claim, now: number): NonNullable<Status["conditions"]> => [
  ...Conditions.set(conditions as Conditions.Conditions | undefined, { type: "DisruptionAllowed", ...claim }, now)
]

const count = (value: number | undefined): number => value ?? 0

/** Whether two statuses are equal, apart from the transition times of conditions. */
const isSame = (a: Status = empty, b: Status): boolean =>
  count(a.currentHealthy) === b.currentHealthy &&
  count(a.desiredHealthy) === b.desiredHealthy &&
  count(a.expectedPods) === b.expectedPods &&
  count(a.disruptionsAllowed) === b.disruptionsAllowed &&
  count(a.observedGeneration) === count(b.observedGeneration) &&
  isSameMap(a.disruptedPods, b.disruptedPods) &&
  isSameList(a.conditions, b.conditions)

const isSameMap = (a: Disrupted = {}, b: Disrupted = {}): boolean => {
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && Time.parse(a[name]) === Time.parse(b[name]))
  )
}

/** `Conditions.set` returns the same objects where nothing changed. */
const isSameList = (a: Status["conditions"] = [], b: Status["conditions"] = []): boolean =>
  a.length === b.length && a.every((condition, i) => condition === b[i])
