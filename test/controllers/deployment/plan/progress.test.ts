import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Conditions from "../../../../src/controllers/deployment/conditions.ts"
import * as Progress from "../../../../src/controllers/deployment/plan/progress.ts"
import * as Time from "../../../../src/kube/time.ts"
import { checkProperty, int, oneOf } from "../../../support/property.ts"
import { deployment, replicaSet } from "../objects.ts"

const { reasons } = Progress

const counts = Arbitrary.all({
  replicas: int(0, 3),
  updatedReplicas: int(0, 3),
  readyReplicas: int(0, 3),
  availableReplicas: int(0, 3)
})

/** A stored status and the next one, a Progressing condition (or none) of some age, and a deadline (or none). */
const scene = Arbitrary.all({
  before: counts,
  after: counts,
  isSame: oneOf(true, false),
  observed: oneOf(0, 1),
  reason: oneOf(
    ...(["", reasons.available, reasons.created, reasons.createFailed, reasons.found] as const),
    ...([reasons.paused, reasons.resumed, reasons.timedOut, reasons.updated] as const)
  ),
  /** Seconds. */
  age: int(0, 30),
  deadline: oneOf(-1, 1, 10, 20, 2147483647),
  isPaused: oneOf(true, false),
  hasSet: oneOf(true, false)
})

type Scene = typeof scene extends Arbitrary.Arbitrary<infer A> ? A : never

const now = 1_000_500

const statuses: Readonly<Record<string, "True" | "False" | "Unknown">> = {
  [reasons.createFailed]: "False",
  [reasons.timedOut]: "False",
  [reasons.paused]: "Unknown",
  [reasons.resumed]: "Unknown"
}

const conditionsOf = ({ age, reason }: Scene): Conditions.Conditions => {
  const status = statuses[reason] ?? "True"
  const available = Conditions.make(Conditions.available, "False", "Why", "said long ago", 0)
  return reason === ""
    ? [available]
    : [Conditions.make(Conditions.progressing, status, reason, "old message", now - age * 1000), available]
}

const of = (facts: Scene) => {
  const conditions = conditionsOf(facts)
  const stored = { ...facts.before, observedGeneration: 1, conditions }
  return {
    deployment: deployment({
      replicas: 3,
      status: stored,
      spec: {
        paused: facts.isPaused,
        ...(facts.deadline < 0 ? {} : { progressDeadlineSeconds: facts.deadline })
      }
    }),
    status: { ...(facts.isSame ? facts.before : facts.after), observedGeneration: facts.observed, conditions },
    current: facts.hasSet ? replicaSet({ name: "web-x" }) : undefined
  }
}

const hasDeadline = ({ deadline }: Scene): boolean => deadline > 0 && deadline < 2147483647

const isComplete = ({ after, before, isSame, observed }: Scene): boolean => {
  const { availableReplicas, replicas, updatedReplicas } = isSame ? before : after
  return observed === 1 && replicas === 3 && updatedReplicas === 3 && availableReplicas === 3
}

const moved = ({ after, before, isSame }: Scene): boolean =>
  !isSame &&
  (after.updatedReplicas > before.updatedReplicas ||
    after.replicas - after.updatedReplicas < before.replicas - before.updatedReplicas ||
    after.readyReplicas > before.readyReplicas ||
    after.availableReplicas > before.availableReplicas)

/** Timestamps have whole seconds. */
const lateness = ({ age, deadline }: Scene): number =>
  now - (Time.parse(Time.format(now - age * 1000)) ?? 0) - deadline * 1000

/** The expected reason: undefined for none, the old one if progress is not judged. */
const verdict = (facts: Scene): string | undefined => {
  const old = facts.reason === "" ? undefined : facts.reason
  if (!hasDeadline(facts)) return undefined
  const { replicas, updatedReplicas } = facts.isSame ? facts.before : facts.after
  if (old === reasons.available && replicas === updatedReplicas) return old
  if (isComplete(facts)) return reasons.available
  if (moved(facts)) return reasons.updated
  if (old === undefined || old === reasons.available) return old
  return old === reasons.timedOut || lateness(facts) > 0 ? reasons.timedOut : old
}

const judged = (facts: Scene) => {
  const { current, deployment, status } = of(facts)
  return Progress.judge(deployment, current, status, now)
}

