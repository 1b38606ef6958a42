/**
 * The five deletion conditions of a namespace. All five are always set, in this order; a condition without a failure is False. Pure. Source:
 * pkg/controller/namespace/deletion: namespaceConditionUpdater.
 */
import type { Namespace } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"
import type { Remains } from "./remains.ts"

export type Condition = NonNullable<NonNullable<Namespace["status"]>["conditions"]>[number]

export interface Report {
  /** Why discovery failed, completely or for some groups. */
  readonly discovery: string | undefined
  /** Failures to list or delete objects. */
  readonly failures: ReadonlyArray<string>
  /** The remaining objects of the kinds processed so far: only of pods while pods remain. */
  readonly remains: ReadonlyArray<Remains>
}

interface Claim {
  readonly type: string
  readonly status: "True" | "False"
  readonly reason: string
  readonly message: string
}

const conditionFalse = (type: string, reason: string, message: string): Claim => ({
  type,
  status: "False",
  reason,
  message
})
const conditionTrue = (type: string, reason: string, message: string): Claim => ({
  type,
  status: "True",
  reason,
  message
})

const discovery = (failure: string | undefined): Claim => {
  const type = "NamespaceDeletionDiscoveryFailure"
  return failure === undefined
    ? conditionFalse(type, "ResourcesDiscovered", "All resources successfully discovered")
    : conditionTrue(type, "DiscoveryFailed", failure)
}

/** Never True: discovery parses each group version by itself and skips those that it cannot parse. */
const parsing = conditionFalse(
  "NamespaceDeletionGroupVersionParsingFailure",
  "ParsedGroupVersions",
  "All legacy kube types successfully parsed"
)

const content = (failures: ReadonlyArray<string>): Claim => {
  const type = "NamespaceDeletionContentFailure"
  if (failures.length === 0) {
    return conditionFalse(type, "ContentDeleted", "All content successfully deleted, may be waiting on finalization")
  }
  const messages = [...failures].sort().join(", ")
  return conditionTrue(
    type,
    "ContentDeletionFailed",
    `Failed to delete all resource types, ${failures.length} remaining: ${messages}`
  )
}

const remaining = (remains: ReadonlyArray<Remains>): Claim => {
  const type = "NamespaceContentRemaining"
  const counts = remains
    .filter(({ count }) => count > 0)
    .map(({ count, resource: { group, plural } }) => `${plural}.${group} has ${count} resource instances`)
  return counts.length === 0
    ? conditionFalse(type, "ContentRemoved", "All content successfully removed")
    : conditionTrue(type, "SomeResourcesRemain", `Some resources are remaining: ${counts.sort().join(", ")}`)
}

const finalizers = (remains: ReadonlyArray<Remains>): Claim => {
  const type = "NamespaceFinalizersRemaining"
  const sums = new Map<string, number>()
  for (const one of remains) {
    for (const [finalizer, count] of one.finalizers) sums.set(finalizer, (sums.get(finalizer) ?? 0) + count)
  }
  const counts = Array.from(sums, ([finalizer, count]) => `${finalizer} in ${count} resource instances`)
  return counts.length === 0
    ? conditionFalse(type, "ContentHasNoFinalizers", "All content-preserving finalizers finished")
    : conditionTrue(
        type,
        "SomeFinalizersRemain",
        `Some content in the namespace has finalizers remaining: ${counts.sort().join(", ")}`
      )
}

/**
 * The conditions after a pass; undefined if nothing changed. Conditions of other controllers keep their places. A condition keeps its
 * transition time until its status changes. `now` is milliseconds since 1970.
 */
export const next = (
  before: ReadonlyArray<Condition>,
  report: Report,
  now: number
): ReadonlyArray<Condition> | undefined => {
  const claims = [
    discovery(report.discovery),
    parsing,
    content(report.failures),
    remaining(report.remains),
    finalizers(report.remains)
  ]
  const conditions = [...before]
  let isChanged = false
  for (const claim of claims) {
    const at = conditions.findIndex(({ type }) => type === claim.type)
    const old = conditions[at]
    if (old !== undefined && isSame(old, claim)) continue
    isChanged = true
    const since = old?.status === claim.status ? old.lastTransitionTime : undefined
    const condition = { ...old, ...claim, lastTransitionTime: since ?? Time.format(now) }
    if (old === undefined) conditions.push(condition)
    else conditions[at] = condition
  }
  return isChanged ? conditions : undefined
}

const isSame = (condition: Condition, { message, reason, status }: Claim): boolean =>
  condition.status === status && (condition.reason ?? "") === reason && (condition.message ?? "") === message
