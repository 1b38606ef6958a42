/** Job and CronJob; PodDisruptionBudget. Source: pkg/apis/batch/validation, pkg/apis/policy/validation. */
import * as Result from "effect/Result"
import * as Schedule from "../../../kube/cron/Schedule.ts"
import * as Zone from "../../../kube/cron/Zone.ts"
import { at, clone, ensureObject, equal, get, isObject, objectAt, put, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import { invalid, labelSelector, notSupported, Printed, required } from "./field.ts"
import type { Errors } from "./field.ts"
import * as formats from "./formats.ts"
import { specOf } from "./spec.ts"
import { mismatch, template } from "./template.ts"

const counts = ["parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"]

const restartPolicies = ["OnFailure", "Never"]
const modes = ["NonIndexed", "Indexed"]

const jobSpec = (errors: Errors, field: string, spec: JsonObject): void => {
  for (const key of counts) formats.nonNegative(errors, `${field}.${key}`, get(spec, key))
  const mode = textAt(spec, "completionMode")
  if (mode !== "" && !modes.includes(mode)) errors.push(notSupported(`${field}.completionMode`, mode, modes))
  if (mode === "Indexed" && get(spec, "completions") === undefined) {
    errors.push(required(`${field}.completions`, "when completion mode is Indexed"))
  }
  template(errors, `${field}.template`, get(spec, "template"))
  const policy = textAt(spec, "template", "spec", "restartPolicy")
  if (!restartPolicies.includes(policy)) {
    const own = `${field}.template.spec.restartPolicy`
    const always = policy === "Always" || policy === ""
    errors.push(
      always ? required(own, 'valid values: "OnFailure", "Never"') : notSupported(own, policy, restartPolicies)
    )
  }
}

export const job = (errors: Errors, object: JsonObject): void => {
  const spec = specOf(object)
  if (get(spec, "manualSelector") !== true) generatedSelector(errors, object, spec)
  jobSpec(errors, "spec", spec)
  const selector = get(spec, "selector")
  if (selector === undefined) errors.push(required("spec.selector"))
  formats.labelSelector(errors, "spec.selector", selector)
  const pods = get(spec, "template")
  if (formats.selects(selector, at(pods, "metadata", "labels")) === false) mismatch(errors, "spec.template", pods)
}

const uidKeys = ["batch.kubernetes.io/controller-uid", "controller-uid"] as const

/** The generatedSelector labels and selector must contain the uid and name of this Job. */
const generatedSelector = (errors: Errors, object: JsonObject, spec: JsonObject): void => {
  const uid = textAt(object, "metadata", "uid")
  const labels = objectAt(spec, "template", "metadata", "labels") ?? {}
  const own = "spec.template.metadata.labels"
  const expect = (key: string, value: string): void => {
    const found = get(labels, key)
    if (found === undefined) errors.push(required(own, `must be '${value}'`))
    else if (found !== value) errors.push(invalid(own, found, `must be '${value}'`))
  }
  expect("controller-uid", uid)
  expect("job-name", textAt(object, "metadata", "name"))
  const selector = objectAt(spec, "selector", "matchLabels") ?? {}
  const key = uidKeys.find((one) => get(selector, one) !== undefined) ?? "controller-uid"
  const wanted = { [key]: uid }
  if (!equal(selector, wanted)) {
    errors.push(invalid("spec.selector", labelSelector(get(spec, "selector")), "`selector` not auto-generated"))
  }
}

const immutable = (errors: Errors, field: string, value: Json | Printed | undefined): void => {
  errors.push(invalid(field, value, "field is immutable"))
}

/** Members of the pod spec that may change while a Job is suspended and has not started, besides the node affinity. */
const schedulingDirectives = ["nodeSelector", "tolerations", "schedulingGates"]

export const jobUpdate = (errors: Errors, object: JsonObject, before: JsonObject): void => {
  const spec = specOf(object)
  const old = specOf(before)
  completionsUpdate(errors, spec, old)
  if (!equal(get(spec, "selector"), get(old, "selector"))) {
    immutable(errors, "spec.selector", labelSelector(get(spec, "selector")))
  }
  const started = at(before, "status", "startTime") !== undefined
  const mayReschedule = get(old, "suspend") === true && !started
  const [template, oldTemplate] = [get(spec, "template"), get(old, "template")]
  const isSame = mayReschedule
    ? equal(withoutSchedulingDirectives(template), withoutSchedulingDirectives(oldTemplate))
    : equal(template, oldTemplate)
  if (!isSame) immutable(errors, "spec.template", new Printed("core.PodTemplateSpec{}"))
  for (const key of ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"]) {
    if (!equal(get(spec, key), get(old, key))) immutable(errors, `spec.${key}`, get(spec, key) ?? null)
  }
}

/** An Indexed Job may change completions to its new parallelism. Source: pkg/apis/batch/validation: validateCompletions. */
const completionsUpdate = (errors: Errors, spec: JsonObject, old: JsonObject): void => {
  const completions = get(spec, "completions")
  if (equal(completions, get(old, "completions"))) return
  if (textAt(spec, "completionMode") !== "Indexed") immutable(errors, "spec.completions", completions ?? null)
  // `jobSpec` reports an Indexed Job without completions.
  else if (completions !== undefined && completions !== get(spec, "parallelism")) {
    errors.push(invalid("spec.completions", completions, "can only be modified in tandem with spec.parallelism"))
  }
}

/**
 * A copy of the template without what a suspended Job may change. Pod affinity and anti-affinity stay; an affinity without them counts
 * as absent. Source: pkg/apis/batch/validation: validatePodTemplateUpdate.
 */
const withoutSchedulingDirectives = (template: Json | undefined): JsonObject => {
  const copy = isObject(template) ? clone(template) : {}
  const spec = ensureObject(copy, "spec")
  const metadata = ensureObject(copy, "metadata")
  for (const key of schedulingDirectives) put(spec, key, undefined)
  for (const key of ["labels", "annotations"]) put(metadata, key, undefined)
  const { nodeAffinity: _, ...affinity } = objectAt(spec, "affinity") ?? {}
  put(spec, "affinity", Object.keys(affinity).length === 0 ? undefined : affinity)
  return copy
}

const concurrency = ["Allow", "Forbid", "Replace"]

/** The name of a Job is that of its CronJob plus 11 characters, and has at most 63. */
const nameLimit = 52

export const cronJob = (errors: Errors, object: JsonObject): void => {
  const spec = specOf(object)
  const schedule = textAt(spec, "schedule")
  if (schedule === "") errors.push(required("spec.schedule"))
  else {
    const parsed = Schedule.parse(schedule, Zone.utc)
    if (Result.isFailure(parsed)) errors.push(invalid("spec.schedule", schedule, parsed.failure))
  }
  formats.nonNegative(errors, "spec.startingDeadlineSeconds", get(spec, "startingDeadlineSeconds"))
  const policy = textAt(spec, "concurrencyPolicy")
  if (policy === "") errors.push(required("spec.concurrencyPolicy"))
  else if (!concurrency.includes(policy)) errors.push(notSupported("spec.concurrencyPolicy", policy, concurrency))
  jobSpec(errors, "spec.jobTemplate.spec", objectAt(spec, "jobTemplate", "spec") ?? {})
  if (at(spec, "jobTemplate", "spec", "manualSelector") === true) {
    errors.push(notSupported("spec.jobTemplate.spec.manualSelector", true, ["nil", "false"]))
  }
  for (const key of ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"]) {
    formats.nonNegative(errors, `spec.${key}`, get(spec, key))
  }
}

/** A time zone by its name in the IANA database. */
const timeZone = (errors: Errors, value: Json | undefined): void => {
  if (typeof value !== "string") return
  const wrong = (detail: string): void => void errors.push(invalid("spec.timeZone", value, detail))
  if (value === "") wrong("timeZone must be nil or non-empty string")
  else if (value.toLowerCase() === "local") {
    wrong("timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones")
  } else if (Zone.named(value) === undefined) wrong(`unknown time zone ${value}`)
}

const namesZone = (object: JsonObject): boolean => textAt(object, "spec", "schedule").includes("TZ")

const inlineZone = (errors: Errors, object: JsonObject): void => {
  if (!namesZone(object)) return
  const detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
  errors.push(invalid("spec.schedule", textAt(object, "spec", "schedule"), detail))
}

export const newCronJob = (errors: Errors, object: JsonObject): void => {
  inlineZone(errors, object)
  timeZone(errors, at(object, "spec", "timeZone"))
  const name = textAt(object, "metadata", "name")
  if (name.length > nameLimit) {
    errors.push(invalid("metadata.name", name, `must be no more than ${nameLimit} characters`))
  }
}

/** A stored schedule with `TZ=` or `CRON_TZ=` may keep it, and a time zone that does not change is not validated again. */
export const cronJobUpdate = (errors: Errors, object: JsonObject, before: JsonObject): void => {
  if (!namesZone(before)) inlineZone(errors, object)
  else if (namesZone(object) && at(object, "spec", "timeZone") !== undefined) {
    const detail = "cannot use both timeZone field and TZ or CRON_TZ in schedule"
    errors.push(invalid("spec.schedule", textAt(object, "spec", "schedule"), detail))
  }
  const zone = at(object, "spec", "timeZone")
  if (!equal(zone, at(before, "spec", "timeZone"))) timeZone(errors, zone)
}

/** A PodDisruptionBudget has minAvailable or maxUnavailable, not both. Source: pkg/apis/policy/validation. */
export const disruptionBudget = (errors: Errors, object: JsonObject): void => {
  const spec = specOf(object)
  const least = get(spec, "minAvailable")
  const most = get(spec, "maxUnavailable")
  if (least !== undefined && most !== undefined) {
    const detail = "minAvailable and maxUnavailable cannot be both set"
    errors.push(invalid("spec", new Printed("policy.PodDisruptionBudgetSpec{}"), detail))
  }
  for (const [key, value] of [
    ["minAvailable", least],
    ["maxUnavailable", most]
  ] as const) {
    formats.intOrPercent(errors, `spec.${key}`, value)
    formats.atMost100Percent(errors, `spec.${key}`, value)
  }
  formats.labelSelector(errors, "spec.selector", get(spec, "selector"))
  const policy = textAt(spec, "unhealthyPodEvictionPolicy")
  const known = ["AlwaysAllow", "IfHealthyBudget"]
  if (policy !== "" && !known.includes(policy)) {
    errors.push(notSupported("spec.unhealthyPodEvictionPolicy", policy, known))
  }
}
