/**
 * Sets the priority of pods, and tolerations that let them stay on a failing node for a while. Source: plugin/pkg/admission/priority and
 * plugin/pkg/admission/defaulttolerationseconds.
 */
import { arrayAt, at, ensureObject, get, put, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import * as StatusError from "../StatusError.ts"
import type { RequestScope } from "./Admission.ts"
import type { Plugin, Write } from "./Admission.ts"
import * as stored from "./stored.ts"

export const isPod = ({ target }: Write): boolean => target.resource.storage === "pods"

const classes = "scheduling.k8s.io/priorityclasses"

const preempts = "PreemptLowerPriority"

/** The PriorityClass that a pod names, or the global default. */
const classOf = (context: RequestScope, name: string): JsonObject | undefined => {
  if (name === "") return stored.objects(context, classes, "").find((one) => get(one, "globalDefault") === true)
  return stored.object(context, classes, "", name)
}

export const priority: Plugin = {
  name: "Priority",
  admit: (write) => {
    if (!isPod(write)) return undefined
    const { before, object, target, context } = write
    const spec = ensureObject(object, "spec")
    if (before !== undefined) {
      for (const key of ["priority", "preemptionPolicy"])
        if (get(spec, key) === undefined) put(spec, key, at(before, "spec", key))
      return undefined
    }
    const name = textAt(spec, "priorityClassName")
    const found = classOf(context, name)
    const pod = textAt(object, "metadata", "name")
    if (name !== "" && found === undefined) {
      return StatusError.forbidden(target.resource, pod, `no PriorityClass with name ${name} was found`)
    }
    if (found !== undefined) spec["priorityClassName"] = textAt(found, "metadata", "name")
    const value = at(found, "value") ?? 0
    const given = get(spec, "priority")
    if (given !== undefined && given !== value) {
      const why = `the integer value of priority (${JSON.stringify(given)}) must not be provided in pod spec; priority admission controller computed ${JSON.stringify(value)} from the given PriorityClass name`
      return StatusError.forbidden(target.resource, pod, why)
    }
    spec["priority"] = value
    spec["preemptionPolicy"] ??= textAt(found, "preemptionPolicy") || preempts
    return undefined
  }
}

const failing = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] as const
const seconds = 300

const tolerates = (list: ReadonlyArray<Json>, key: string): boolean =>
  list.some((one) => {
    const effect = textAt(one, "effect")
    const own = textAt(one, "key")
    return (own === key || own === "") && (effect === "NoExecute" || effect === "")
  })

export const defaultTolerations: Plugin = {
  name: "DefaultTolerationSeconds",
  admit: (write) => {
    if (!isPod(write)) return undefined
    const spec = ensureObject(write.object, "spec")
    const list = arrayAt(spec, "tolerations")
    const missing = failing.filter((key) => !tolerates(list, key))
    if (missing.length === 0) return undefined
    const added = missing.map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: seconds }))
    spec["tolerations"] = [...list, ...added]
    return undefined
  }
}
