import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Plan from "../../../src/controllers/tainteviction/plan.ts"
import type { Node, Pod } from "../../../src/kube/resources.ts"
import { checkProperty, oneOf, type ValueOf } from "../../support/property.ts"
const toleration = Arbitrary.all({
  key: oneOf("a", "b", ""),
  value: oneOf("", "", "1"),
  effect: oneOf("", "NoExecute", "NoExecute", "NoSchedule"),
  seconds: oneOf(-1, 0, 5, 5, 60, 300, 999_999)
})

/** Values and effects that match are more frequent. */
const taint = Arbitrary.all({
  key: oneOf("a", "b"),
  value: oneOf("", "1"),
  effect: oneOf("NoExecute", "NoExecute", "NoSchedule")
})

const scenes = Arbitrary.all({
  tolerations: Arbitrary.array(toleration, { maxLength: 4 }),
  taints: Arbitrary.array(taint, { maxLength: 3 }),
  isKnown: oneOf(true, true, true, false),
  isDeleted: oneOf(true, false),
  scheduled: oneOf("none", "none", "past", "now", "future", "done"),
  since: oneOf(0, 500)
})

type Scene = ValueOf<typeof scenes>

const now = 1_000

const podOf = ({ isDeleted, tolerations }: Scene): Pod => ({
  metadata: { name: "p", namespace: "default", ...(isDeleted ? { deletionTimestamp: "2001-01-01T00:00:00Z" } : {}) },
  spec: {
    containers: [],
    tolerations: tolerations.map(({ effect, key, seconds, value }) => ({
      ...(key === "" ? { operator: "Exists" } : { key, operator: value === "" ? "Exists" : "Equal", value }),
      ...(effect === "" ? {} : { effect }),
      ...(seconds === 999_999 ? {} : { tolerationSeconds: seconds })
    }))
  }
})

const nodeOf = ({ taints }: Scene): Node => ({ metadata: { name: "n" }, spec: { taints: [...taints] } })

const scheduledOf = ({ scheduled, since }: Scene): Plan.Scheduled | undefined => {
  if (scheduled === "none") return undefined
  const due = { past: 900, now, future: 5_000, done: 900 }[scheduled]
  return { since, due, isDone: scheduled === "done" }
}

/** The expected time in milliseconds, by the rules of the API. */
const stays = ({ taints, tolerations }: Scene): number => {
  const times = taints
    .filter(({ effect }) => effect === "NoExecute")
    .map((one) => {
      const used = tolerations.find(
        ({ effect, key, value }) =>
          effect !== "NoSchedule" && (key === "" || (key === one.key && (value === "" || value === one.value)))
      )
      if (used === undefined) return 0
      return used.seconds === 999_999 ? Infinity : Math.max(0, used.seconds) * 1000
    })
  return Math.min(Infinity, ...times)
}

const expected = (harness: Scene): Plan.Plan => {
  const scheduled = scheduledOf(harness)
  const isPending = scheduled?.isDone === false
  if (!harness.isKnown) {
    if (scheduled === undefined || !isPending) return { _tag: "Leave" }
    if (scheduled.due > now) return { _tag: "Keep", due: scheduled.due }
    return { _tag: harness.isDeleted ? "Leave" : "Evict" }
  }
  const time = stays(harness)
  if (time === Infinity) return { _tag: scheduled === undefined ? "Leave" : "Cancel" }
  if (scheduled !== undefined && !isPending) return { _tag: "Leave" }
  if (time === 0 || (scheduled !== undefined && scheduled.due <= now)) {
    return { _tag: harness.isDeleted ? "Leave" : "Evict" }
  }
  if (scheduled !== undefined) return { _tag: "Keep", due: scheduled.due }
  return harness.isDeleted ? { _tag: "Leave" } : { _tag: "Schedule", since: now, due: now + time }
}

const decide = (harness: Scene, given: Partial<Plan.Snapshot> = {}): Plan.Plan =>
  Plan.plan({
    pod: podOf(harness),
    taints: harness.isKnown ? Plan.noExecuteTaints(nodeOf(harness)) : undefined,
    scheduled: scheduledOf(harness),
    now,
    ...given
  })
const tolerated = Arbitrary.array(oneOf(-1, 0, 1, 5, 60, 300, 999_999), { maxLength: 4 })
describe("Plan", () => {
  checkProperty("the decision for any pod on any node", scenes, (harness) => {
    const [is, should] = [decide(harness), expected(harness)]
    return JSON.stringify(is) === JSON.stringify(should)
  })

  checkProperty("a scheduled eviction is never postponed", scenes, (harness) => {
    const scheduled = scheduledOf(harness)
    const decision = decide(harness)
    if (scheduled?.isDone !== false) return true
    if (decision._tag === "Keep") return decision.due <= scheduled.due
    return decision._tag !== "Schedule"
  })

  checkProperty("a decision stays the same until time or objects change", scenes, (harness) => {
    const decision = decide(harness)
    if (decision._tag === "Schedule") {
      const scheduled = { since: decision.since, due: decision.due, isDone: false }
      return decide(harness, { scheduled })._tag === "Keep"
    }
    if (decision._tag === "Cancel") return decide(harness, { scheduled: undefined })._tag === "Leave"
    if (decision._tag === "Evict") {
      return decide(harness, { scheduled: { since: now, due: now, isDone: true } })._tag === "Leave"
    }
    return true
  })

  checkProperty("the shortest tolerationSeconds counts when all taints are tolerated", tolerated, (seconds) => {
    const times = seconds.map((one) => (one === 999_999 ? Infinity : Math.max(0, one * 1000)))
    const tolerations = seconds.map((tolerationSeconds, i) => ({
      key: `key-${i}`,
      operator: "Exists",
      ...(tolerationSeconds === 999_999 ? {} : { tolerationSeconds })
    }))
    const pod: Pod = { metadata: { name: "p" }, spec: { containers: [], tolerations } }
    const taints = seconds.map((_, i) => ({ key: `key-${i}`, effect: "NoExecute" }))
    return Plan.minTolerationMillis(pod, taints) === Math.min(Infinity, ...times)
  })
})
