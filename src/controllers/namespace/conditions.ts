/**
 * The five deletion conditions of a namespace: always all of them, in this order, False where nothing is wrong. A total function. Source:
 * pkg/controller/namespace/deletion: namespaceConditionUpdater.
 */
import type { Namespace } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"
import type { Remains } from "./remains.ts"

export type Condition = NonNullable<NonNullable<Namespace["status"]>["conditions"]>[number]

export interface Report {
  /** Why not all resources are known. */
  readonly discovery: string | undefined
  /** What went wrong with resources. */
  readonly failures: ReadonlyArray<string>
  /** What is left, of the kinds that have been looked at: of pods alone while they are waited for. */
  readonly remains: ReadonlyArray<Remains>
}

interface Verdict {
  readonly type: string
  readonly status: "True" | "False"
  readonly reason: string
  readonly message: string
}

const good = (type: string, reason: string, message: string): Verdict => ({ type, status: "False", reason, message })
const bad = (type: string, reason: string, message: string): Verdict => ({ type, status: "True", reason, message })

const discovery = (failure: string | undefined): Verdict => {
  const type = "NamespaceDeletionDiscoveryFailure"
  return failure === undefined
    ? good(type, "ResourcesDiscovered", "All resources successfully discovered")
    : bad(type, "DiscoveryFailed", failure)
}

/** Never True here: versions of groups are read apart by discovery, which skips what it cannot read. */
const parsing = good(
  "NamespaceDeletionGroupVersionParsingFailure",
  "ParsedGroupVersions",
  "All legacy kube types successfully parsed"
)

const content = (failures: ReadonlyArray<string>): Verdict => {
  const type = "NamespaceDeletionContentFailure"
  if (failures.length === 0) {
    return good(type, "ContentDeleted", "All content successfully deleted, may be waiting on finalization")
  }
  const messages = [...failures].sort().join(", ")
  return bad(
    type,
    "ContentDeletionFailed",
    `Failed to delete all resource types, ${failures.length} remaining: ${messages}`
  )
}

const remaining = (remains: ReadonlyArray<Remains>): Verdict => {
  const type = "NamespaceContentRemaining"
  const counts = remains
    .filter(({ count }) => count > 0)
    .map(({ count, resource: { group, plural } }) => `${plural}.${group} has ${count} resource instances`)
  return counts.length === 0
    ? good(type, "ContentRemoved", "All content successfully removed")
    : bad(type, "SomeResourcesRemain", `Some resources are remaining: ${counts.sort().join(", ")}`)
}

const finalizers = (remains: ReadonlyArray<Remains>): Verdict => {
  const type = "NamespaceFinalizersRemaining"
  const sums = new Map<string, number>()
  for (const one of remains) {
    for (const [finalizer, count] of one.finalizers) sums.set(finalizer, (sums.get(finalizer) ?? 0) + count)
  }
  const counts = Array.from(sums, ([finalizer, count]) => `${finalizer} in ${count} resource instances`)
  return counts.length === 0
    ? good(type, "ContentHasNoFinalizers", "All content-preserving finalizers finished")
    : bad(
        type,
        "SomeFinalizersRemain",
        `Some content in the namespace has finalizers remaining: ${counts.sort().join(", ")}`
      )
}

/**
 * The conditions after a pass; undefined if they say what they said before. Those of others stay where they are; a condition
 * keeps its time until its status changes. `now` is milliseconds since 1970.
 */
export const next = (
  before: ReadonlyArray<Condition>,
  report: Report,
  now: number
): ReadonlyArray<Condition> | undefined => {
  const verdicts = [
    discovery(report.discovery),
    parsing,
    content(report.failures),
    remaining(report.remains),
    finalizers(report.remains)
  ]
  const conditions = [...before]
  let isChanged = false
  for (const verdict of verdicts) {
    const at = conditions.findIndex(({ type }) => type === verdict.type)
    const old = conditions[at]
    if (old !== undefined && isSame(old, verdict)) continue
    isChanged = true
    const since = old?.status === verdict.status ? old.lastTransitionTime : undefined
    const condition = { ...old, ...verdict, lastTransitionTime: since ?? Time.format(now) }
    if (old === undefined) conditions.push(condition)
    else conditions[at] = condition
  }
  return isChanged ? conditions : undefined
}

const isSame = (condition: Condition, { message, reason, status }: Verdict): boolean =>
  condition.status === status && (condition.reason ?? "") === reason && (condition.message ?? "") === message
