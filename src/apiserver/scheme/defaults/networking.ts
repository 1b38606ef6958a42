/** Defaults of network policies and classes of ingresses. Source: networking/v1 defaults of the reference server. */
import { arrayAt, objectAt } from "../../json.ts"
import type { JsonObject } from "../../json.ts"
import { absent, objects, specOf } from "./fill.ts"

/** A policy is about what comes in, and about what goes out when it says something of that. */
export const networkPolicy = (object: JsonObject): void => {
  const spec = specOf(object)
  for (const rule of [...objects(spec, "ingress"), ...objects(spec, "egress")]) {
    for (const port of objects(rule, "ports")) absent(port, { protocol: "TCP" })
  }
  if (arrayAt(spec, "policyTypes").length > 0) return
  spec["policyTypes"] = arrayAt(spec, "egress").length > 0 ? ["Ingress", "Egress"] : ["Ingress"]
}

export const ingressClass = (object: JsonObject): void => {
  const parameters = objectAt(object, "spec", "parameters")
  if (parameters !== undefined) absent(parameters, { scope: "Cluster" })
}
