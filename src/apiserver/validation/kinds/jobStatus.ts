/**
 * The status of a Job. The conditions Complete and Failed exclude each other and cannot be removed; Complete needs
 * SuccessCriteriaMet, and Failed needs FailureTarget. Most rules apply only to what an update changes, so that a status that an
 * older server accepted can still be updated. Source: pkg/apis/batch/validation: ValidateJobStatusUpdate, 1.32.
 */
import { arrayAt, at, equal, get, objectAt, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import { invalid, required } from "./field.ts"
import type { Errors } from "./field.ts"

const counts = ["active", "succeeded", "failed", "ready", "terminating"]

const numberOf = (status: JsonObject, key: string): number => {
  const value = get(status, key)
  return typeof value === "number" ? value : 0
}

const holds = (status: JsonObject, type: string): boolean =>
  arrayAt(status, "conditions").some((one) => textAt(one, "type") === type && textAt(one, "status") === "True")

const isFinished = (status: JsonObject): boolean => holds(status, "Complete") || holds(status, "Failed")

/** An error without the value, as with field.OmitValueType. */
const invalidWithoutValue = (errors: Errors, field: string, detail: string): void =>
  void errors.push({ reason: "FieldValueInvalid", message: `Invalid value: ${detail}`, field })

export const jobStatus = (errors: Errors, object: JsonObject, before: JsonObject): void => {
  const status = objectAt(object, "status") ?? {}
  const old = objectAt(before, "status") ?? {}
  for (const key of counts) {
    const value = numberOf(status, key)
    if (value < 0) errors.push(invalid(`status.${key}`, value, "must be greater than or equal to 0"))
  }
  const changed = (...keys: ReadonlyArray<string>): boolean =>
    keys.some((key) => !equal(get(status, key), get(old, key)))
  if (changed("ready", "active") && numberOf(status, "ready") > numberOf(status, "active")) {
    const detail = "cannot set more ready pods than active"
    errors.push(invalid("status.ready", numberOf(status, "ready"), detail))
  }
  decreasing(errors, object, status, old)
  uncounted(errors, status)
  conditionChanges(errors, status, old)
  times(errors, object, status, old)
  if (isFinished(status)) finishedJob(errors, { object, status, old }, changed)
}

const decreasing = (errors: Errors, object: JsonObject, status: JsonObject, old: JsonObject): void => {
  const spec = objectAt(object, "spec") ?? {}
  const scales =
    textAt(spec, "completionMode") === "Indexed" && equal(get(spec, "completions"), get(spec, "parallelism"))
  for (const key of scales ? ["failed"] : ["succeeded", "failed"]) {
    const value = numberOf(status, key)
    if (value < numberOf(old, key)) errors.push(invalid(`status.${key}`, value, `cannot decrease the ${key} counter`))
  }
}

const uncounted = (errors: Errors, status: JsonObject): void => {
  const field = "status.uncountedTerminatedPods"
  const seen = new Set<Json>()
  for (const key of ["succeeded", "failed"]) {
    for (const [index, uid] of arrayAt(status, "uncountedTerminatedPods", key).entries()) {
      if (seen.has(uid)) errors.push(invalid(`${field}.${key}[${index}]`, uid, "duplicate entry"))
      seen.add(uid)
    }
  }
}

/** A terminal condition cannot be removed, some exclude each other, and some need another one. */
const conditionChanges = (errors: Errors, status: JsonObject, old: JsonObject): void => {
  const wrong = (detail: string): void => invalidWithoutValue(errors, "status.conditions", detail)
  for (const type of ["Complete", "Failed", "SuccessCriteriaMet"]) {
    if (holds(old, type) && !holds(status, type)) wrong(`cannot disable the terminal ${type}=True condition`)
  }
  const both = (one: string, other: string): boolean =>
    holds(status, one) && holds(status, other) && !(holds(old, one) && holds(old, other))
  if (both("Complete", "Failed")) wrong("cannot set Complete=True and Failed=true conditions")
  if (both("Complete", "FailureTarget")) wrong("cannot set Complete=True and FailureTarget=true conditions")
  if (both("SuccessCriteriaMet", "FailureTarget"))
    wrong("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions")
  if (both("Failed", "SuccessCriteriaMet")) wrong("cannot set Failed=True and SuccessCriteriaMet=true conditions")
  const setWithout = (type: string, first: string): boolean =>
    holds(status, type) && !holds(old, type) && !holds(status, first)
  if (setWithout("Complete", "SuccessCriteriaMet"))
    wrong("cannot set Complete=True condition without the SuccessCriteriaMet=true condition")
  if (setWithout("Failed", "FailureTarget"))
    wrong("cannot set Failed=True condition without the FailureTarget=true condition")
}

const times = (errors: Errors, object: JsonObject, status: JsonObject, old: JsonObject): void => {
  const [start, completion] = [textAt(status, "startTime"), textAt(status, "completionTime")]
  const [oldStart, oldCompletion] = [textAt(old, "startTime"), textAt(old, "completionTime")]
  const wrong = (key: string, detail: string): void =>
    void errors.push(invalid(`status.${key}`, textAt(status, key), detail))
  // A Job that resumes gets a new startTime.
  const isUnsuspended = at(object, "spec", "suspend") !== true && !holds(old, "Suspended")
  if (oldStart !== "" && start !== oldStart && isUnsuspended) {
    if (start === "") errors.push(required("status.startTime", "startTime cannot be removed for unsuspended job"))
    else wrong("startTime", "startTime cannot be updated for unsuspended job")
  }
  if (oldCompletion !== "" && completion !== oldCompletion) wrong("completionTime", "field is immutable")
  if (oldCompletion !== "" || holds(old, "Complete")) return
  const isComplete = holds(status, "Complete")
  if (isComplete && completion === "")
    errors.push(required("status.completionTime", "completionTime is required for Complete jobs"))
  if (!isComplete && completion !== "")
    wrong("completionTime", "cannot set completionTime when there is no Complete=True condition")
  if (start !== "" && completion !== "" && Date.parse(completion) < Date.parse(start))
    wrong("completionTime", "completionTime cannot be set before startTime")
}

/** A finishedJob Job has no active, terminating or uncounted pods, and has a startTime. */
const finishedJob = (
  errors: Errors,
  { object, old, status }: { readonly object: JsonObject; readonly status: JsonObject; readonly old: JsonObject },
  changed: (...keys: ReadonlyArray<string>) => boolean
): void => {
  const isNew = !isFinished(old)
  for (const key of ["active", "terminating"]) {
    const value = numberOf(status, key)
    if ((isNew || changed(key)) && value > 0)
      errors.push(invalid(`status.${key}`, value, `${key}>0 is invalid for finished job`))
  }
  // A suspended Job with zero completions finishes without having started.
  const needsStartTime = (isNew || changed("startTime")) && at(object, "spec", "suspend") !== true
  if (needsStartTime && textAt(status, "startTime") === "")
    errors.push(required("status.startTime", "startTime is required for finished job"))
  const left = ["succeeded", "failed"].flatMap((key) => arrayAt(status, "uncountedTerminatedPods", key))
  if ((isNew || changed("uncountedTerminatedPods")) && left.length > 0) {
    const detail = "uncountedTerminatedPods needs to be empty for finished job"
    invalidWithoutValue(errors, "status.uncountedTerminatedPods", detail)
  }
}
