/**
 * Invariants of a Job that hold at every revision, whoever writes: each pod is counted once and none before its uid is in the status, the interim
 * condition comes before the terminal one, and nothing changes after the end. It is called for each write and keeps the first violation.
 */
import type { Job, Pod } from "../../../../src/kube/resources.ts"
import * as PodFacts from "../../../../src/kube/pod.ts"

type Status = NonNullable<Job["status"]>

export interface Ledger {
  readonly say: (wrong: string) => void
  readonly wrong: () => string | undefined
  /** A pod is written, by whomever. */
  readonly pod: (pod: Pod) => void
  /** The loop has made a pod; so many are active now. */
  readonly created: (job: Job, active: number, believed: number) => void
  /** The loop takes the finalizer off a pod, as it is and as the loop knew it. */
  readonly removeFinalizer: (job: Job, pod: Pod, known: Pod) => void
  readonly status: (before: Job, after: Job) => void
  /** Uids that were counted. */
  readonly counted: () => ReadonlySet<string>
  /** Uids that the loop let go because they were too many. */
  readonly recalled: () => ReadonlySet<string>
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

const isOver = (status: Status | undefined): boolean => holds(status, "Complete") || holds(status, "Failed")

export const make = (): Ledger => {
  let wrong: string | undefined
  const counted = new Set<string>()
  const recalled = new Set<string>()
  const pods = new Map<string, Pod>()
  const say = (text: string): void => void (wrong ??= text)

  const moves = (before: Status | undefined, after: Status | undefined, which: "succeeded" | "failed"): void => {
    const was = uncounted(before, which)
    const is = uncounted(after, which)
    if (new Set(is).size !== is.length) say(`a uid is twice in uncounted ${which}`)
    for (const uid of is) if (counted.has(uid)) say(`${uid} is to be counted again`)
    const left = was.filter((uid) => !is.includes(uid))
    for (const uid of left) {
      if (pods.get(uid)?.metadata.finalizers !== undefined) say(`${uid} is counted and still held`)
      counted.add(uid)
    }
    const more = (after?.[which] ?? 0) - (before?.[which] ?? 0)
    // An index is counted by its own, and not by the uid of its pod.
    if (after?.completedIndexes === undefined || which === "failed")
      if (more !== left.length && (which === "failed" || before?.completedIndexes === undefined))
        say(`${which} went up by ${more} for ${left.length} pods`)
  }

  const ends = (before: Status | undefined, after: Status | undefined): void => {
    if (isOver(before)) say("something was written after the end")
    for (const [first, last] of [
      ["SuccessCriteriaMet", "Complete"],
      ["FailureTarget", "Failed"]
    ] as const) {
      if (holds(before, first) && !holds(after, first)) say(`${first} was taken back`)
      if (holds(after, last) && !holds(before, first)) say(`${last} without ${first} before`)
    }
    if (holds(after, "SuccessCriteriaMet") && holds(after, "FailureTarget")) say("both ends at once")
    if (!isOver(after)) return
    if ([...uncounted(after, "succeeded"), ...uncounted(after, "failed")].length > 0) say("over, and not all counted")
    if ((after?.terminating ?? 0) > 0) say("over, and not all gone")
    if ((after?.active ?? 0) > 0) say("over, and some active")
    if (holds(after, "Complete") !== (after?.completionTime !== undefined)) say("a completion time without completion")
    const left = [...pods.values()].filter((pod) => !PodFacts.isTerminal(pod) && pod.metadata.finalizers !== undefined)
    if (left.length > 0) say(`over, and ${left.map(({ metadata }) => metadata.name).join(", ")} held`)
  }

  return {
    say,
    wrong: () => wrong,
    pod: (pod) => void pods.set(pod.metadata.uid ?? "", pod),
    created: ({ status }, active, believed) => {
      if (active > believed) say(`made pod ${active} of ${believed}`)
      if (isOver(status)) say("made a pod for a Job that is over")
    },
    removeFinalizer: ({ status }, pod, known) => {
      const { uid = "" } = pod.metadata
      const index = pod.metadata.annotations?.["batch.kubernetes.io/job-completion-index"]
      const isIn = (text: string | undefined): boolean => index !== undefined && indexesOf(text).has(Number(index))
      const isDown =
        [...uncounted(status, "succeeded"), ...uncounted(status, "failed")].includes(uid) ||
        isIn(status?.completedIndexes) ||
        // What comes after the end of an index is worth nothing.
        (pod.status?.phase === "Succeeded" && isIn(status?.failedIndexes))
      if (isDown || isOver(status)) return
      if (holds(status, "SuccessCriteriaMet") && PodFacts.isActive(known)) return
      // Surplus pods lose the finalizer while they run; how they end does not count.
      if (PodFacts.isActive(known)) recalled.add(uid)
      else say(`${uid} was let go and is not written down`)
    },
    status: ({ status: before }, { status: after }) => {
      for (const which of ["succeeded", "failed"] as const) moves(before, after, which)
      const was = indexesOf(before?.completedIndexes)
      const is = indexesOf(after?.completedIndexes)
      for (const index of was) if (!is.has(index)) say(`index ${index} is not complete any more`)
      if (is.size > 0 && after?.succeeded !== is.size) say(`${after?.succeeded} succeeded and ${is.size} indexes`)
      ends(before, after)
    },
    counted: () => counted,
    recalled: () => recalled
  }
}
