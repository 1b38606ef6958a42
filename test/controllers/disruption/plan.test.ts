import { describe } from "@effect/vitest"
/** The status of a budget, compared with the rules, for any pods and any disruptedPods. */
import * as Arbitrary from "effect/Arbitrary"
import * as Plan from "../../../src/controllers/disruption/plan.ts"
import * as Conditions from "../../../src/kube/conditions.ts"
import type { Pod, PodDisruptionBudget } from "../../../src/kube/resources.ts"
import * as Time from "../../../src/kube/time.ts"
import { checkProperty, int, oneOf, type ValueOf } from "../../support/property.ts"
/** When a pod was evicted, in seconds before now; -1 for not at all, -2 for an entry that cannot be parsed. */
const pod = Arbitrary.all({
  ready: oneOf(true, true, false),
  going: oneOf(false, false, true),
  noted: oneOf(-1, -1, -2, 0, 1, 60, 119, 120, 121, 500)
})

const cases = Arbitrary.all({
  pods: Arbitrary.array(pod, { maxLength: 5 }),
  /** Entries for pods that are gone. */
  gone: int(0, 2),
  expected: int(-1, 5),
  desired: int(0, 5),
  generation: int(1, 3),
  observed: int(0, 3),
  condition: oneOf("none", "True", "False", "SyncFailed"),
  others: oneOf(true, false),
  isNew: oneOf(false, false, true)
})

type Case = ValueOf<typeof cases>

const now = 1_000_000_000

const at = (secondsAgo: number): string => Time.format(now - secondsAgo * 1000)

const noteOf = (noted: number): string | undefined => (noted === -1 ? undefined : noted === -2 ? "soon" : at(noted))

const podsOf = ({ pods }: Case): ReadonlyArray<Pod> =>
  pods.map(({ going, ready }, i) => ({
    metadata: { name: `p${i}`, namespace: "ns", ...(going ? { deletionTimestamp: at(1) } : {}) },
    status: { conditions: [{ type: "Ready", status: ready ? "True" : "False" }] }
  }))

const other: Conditions.Condition = {
  type: "Other",
  status: "True",
  reason: "Mine",
  message: "kept",
  lastTransitionTime: at(9999)
}

const conditionsOf = ({ condition, others }: Case): ReadonlyArray<Conditions.Condition> => {
  const status = condition === "True" ? "True" : "False"
  const reason = condition === "True" ? "SufficientPods" : condition === "False" ? "InsufficientPods" : condition
  const own = { type: "DisruptionAllowed", status, reason, message: "", lastTransitionTime: at(5000) } as const
  return [...(condition === "none" ? [] : [own]), ...(others ? [other] : [])]
}

const budgetOf = (given: Case): PodDisruptionBudget => {
  const { generation, gone, isNew, observed, pods } = given
  const metadata = { name: "b", namespace: "ns", generation }
  if (isNew) return { metadata, spec: {} }
  const disruptedPods: Record<string, string> = {}
  for (let i = 0; i < gone; i++) disruptedPods[`gone${i}`] = at(1)
  for (const [i, { noted }] of pods.entries()) {
    const note = noteOf(noted)
    if (note !== undefined) disruptedPods[`p${i}`] = note
  }
  return {
    metadata,
    spec: {},
    status: {
      currentHealthy: 0,
      desiredHealthy: 0,
      expectedPods: 0,
      disruptionsAllowed: 7,
      observedGeneration: observed,
      ...(Object.keys(disruptedPods).length === 0 ? {} : { disruptedPods }),
      conditions: [...conditionsOf(given)]
    }
  }
}

const gather = (given: Case, time = now): Plan.Snapshot => {
  const { desired, expected } = given
  return { budget: budgetOf(given), pods: podsOf(given), expected, desired, now: time }
}

/** Counted again, by the rules. */
const model = ({ desired, expected, generation, isNew, pods }: Case) => {
  const isNoted = (i: number) => {
    const { going = false, noted = -1 } = pods[i] ?? {}
    return !isNew && !going && noted >= 0 && noted < 120
  }
  const kept = pods.map((_, i) => i).filter(isNoted)
  const healthy = pods.filter(({ going, ready }, i) => ready && !going && !isNoted(i)).length
  return {
    disruptedPods:
      kept.length === 0 ? undefined : Object.fromEntries(kept.map((i) => [`p${i}`, noteOf(pods[i]?.noted ?? 0)])),
    observedGeneration: generation,
    currentHealthy: healthy,
    desiredHealthy: desired,
    expectedPods: expected,
    disruptionsAllowed: expected <= 0 || healthy <= desired ? 0 : healthy - desired,
    expired: pods.flatMap(({ going, noted }, i) =>
      !isNew && !going && (noted === -2 || noted >= 120) ? [`p${i}`] : []
    ),
    recheck: kept.length === 0 ? undefined : Math.min(...kept.map((i) => 120_000 - (pods[i]?.noted ?? 0) * 1000))
  }
}

const text = (value: unknown): string => JSON.stringify(value)

const written = (budget: PodDisruptionBudget, status: Plan.Status | undefined): PodDisruptionBudget => ({
  ...budget,
  ...(status === undefined ? {} : { status })
})

