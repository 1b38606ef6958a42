/** Runs a script on the model, then lets it settle; returns the first violation. */
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as Runs from "../../../../src/controllers/cronjob/runs.ts"
import * as Time from "../../../../src/kube/time.ts"
import type { Action, Setup } from "./script.ts"
import { Model } from "./Model.ts"

export interface Script {
  readonly setup: Setup
  readonly actions: ReadonlyArray<Action>
}

export const check = Effect.fnUntraced(function* ({ actions, setup }: Script) {
  const model = new Model(setup)
  yield* TestClock.setTime(model.now)
  yield* model.start(0, 0)
  for (const action of actions) {
    yield* model.act(action)
    if (model.firstViolation !== undefined) return model.firstViolation
  }
  return yield* converge(model)
})

/** Lets all Jobs finish without faults, and checks that one more time is run. */
const converge = Effect.fnUntraced(function* (model: Model) {
  for (const verb of ["create", "delete", "update", "get"] as const) model.refusing[verb] = 0
  yield* model.act({ _tag: "FaultyWrite", write: 0, fault: "lost" })
  yield* model.rest()
  for (const last of [false, true]) {
    model.changeSpec({ suspend: false, schedule: "* * * * *" })
    // A finished Job may allow the next one to start.
    for (let round = 0; round < 2; round++) {
      while (model.unfinished().length > 0) model.finish(0, last ? "Complete" : "Failed")
      yield* model.rest()
    }
    yield* model.wait(61_000)
    yield* model.rest()
    const firstViolation = model.firstViolation ?? finalViolation(model)
    if (firstViolation !== undefined) return firstViolation
  }
  const { writes } = model
  model.changeSpec({})
  yield* model.rest()
  return model.writes === writes ? undefined : "writes although nothing is left to do"
})

const finalViolation = (model: Model): string | undefined => {
  const { cronJob, jobs, now, setup } = model
  const status = Runs.statusOf(cronJob)
  const names = (all: ReadonlyArray<{ readonly name?: string }>) =>
    all
      .map(({ name = "" }) => name)
      .toSorted()
      .join()
  const active = names(model.unfinished().map(({ metadata }) => metadata))
  if (names(Runs.activeOf(status)) !== active)
    return `the status lists ${names(Runs.activeOf(status))}, but active are ${active}`
  const latest = Math.floor(now / 60_000) * 60_000
  const last = Runs.lastTimeOf(status) ?? 0
  // A time that was due while a Job was active is run after it.
  const waits = setup.policy === "Forbid" && model.unfinished().length > 0
  if (last !== latest && !(waits && last === latest - 60_000)) return `lastScheduleTime is ${status.lastScheduleTime}`
  const count = (end: string) => [...jobs.values()].filter((job) => Runs.endOf(job) === end).length
  if (count("Complete") > setup.succeededKept) return `keeps ${count("Complete")} successful Jobs`
  if (count("Failed") > setup.failedKept) return `keeps ${count("Failed")} failed Jobs`
  const times = [...jobs.values()].map((job) => Time.parse(job.status?.completionTime) ?? 0)
  return (Time.parse(status.lastSuccessfulTime) ?? 0) >= Math.max(0, ...times)
    ? undefined
    : "lastSuccessfulTime is too early"
}