describe("Progress", () => {
  checkProperty("the reason is the one of upstream's rules", scene, (facts) => {
    const conditions = judged(facts).conditions ?? []
    return Conditions.get(conditions, Conditions.progressing)?.reason === verdict(facts)
  })

  checkProperty("only ReplicaSetUpdated refreshes the update time; an equal condition stays", scene, (facts) => {
    const { status } = of(facts)
    const [old, next] = [status, judged(facts)].map((one) =>
      Conditions.get(one.conditions ?? [], Conditions.progressing)
    )
    if (next === undefined) return true
    const isNews = next.reason !== facts.reason
    if (!isNews && !(next.reason === reasons.updated && moved(facts) && !isComplete(facts)))
      return next === old || next.message === "old message"
    const words = {
      [reasons.available]: "True has successfully progressed.",
      [reasons.updated]: "True is progressing.",
      [reasons.timedOut]: "False has timed out progressing."
    }
    const subject = facts.hasSet ? 'ReplicaSet "web-x"' : 'Deployment "web"'
    const [value = "", ...rest] = (Object.entries(words).find(([reason]) => reason === next.reason)?.[1] ?? "").split(
      " "
    )
    return (
      next.lastUpdateTime === Time.format(now) &&
      next.lastTransitionTime === (old?.status === value ? old.lastTransitionTime : Time.format(now)) &&
      next.status === value &&
      next.message === `${subject} ${rest.join(" ")}`
    )
  })

  checkProperty("nothing else of the status changes", scene, (facts) => {
    const { status } = of(facts)
    const next = judged(facts)
    return (
      JSON.stringify({ ...next, conditions: 0 }) === JSON.stringify({ ...status, conditions: 0 }) &&
      JSON.stringify(Conditions.remove(next.conditions ?? [], Conditions.progressing)) ===
        JSON.stringify(Conditions.remove(status.conditions ?? [], Conditions.progressing))
    )
  })

  checkProperty("a recheck comes after the deadline, and no recheck is requested in vain", scene, (facts) => {
    const { current, deployment, status } = of({ ...facts, isSame: true })
    const again = Progress.recheck(deployment, status, now)
    const reasonAt = (time: number) =>
      Conditions.get(Progress.judge(deployment, current, status, time).conditions ?? [], Conditions.progressing)?.reason
    const isWaited = reasonAt(now + 10 ** 9) === reasons.timedOut && facts.reason !== reasons.timedOut
    if (again === undefined) return !isWaited
    if (again._tag === "Soon") return isWaited && reasonAt(now + 1000) === reasons.timedOut
    return (
      isWaited &&
      again.millis >= 2000 &&
      reasonAt(now + again.millis) === reasons.timedOut &&
      reasonAt(now + again.millis - 2000) !== reasons.timedOut
    )
  })

  checkProperty(
    "the paused condition is set once, replaced once by resumed, and never replaces a passed deadline",
    scene,
    (facts) => {
      const { deployment } = of(facts)
      const next = Progress.pause(deployment, now)
      const recorded = Conditions.get(Conditions.of(next), Conditions.progressing)
      if (Progress.pause(next, now + 5000) !== next) return false
      const applies = hasDeadline(facts) && facts.reason !== reasons.timedOut
      if (applies && facts.isPaused && facts.reason !== reasons.paused)
        return (
          recorded?.reason === reasons.paused &&
          recorded.status === "Unknown" &&
          recorded.message === "Deployment is paused"
        )
      if (applies && !facts.isPaused && facts.reason === reasons.paused)
        return (
          recorded?.reason === reasons.resumed &&
          recorded.status === "Unknown" &&
          recorded.message === "Deployment is resumed"
        )
      return next === deployment
    }
  )
})

describe("progress", () => {
  it("counts from 1970 when a condition has no update time", () => {
    const conditions = [{ type: Conditions.progressing, status: "True", reason: reasons.updated }]
    const late = deployment({ spec: { progressDeadlineSeconds: 60 }, status: { replicas: 1, conditions } })
    const status = Progress.judge(late, undefined, late.status ?? {}, 100_000)
    assert.strictEqual(status.conditions?.[0]?.reason, reasons.timedOut)
  })
})

describe("a complete rollout", () => {
  const complete = { replicas: 3, updatedReplicas: 3, availableReplicas: 3, observedGeneration: 1 }
  const of = (condition: Conditions.Condition, status: object = complete) =>
    deployment({ spec: { progressDeadlineSeconds: 60 }, status: { ...status, conditions: [condition] } })
  const running = Conditions.make(Conditions.progressing, "True", reasons.updated, "old message", 0)

  it("has the reason NewReplicaSetAvailable and names its ReplicaSet, even after the deadline", () => {
    for (const [current, subject] of [
      [replicaSet({ name: "web-x" }), 'ReplicaSet "web-x"'],
      [undefined, 'Deployment "web"']
    ] as const) {
      const late = of(running)
      const { conditions } = Progress.judge(late, current, late.status ?? {}, 100_000)
      const message = `${subject} has successfully progressed.`
      const times = { lastUpdateTime: Time.format(100_000), lastTransitionTime: Time.format(0) }
      assert.deepStrictEqual(conditions, [
        { type: "Progressing", status: "True", reason: "NewReplicaSetAvailable", message, ...times }
      ])
    }
  })

  it("has all replicas updated and available, and no others, of the present generation", () => {
    assert.isTrue(Progress.isComplete(deployment({ replicas: 3 }), complete))
    assert.isTrue(Progress.isComplete(deployment({ replicas: 0 }), { observedGeneration: 1 }))
    const ungenerated = { ...deployment({ replicas: 0 }), metadata: { name: "web" } }
    assert.isTrue(Progress.isComplete(ungenerated, {}))
    for (const change of [
      { replicas: 4 },
      { replicas: undefined },
      { updatedReplicas: 2 },
      { updatedReplicas: undefined },
      { availableReplicas: 2 },
      { availableReplicas: undefined },
      { observedGeneration: 0 },
      { observedGeneration: undefined }
    ])
      assert.isFalse(Progress.isComplete(deployment({ replicas: 3 }), { ...complete, ...change } as never))
  })

  it("is not reconciled again for its deadline, as one is that is not complete", () => {
    assert.isUndefined(Progress.recheck(of(running), complete, 1000))
    const incomplete = { ...complete, availableReplicas: 2 }
    assert.deepStrictEqual(Progress.recheck(of(running, incomplete), incomplete, 1000), {
      _tag: "After",
      millis: 60_000
    })
    assert.deepStrictEqual(Progress.recheck(of(running, incomplete), incomplete, 59_000), {
      _tag: "After",
      millis: 2000
    })
    assert.deepStrictEqual(Progress.recheck(of(running, incomplete), incomplete, 59_001), { _tag: "Soon" })
  })

  it("does not time out at its deadline, only after it", () => {
    const incomplete = { ...complete, availableReplicas: 2 }
    const late = of(running, incomplete)
    const reason = (now: number) => Progress.judge(late, undefined, late.status ?? {}, now).conditions?.[0]?.reason
    assert.deepStrictEqual([reason(60_000), reason(60_001)], [reasons.updated, "ProgressDeadlineExceeded"])
  })
})
