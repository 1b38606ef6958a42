/**
 * New nodes take no pods until somebody has found them ready; who takes the taint off is a controller. Source: the
 * TaintNodesByCondition plugin of the reference server.
 */
import { arrayAt, ensureObject, textAt } from "../json.ts"
import type { Plugin } from "./Admission.ts"

const key = "node.kubernetes.io/not-ready"
const effect = "NoSchedule"

export const nodeTaints: Plugin = {
  name: "TaintNodesByCondition",
  admit: ({ before, object, target }) => {
    if (before !== undefined || target.kind.storage !== "nodes") return
    const spec = ensureObject(object, "spec")
    const taints = arrayAt(spec, "taints")
    const has = taints.some((one) => textAt(one, "key") === key && textAt(one, "effect") === effect)
    if (!has) spec["taints"] = [...taints, { key, effect }]
  }
}
