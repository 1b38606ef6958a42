/** Defaults of autoscalers, in their stored form. Source: autoscaling/v2 defaults of the reference server. */
import { arrayAt, ensureObject, get, isObject } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import { absent, specOf } from "./fill.ts"

/** Four fifths of what the pods ask for. */
const cpu = { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } }

const percent = { type: "Percent", value: 100, periodSeconds: 15 }
const scaleUp = {
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [{ type: "Pods", value: 4, periodSeconds: 15 }, percent]
}
/** Without a window: it is a flag of the controller. */
const scaleDown = { selectPolicy: "Max", policies: [percent] }

export const autoscaler = (object: JsonObject): void => {
  const spec = specOf(object)
  absent(spec, { minReplicas: 1 })
  if (arrayAt(spec, "metrics").length === 0) {
    delete spec["metrics"]
    absent(spec, { metrics: [{ type: "Resource", resource: cpu }] satisfies Json })
  }
  const behavior = get(spec, "behavior")
  if (!isObject(behavior)) return
  absent(ensureObject(behavior, "scaleUp"), scaleUp)
  absent(ensureObject(behavior, "scaleDown"), scaleDown)
}
