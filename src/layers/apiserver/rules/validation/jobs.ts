/** Job and CronJob. Source: batch validation of the reference server. */
import { at, clone, equal, get, isObject, objectAt, put, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import { invalid, labelSelector, notSupported, Printed, required } from "./field.ts"
import type { Errors } from "./field.ts"
import * as formats from "./formats.ts"
import { specOf } from "./spec.ts"
import { mismatch, template } from "./template.ts"

const counts = ["parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"]

const endings = ["OnFailure", "Never"]
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
  if (!endings.includes(policy)) {
    const own = `${field}.template.spec.restartPolicy`
    const always = policy === "Always" || policy === ""
    errors.push(always ? required(own, 'valid values: "OnFailure", "Never"') : notSupported(own, policy, endings))
  }
}

export const job = (errors: Errors, object: JsonObject): void => {
  const spec = specOf(object)
  if (get(spec, "manualSelector") !== true) generated(errors, object, spec)
  jobSpec(errors, "spec", spec)
  const selector = get(spec, "selector")
  if (selector === undefined) errors.push(required("spec.selector"))
  formats.labelSelector(errors, "spec.selector", selector)
  const pods = get(spec, "template")
  if (formats.selects(selector, at(pods, "metadata", "labels")) === false) mismatch(errors, "spec.template", pods)
}

const uidKeys = ["batch.kubernetes.io/controller-uid", "controller-uid"] as const