const own = (status: Plan.Status | undefined) =>
  Conditions.get(status?.conditions as Conditions.Conditions | undefined, "DisruptionAllowed")

describe("Plan", () => {
  checkProperty("equals the rules", cases, (given) => {
    const { expired, recheck, status } = Plan.plan(gather(given))
    const wanted = model(given)
    const { conditions: _, ...said } = written(budgetOf(given), status).status ?? {}
    const { expired: gone, recheck: next, ...counts } = wanted
    return (
      Object.entries(counts).every(([key, value]) => text(said[key as keyof typeof said]) === text(value)) &&
      text(expired.map(({ metadata }) => metadata.name)) === text(gone) &&
      recheck === next
    )
  })

  checkProperty("is idempotent", cases, (given) => {
    const snapshot = gather(given)
    const { status } = Plan.plan(snapshot)
    const again = Plan.plan({ ...snapshot, budget: written(snapshot.budget, status) })
    return (
      again.status === undefined &&
      again.expired.length === (status === undefined ? Plan.plan(snapshot).expired.length : 0)
    )
  })

  checkProperty("does not change with time before the recheck, and then it does", cases, (given) => {
    const snapshot = gather(given)
    const first = Plan.plan(snapshot)
    if (first.recheck === undefined)
      return (
        Plan.plan({ ...snapshot, budget: written(snapshot.budget, first.status), now: now + 1e9 }).status === undefined
      )
    const budget = written(snapshot.budget, first.status)
    const [early, late] = [now + first.recheck - 1, now + first.recheck]
    return (
      Plan.plan({ ...snapshot, budget, now: early }).status === undefined &&
      Plan.plan({ ...snapshot, budget, now: late }).expired.length > 0
    )
  })

  checkProperty("each field affects whether it is written", cases, (given) => {
    const snapshot = gather(given)
    const { status } = written(snapshot.budget, Plan.plan(snapshot).status)
    if (status === undefined) return false
    const wrong: ReadonlyArray<Partial<Plan.Status>> = [
      { currentHealthy: (status.currentHealthy ?? 0) + 1 },
      { desiredHealthy: (status.desiredHealthy ?? 0) + 1 },
      { expectedPods: (status.expectedPods ?? 0) + 1 },
      { disruptionsAllowed: (status.disruptionsAllowed ?? 0) + 1 },
      { observedGeneration: 0 },
      { disruptedPods: { ...status.disruptedPods, ghost: at(1) } },
      { conditions: [] }
    ]
    return wrong.every((one) => {
      const again = Plan.plan({ ...snapshot, budget: written(snapshot.budget, { ...status, ...one }) }).status
      return again !== undefined && again.disruptionsAllowed === status.disruptionsAllowed
    })
  })

  checkProperty("the condition says whether a disruption is allowed, for this generation", cases, (given) => {
    const snapshot = gather(given)
    const { status } = written(snapshot.budget, Plan.plan(snapshot).status)
    const condition = own(status)
    const allowed = (status?.disruptionsAllowed ?? 0) > 0
    return (
      condition?.status === (allowed ? "True" : "False") &&
      condition.reason === (allowed ? "SufficientPods" : "InsufficientPods") &&
      condition.message === "" &&
      condition.observedGeneration === given.generation
    )
  })

  checkProperty("the transition time changes with the status, and other conditions stay", cases, (given) => {
    const snapshot = gather(given)
    const statuses = [Plan.plan(snapshot).status, Plan.failSafe(snapshot.budget, "why", now)]
    const before = own(snapshot.budget.status)
    return statuses.every((status) => {
      const after = own(written(snapshot.budget, status).status)
      const others = (written(snapshot.budget, status).status?.conditions ?? []).filter(({ type }) => type === "Other")
      const kept = !given.isNew && given.others ? [other] : []
      return (
        after?.lastTransitionTime === (before?.status === after?.status ? before?.lastTransitionTime : at(0)) &&
        text(others) === text(kept)
      )
    })
  })

  checkProperty("a failed count allows nothing, with the cause, and is written once", cases, (given) => {
    const budget = budgetOf(given)
    const status = Plan.failSafe(budget, "why", now)
    const safe = written(budget, status)
    const condition = own(safe.status)
    return (
      safe.status?.disruptionsAllowed === 0 &&
      condition?.status === "False" &&
      condition.reason === "SyncFailed" &&
      condition.message === "why" &&
      text(safe.status.disruptedPods) === text(budget.status?.disruptedPods) &&
      safe.status.observedGeneration === budget.status?.observedGeneration &&
      Plan.failSafe(safe, "why", now + 1000) === undefined &&
      Plan.failSafe(safe, "something else", now) !== undefined
    )
  })

  checkProperty("a failure stays in the condition until a count succeeds", cases, (given) => {
    const snapshot = gather(given)
    const safe = written(snapshot.budget, Plan.failSafe(snapshot.budget, "why", now))
    return (
      own(Plan.plan({ ...snapshot, budget: safe }).status)?.reason !== "SyncFailed" &&
      Plan.plan({ ...snapshot, budget: safe }).status !== undefined
    )
  })
})
