/**
 * Defaults of Services, Endpoints, EndpointSlices, NetworkPolicies, IngressClasses and RBAC bindings. Source: the defaults of
 * core/v1, discovery/v1, networking/v1 and rbac/v1.
 */
import { arrayAt, ensureObject, get, isObject, numberAt, objectAt, set, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import { absent, empty, objects, specOf } from "./fill.ts"

/** Whether a Service is reachable from outside the cluster. Source: pkg/api/service: ExternallyAccessible. */
export const isReachedFromOutside = (spec: JsonObject): boolean => {
  const type = textAt(spec, "type")
  return (
    type === "NodePort" || type === "LoadBalancer" || (type === "ClusterIP" && arrayAt(spec, "externalIPs").length > 0)
  )
}

export const service = (object: JsonObject): void => {
  const spec = specOf(object)
  empty(spec, { sessionAffinity: "None", type: "ClusterIP" })
  if (spec["sessionAffinity"] === "ClientIP") {
    const config = ensureObject(ensureObject(spec, "sessionAffinityConfig"), "clientIP")
    absent(config, { timeoutSeconds: 10_800 })
  }
  for (const port of objects(spec, "ports")) {
    empty(port, { protocol: "TCP" })
    const target = get(port, "targetPort")
    if (target === undefined || target === 0 || target === "") set(port, "targetPort", numberAt(port, "port"))
  }
  const type = textAt(spec, "type")
  if (isReachedFromOutside(spec)) empty(spec, { externalTrafficPolicy: "Cluster" })
  if (type === "LoadBalancer") absent(spec, { allocateLoadBalancerNodePorts: true })
  if (type !== "ExternalName") empty(spec, { internalTrafficPolicy: "Cluster" })
}

export const endpoints = (object: JsonObject): void => {
  for (const subset of objects(object, "subsets")) {
    for (const port of objects(subset, "ports")) empty(port, { protocol: "TCP" })
  }
}

export const endpointSlice = (object: JsonObject): void => {
  for (const port of objects(object, "ports")) {
    absent(port, { name: "" })
    empty(port, { protocol: "TCP" })
  }
}

const rbac = "rbac.authorization.k8s.io"

/** API groups of the subjects and the role of a binding. */
export const binding = (object: JsonObject): void => {
  const role: Json | undefined = get(object, "roleRef")
  if (isObject(role)) empty(role, { apiGroup: rbac })
  for (const subject of objects(object, "subjects")) {
    if (textAt(subject, "kind") !== "ServiceAccount") empty(subject, { apiGroup: rbac })
  }
}

/** policyTypes is Ingress, and also Egress if the policy has egress rules. */
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