/** Labels and selector that the server has made must still be those of this job. */
const generated = (errors: Errors, object: JsonObject, spec: JsonObject): void => {
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

/** What a scheduler may still be told while a job waits suspended. */
const directives = ["nodeSelector", "tolerations", "affinity", "schedulingGates"]

export const jobUpdate = (errors: Errors, object: JsonObject, before: JsonObject): void => {
  const spec = specOf(object)
  const old = specOf(before)
  if (!equal(get(spec, "completions"), get(old, "completions")) && !scalesWithIndexes(spec, old)) {
    immutable(errors, "spec.completions", get(spec, "completions") ?? null)
  }
  if (!equal(get(spec, "selector"), get(old, "selector"))) {
    immutable(errors, "spec.selector", labelSelector(get(spec, "selector")))
  }
  if (!equal(comparable(spec, old, before), get(old, "template"))) {
    immutable(errors, "spec.template", new Printed("core.PodTemplateSpec{}"))
  }
  for (const key of ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"]) {
    if (!equal(get(spec, key), get(old, key))) immutable(errors, `spec.${key}`, get(spec, key) ?? null)
  }
}

/** An indexed job may change completions together with parallelism. */
const scalesWithIndexes = (spec: JsonObject, old: JsonObject): boolean =>
  textAt(spec, "completionMode") === "Indexed" &&
  get(spec, "completions") !== undefined &&
  get(spec, "parallelism") === get(spec, "completions") &&
  get(old, "parallelism") === get(old, "completions")

const comparable = (spec: JsonObject, old: JsonObject, before: JsonObject): Json | undefined => {
  const next = get(spec, "template")
  const waits = get(old, "suspend") === true && at(before, "status", "startTime") === undefined
  if (!waits || !isObject(next)) return next
  const same = clone(next)
  for (const key of directives) put(specOf(same), key, at(old, "template", "spec", key))
  const metadata = objectAt(same, "metadata")
  for (const key of ["labels", "annotations"]) {
    if (metadata !== undefined) put(metadata, key, at(old, "template", "metadata", key))
  }
  return same
}

const concurrency = ["Allow", "Forbid", "Replace"]

/** Jobs get eleven characters behind the name of their cron job. */
const nameLimit = 52

export const cronJob = (errors: Errors, object: JsonObject): void => {
  const spec = specOf(object)
  const schedule = textAt(spec, "schedule")
  if (schedule === "") errors.push(required("spec.schedule"))
  else {
    const wrong = scheduleError(schedule)
    if (wrong !== "") errors.push(invalid("spec.schedule", schedule, wrong))
  }
  timeZone(errors, get(spec, "timeZone"))
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
  const name = textAt(object, "metadata", "name")
  if (name.length > nameLimit) {
    errors.push(invalid("metadata.name", name, `must be no more than ${nameLimit} characters`))
  }
}

/** A zone by the name that tables of zones give it. */
const timeZone = (errors: Errors, value: Json | undefined): void => {
  if (typeof value !== "string") return
  const wrong = (detail: string): void => void errors.push(invalid("spec.timeZone", value, detail))
  if (value === "") wrong("timeZone must be nil or non-empty string")
  else if (value.toLowerCase() === "local") {
    wrong("timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones")
  } else if (!isZone(value)) wrong(`unknown time zone ${value}`)
}

const isZone = (name: string): boolean => {
  // Offsets are zones to the platform, and none to the reference server.
  if (/^[+-]/.test(name)) return false
  try {
    Intl.DateTimeFormat("en", { timeZone: name })
    return true
  } catch {
    return false
  }
}

const namesZone = (object: JsonObject): boolean => textAt(object, "spec", "schedule").includes("TZ")

/** A zone has a field of its own; schedules that had it in the text before that may keep it. */
export const newCronJob = (errors: Errors, object: JsonObject): void => {
  if (!namesZone(object)) return
  const detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
  errors.push(invalid("spec.schedule", textAt(object, "spec", "schedule"), detail))
}

export const cronJobUpdate = (errors: Errors, object: JsonObject, before: JsonObject): void => {
  if (!namesZone(before)) newCronJob(errors, object)
  else if (namesZone(object) && at(object, "spec", "timeZone") !== undefined) {
    const detail = "cannot use both timeZone field and TZ or CRON_TZ in schedule"
    errors.push(invalid("spec.schedule", textAt(object, "spec", "schedule"), detail))
  }
}

const bounds: ReadonlyArray<readonly [number, number, string]> = [
  [0, 59, ""],
  [0, 23, ""],
  [1, 31, ""],
  [1, 12, "jan feb mar apr may jun jul aug sep oct nov dec"],
  [0, 6, "sun mon tue wed thu fri sat"]
]

const macros = new Set(["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"])

/** What is wrong with a cron expression; empty when nothing is. */
const scheduleError = (text: string): string => {
  const plain = text.replace(/^(?:CRON_)?TZ=\S+\s+/, "")
  if (plain.startsWith("@")) {
    const known = macros.has(plain) || /^@every (?:\d+(?:\.\d+)?(?:ns|us|ms|s|m|h))+$/.test(plain)
    return known ? "" : `unrecognized descriptor: ${plain}`
  }
  const parts = plain.trim().split(/\s+/)
  if (parts.length !== 5) return `expected exactly 5 fields, found ${parts.length}: [${parts.join(" ")}]`
  for (const [index, part] of parts.entries()) {
    const [low = 0, high = 0, words = ""] = bounds[index] ?? []
    for (const one of part.split(",")) {
      const wrong = partError(one, low, high, words.split(" "))
      if (wrong !== "") return wrong
    }
  }
  return ""
}

const partError = (part: string, low: number, high: number, words: ReadonlyArray<string>): string => {
  const [range = "", step, ...more] = part.split("/")
  if (more.length > 0) return `too many slashes: ${part}`
  if (step !== undefined && !/^\d+$/.test(step)) return failedInt(step)
  if (step !== undefined && Number(step) === 0) return `step of range should be a positive number: ${part}`
  if (range === "*" || range === "?") return ""
  const ends = range.split("-")
  if (ends.length > 2) return `too many hyphens: ${part}`
  const numbers: Array<number> = []
  for (const end of ends) {
    const word = words.indexOf(end.toLowerCase())
    if (word >= 0 && end !== "") numbers.push(word + low)
    else if (/^\d+$/.test(end)) numbers.push(Number(end))
    else return failedInt(end)
  }
  const [from = 0, to = from] = numbers
  if (from < low) return `beginning of range (${from}) below minimum (${low}): ${part}`
  if (to > high) return `end of range (${to}) above maximum (${high}): ${part}`
  return from > to ? `beginning of range (${from}) beyond end of range (${to}): ${part}` : ""
}

const failedInt = (text: string): string =>
  `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`

/** How many pods of a set may be away: one of two bounds, never both. Source: policy validation. */
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
