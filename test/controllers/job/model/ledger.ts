/**
 * Invariants of a Job at every revision: each pod is counted once and none before its uid is in the status, the interim condition comes before the
 * terminal one, and nothing changes after the end. It is called for each write and keeps the first violation.
 */
import type { Job, Pod } from "../../../../src/kube/resources.ts"
import * as PodFacts from "../../../../src/kube/pod.ts"

type Status = NonNullable<Job["status"]>

export interface Ledger {
  readonly violation: (text: string) => void
  /** The first violation. */
  readonly wrong: () => string | undefined
  /** A pod was written. */
  readonly pod: (pod: Pod) => void
  /** The loop has created a pod; `active` pods exist now, and the parallelism is that of the loop's cache. */
  readonly created: (job: Job, active: number, parallelism: number) => void
  /** The loop removes the finalizer from a pod; `cached` is the pod in the loop's cache. */
  readonly removeFinalizer: (job: Job, pod: Pod, cached: Pod) => void
  readonly status: (before: Job, after: Job) => void
  /** Uids that were counted. */
  readonly counted: () => ReadonlySet<string>
  /** Uids of active pods that the loop deleted as surplus. */
  readonly surplus: () => ReadonlySet<string>
}

const uncounted = (status: Status | undefined, which: "succeeded" | "failed"): ReadonlyArray<string> =>
  status?.uncountedTerminatedPods?.[which] ?? []

const holds = (status: Status | undefined, type: string): boolean =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === "True") === true

const indexesOf = (text: string | undefined): ReadonlySet<number> =>
  new Set(
    (text ?? "").split(",").flatMap((part) => {
      if (part === "") return []
      const [first = 0, last = first] = part.split("-").map(Number)
      return Array.from({ length: last - first + 1 }, (_, i) => first + i)
    })
  )

const isFinished = (status: Status | undefined): boolean => holds(status, "Complete") || holds(status, "Failed")

export const make = (): Ledger => {
  let first: string | undefined
  const counted = new Set<string>()
  const surplus = new Set<string>()
  const pods = new Map<string, Pod>()
  const violation = (text: string): void => void (first ??= text)

  const checkUncounted = (
    before: Status | undefined,
    after: Status | undefined,
    which: "succeeded" | "failed"
  ): void => {
    const was = uncounted(before, which)
    const is = uncounted(after, which)
    if (new Set(is).size !== is.length) violation(`a uid is twice in uncounted ${which}`)
    for (const uid of is) if (counted.has(uid)) violation(`${uid} is counted again`)
    const left = was.filter((uid) => !is.includes(uid))
    for (const uid of left) {
      if (pods.get(uid)?.metadata.finalizers !== undefined) violation(`${uid} is counted and has the finalizer`)
      counted.add(uid)
    }
    const more = (after?.[which] ?? 0) - (before?.[which] ?? 0)
    // Successes of an indexed Job are counted by index, not by uid.
    if (after?.completedIndexes === undefined || which === "failed")
      if (more !== left.length && (which === "failed" || before?.completedIndexes === undefined))
        violation(`${which} went up by ${more} for ${left.length} pods`)
  }

  const checkEnd = (before: Status | undefined, after: Status | undefined): void => {
    if (isFinished(before)) violation("the status was written after the end")
    for (const [interim, terminal] of [
      ["SuccessCriteriaMet", "Complete"],
      ["FailureTarget", "Failed"]
    ] as const) {
      if (holds(before, interim) && !holds(after, interim)) violation(`${interim} was revoked`)
      if (holds(after, terminal) && !holds(before, interim)) violation(`${terminal} without ${interim} before`)
    }
    if (holds(after, "SuccessCriteriaMet") && holds(after, "FailureTarget"))
      violation("SuccessCriteriaMet and FailureTarget hold together")
    if (!isFinished(after)) return
    if ([...uncounted(after, "succeeded"), ...uncounted(after, "failed")].length > 0)
      violation("finished with uids in uncountedTerminatedPods")
    if ((after?.terminating ?? 0) > 0) violation("finished with terminating pods")
    if ((after?.active ?? 0) > 0) violation("finished with active pods")
    if (holds(after, "Complete") !== (after?.completionTime !== undefined))
      violation("a completion time without completion")
    const left = [...pods.values()].filter((pod) => !PodFacts.isTerminal(pod) && pod.metadata.finalizers !== undefined)
    if (left.length > 0)
      violation(`finished with the finalizer on ${left.map(({ metadata }) => metadata.name).join(", ")}`)
  }

  return {
    violation,
    wrong: () => first,
    pod: (pod) => void pods.set(pod.metadata.uid ?? "", pod),
    created: ({ status }, active, parallelism) => {
      if (active > parallelism) violation(`created active pod ${active} with parallelism ${parallelism}`)
      if (isFinished(status)) violation("created a pod for a finished Job")
    },
    removeFinalizer: ({ status }, pod, cached) => {
      const { uid = "" } = pod.metadata
      const index = pod.metadata.annotations?.["batch.kubernetes.io/job-completion-index"]
      const isIn = (text: string | undefined): boolean => index !== undefined && indexesOf(text).has(Number(index))
      const isRecorded =
        [...uncounted(status, "succeeded"), ...uncounted(status, "failed")].includes(uid) ||
        isIn(status?.completedIndexes) ||
        // A success after the failure of its index is not counted.
        (pod.status?.phase === "Succeeded" && isIn(status?.failedIndexes))
      if (isRecorded || isFinished(status)) return
      if (holds(status, "SuccessCriteriaMet") && PodFacts.isActive(cached)) return
      // Surplus pods lose the finalizer while they run, and their end is not counted.
      if (PodFacts.isActive(cached)) surplus.add(uid)
      else violation(`${uid} lost its finalizer and is not in the status`)
    },
    status: ({ status: before }, { status: after }) => {
      for (const which of ["succeeded", "failed"] as const) checkUncounted(before, after, which)
      const was = indexesOf(before?.completedIndexes)
      const is = indexesOf(after?.completedIndexes)
      for (const index of was) if (!is.has(index)) violation(`index ${index} is not complete any more`)
      if (is.size > 0 && after?.succeeded !== is.size) violation(`${after?.succeeded} succeeded and ${is.size} indexes`)
      checkEnd(before, after)
    },
    counted: () => counted,
    surplus: () => surplus
  }
}
