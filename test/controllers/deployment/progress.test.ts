import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Conditions from "../../../src/controllers/deployment/conditions.ts"
import * as Progress from "../../../src/controllers/deployment/progress.ts"
import * as Time from "../../../src/kube/time.ts"
import { int, law, oneOf, prove } from "../../support/laws.ts"
import { deployment, replicaSet } from "./objects.ts"

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

/** Whole seconds are what a timestamp keeps. */
const lateness = ({ age, deadline }: Scene): number =>
  now - (Time.parse(Time.format(now - age * 1000)) ?? 0) - deadline * 1000

/** Which reason the contract gives: undefined for none, the old one if nothing is judged. */
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

const judged = (module: typeof Progress, facts: Scene) => {
  const { current, deployment, status } = of(facts)
  return module.judge(deployment, current, status, now)
}

prove<typeof Progress>({
  path: "controllers/deployment/progress.ts",
  module: Progress,
  laws: [
    law("the reason is the contract's", scene, (module, facts) => {
      const conditions = judged(module, facts).conditions ?? []
      return Conditions.get(conditions, Conditions.progressing)?.reason === verdict(facts)
    }),
    law("only ReplicaSetUpdated renews an update; what is not news stays as it is", scene, (module, facts) => {
      const { status } = of(facts)
      const [old, next] = [status, judged(module, facts)].map((one) =>
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
    }),
    law("nothing else of the status changes", scene, (module, facts) => {
      const { status } = of(facts)
      const next = judged(module, facts)
      return (
        JSON.stringify({ ...next, conditions: 0 }) === JSON.stringify({ ...status, conditions: 0 }) &&
        JSON.stringify(Conditions.remove(next.conditions ?? [], Conditions.progressing)) ===
          JSON.stringify(Conditions.remove(status.conditions ?? [], Conditions.progressing))
      )
    }),
    law(
      "who comes back when told finds the deadline passed, and nobody is told to come back for nothing",
      scene,
      (module, facts) => {
        const { current, deployment, status } = of({ ...facts, isSame: true })
        const again = module.recheck(deployment, status, now)
        const reasonAt = (time: number) =>
          Conditions.get(module.judge(deployment, current, status, time).conditions ?? [], Conditions.progressing)
            ?.reason
        const isWaited = reasonAt(now + 10 ** 9) === reasons.timedOut && facts.reason !== reasons.timedOut
        if (again === undefined) return !isWaited
        if (again._tag === "Soon") return isWaited && reasonAt(now + 1000) === reasons.timedOut
        return (
          isWaited &&
          again.millis >= 2000 &&
          reasonAt(now + again.millis) === reasons.timedOut &&
          reasonAt(now + again.millis - 2000) !== reasons.timedOut
        )
      }
    ),
    law(
      "word of a pause is given once, taken back once, and never in place of a passed deadline",
      scene,
      ({ pause }, facts) => {
        const { deployment } = of(facts)
        const next = pause(deployment, now)
        const told = Conditions.get(Conditions.of(next), Conditions.progressing)
        if (pause(next, now + 5000) !== next) return false
        const applies = hasDeadline(facts) && facts.reason !== reasons.timedOut
        if (applies && facts.isPaused && facts.reason !== reasons.paused)
          return told?.reason === reasons.paused && told.status === "Unknown" && told.message === "Deployment is paused"
        if (applies && !facts.isPaused && facts.reason === reasons.paused)
          return (
            told?.reason === reasons.resumed && told.status === "Unknown" && told.message === "Deployment is resumed"
          )
        return next === deployment
      }
    )
  ],
  mutants: [
    {
      title: "the largest number is a deadline",
      find: "seconds === undefined || seconds === unlimited",
      replace: "seconds === undefined"
    },
    {
      title: "an old generation is complete",
      find: " &&\n    (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)",
      replace: ""
    },
    { title: "old pods are complete", find: "(status.updatedReplicas ?? 0) === replicas &&", replace: "" },
    { title: "too many pods are complete", find: "(status.replicas ?? 0) === replicas &&", replace: "" },
    { title: "complete without being available", find: "(status.availableReplicas ?? 0) === replicas &&", replace: "" },
    { title: "fewer old pods are no progress", find: "oldReplicas(after) < oldReplicas(before) ||", replace: "" },
    {
      title: "ready pods are no progress",
      find: "(after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||",
      replace: ""
    },
    {
      title: "any change is progress",
      find: "oldReplicas(after) < oldReplicas(before) ||",
      replace: "oldReplicas(after) !== oldReplicas(before) ||"
    },
    {
      title: "progress does not renew the update",
      find: "Conditions.refresh(conditions, moving)",
      replace: "Conditions.set(conditions, moving)"
    },
    {
      title: "lateness renews the update",
      find: "Conditions.set(conditions, late)",
      replace: "Conditions.refresh(conditions, late)"
    },
    { title: "a success is judged again", find: "if (isOver) return status", replace: "" },
    {
      title: "a success can be late",
      find: "condition === undefined || condition.reason === reasons.available) return false",
      replace: "condition === undefined) return false"
    },
    {
      title: "without a deadline the condition stays",
      find: "conditions: Conditions.remove(conditions, Conditions.progressing)",
      replace: "conditions"
    },
    {
      title: "late a moment too early",
      find: "left(seconds, condition, now) < 0",
      replace: "left(seconds, condition, now) < 2000"
    },
    { title: "comes back too early", find: "millis: wait + 1000", replace: "millis: wait - 1000" },
    {
      title: "comes back for a success",
      find: " || condition.reason === reasons.available) return undefined",
      replace: ") return undefined"
    },
    { title: "never comes back at once", find: "wait < 1000 ? ", replace: "wait < -99999 ? " },
    {
      title: "a pause hides a passed deadline",
      find: " || reason === reasons.timedOut) return deployment",
      replace: ") return deployment"
    },
    {
      title: "a resume is not told",
      find: "isPaused === (reason === reasons.paused)",
      replace: "!isPaused || reason === reasons.paused"
    }
  ]
})

describe("progress", () => {
  it("is counted from the beginning of time when a condition does not say since when", () => {
    const conditions = [{ type: Conditions.progressing, status: "True", reason: reasons.updated }]
    const late = deployment({ spec: { progressDeadlineSeconds: 60 }, status: { replicas: 1, conditions } })
    const status = Progress.judge(late, undefined, late.status ?? {}, 100_000)
    assert.strictEqual(status.conditions?.[0]?.reason, reasons.timedOut)
  })
})
