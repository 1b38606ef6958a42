/**
 * The status of a namespace that is being deleted: its five deletion conditions. All five are always set, in this order; a condition without a failure is False. Pure. Source:
 * pkg/controller/namespace/deletion: namespaceConditionUpdater.
 */
import * as Conditions from "../../kube/conditions.ts"
import type { Namespace } from "../../kube/resources.ts"
import type { Remains } from "./remains.ts"

type Status = NonNullable<Namespace["status"]>

export interface Report {
  /** Why discovery failed, completely or for some groups. */
  readonly discovery: string | undefined
  /** Failures to list or delete objects. */
  readonly failures: ReadonlyArray<string>
  /** The remaining objects of the kinds processed so far: only of pods while pods remain. */
  readonly remains: ReadonlyArray<Remains>
}

type Claim = Conditions.Claim

const conditionFalse = (type: string, reason: string, message: string): Claim => ({
  type,
  status: false,
  reason,
  message
})
const conditionTrue = (type: string, reason: string, message: string): Claim => ({
  type,
  status: true,
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
 * The status after a pass; undefined if nothing changed. Conditions of other controllers keep their places. A condition keeps its
 * transition time until its status changes. `now` is milliseconds since 1970.
 */
export const status = (before: Status | undefined, report: Report, now: number): Status | undefined => {
  const claims = [
    discovery(report.discovery),
    parsing,
    content(report.failures),
    remaining(report.remains),
    finalizers(report.remains)
  ]
  const known = (before?.conditions ?? []) as Conditions.Conditions
  const conditions = claims.reduce((all, claim) => Conditions.set(all, claim, now), known)
  return conditions === known ? undefined : { ...before, conditions: [...conditions] }
}
