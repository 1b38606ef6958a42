/** Writes: valid and invalid changes of the status of a Job. */
import * as Effect from "effect/Effect"
import { type Cause, done, invalid, merge } from "../assertions.ts"
import type { Case } from "../Case.ts"
import { at, job } from "../objects.ts"

const time = "2026-01-01T00:00:00Z"
const later = "2026-01-01T00:00:05Z"

const condition = (type: string, status = "True") => ({
  type,
  status,
  reason: "Because",
  message: "",
  lastProbeTime: time,
  lastTransitionTime: time
})

const conditions = (...types: ReadonlyArray<string>) => ({ conditions: types.map((type) => condition(type)) })

const complete = {
  startTime: time,
  completionTime: later,
  succeeded: 1,
  ...conditions("SuccessCriteriaMet", "Complete")
}

const wrong = (field: string, phrase: string): Cause => [`status.${field}`, "FieldValueInvalid", phrase]

/** Invalid statuses of a new Job, and the causes. */
const refusals: ReadonlyArray<readonly [status: object, ...causes: ReadonlyArray<Cause>]> = [
  [
    { ...complete, ...conditions("Complete") },
    wrong("conditions", "cannot set Complete=True condition without the SuccessCriteriaMet=true condition")
  ],
  [
    { startTime: time, ...conditions("Failed") },
    wrong("conditions", "cannot set Failed=True condition without the FailureTarget=true condition")
  ],
  [
    { startTime: time, ...conditions("SuccessCriteriaMet", "FailureTarget") },
    wrong("conditions", "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions")
  ],
  [
    { ...complete, completionTime: null },
    ["status.completionTime", "FieldValueRequired", "completionTime is required for Complete jobs"]
  ],
  [
    { startTime: time, completionTime: later },
    wrong("completionTime", "cannot set completionTime when there is no Complete=True condition")
  ],
  [
    { ...complete, completionTime: "2025-01-01T00:00:00Z" },
    wrong("completionTime", "completionTime cannot be set before startTime")
  ],
  [{ ...complete, active: 1 }, wrong("active", "active>0 is invalid for finished job")],
  [{ ...complete, terminating: 1 }, wrong("terminating", "terminating>0 is invalid for finished job")],
  [
    { ...complete, uncountedTerminatedPods: { succeeded: ["a"] } },
    wrong("uncountedTerminatedPods", "uncountedTerminatedPods needs to be empty for finished job")
  ],
  [
    { uncountedTerminatedPods: { succeeded: ["a"], failed: ["a"] } },
    wrong("uncountedTerminatedPods.failed[0]", "duplicate entry")
  ],
  [{ active: 1, ready: 2 }, wrong("ready", "cannot set more ready pods than active")],
  [{ terminating: -1 }, wrong("terminating", "must be greater than or equal to 0")]
]

const rule = "batch ValidateJobStatusUpdate"

export const jobStatus: ReadonlyArray<Case> = [
  {
    title: "a contradictory status of a Job is invalid",
    since: 32,
    rule,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { jobs } = at(namespace)
      done(yield* ask("POST", jobs, job("a")))
      for (const [status, ...causes] of refusals)
        invalid(yield* ask("PATCH", `${jobs}/a/status`, { status }, merge), 'Job.batch "a"', ...causes)
      done(yield* ask("PATCH", `${jobs}/a/status`, { status: complete }, merge))
    })
  },
  {
    title: "a finished Job cannot become unfinished, and its counts cannot decrease",
    since: 32,
    rule,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { jobs } = at(namespace)
      const path = `${jobs}/a/status`
      done(yield* ask("POST", jobs, job("a")))
      done(yield* ask("PATCH", path, { status: complete }, merge))
      const refused = function* (status: object, ...causes: ReadonlyArray<Cause>) {
        invalid(yield* ask("PATCH", path, { status }, merge), 'Job.batch "a"', ...causes)
      }
      yield* refused({ succeeded: 0 }, wrong("succeeded", "cannot decrease the succeeded counter"))
      yield* refused({ startTime: later }, wrong("startTime", "startTime cannot be updated for unsuspended job"))
      yield* refused({ completionTime: time }, wrong("completionTime", "field is immutable"))
      yield* refused(
        { conditions: [condition("SuccessCriteriaMet"), condition("Complete", "False")] },
        wrong("conditions", "cannot disable the terminal Complete=True condition")
      )
    })
  }
]
