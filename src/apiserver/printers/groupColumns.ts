/**
 * Printer columns of networking, policy, RBAC, autoscaling and CSI resources. Source: pkg/printers/internalversion:
 * AddHandlers; where Kubernetes versions differ, the newer one.
 */
import { arrayAt, at, objectAt, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import { age, atMost, type Cell, integer, labelSelector, name, number, orNone, path, text } from "./columns.ts"
import type { PrinterColumn } from "../scheme/ResourceDefinition.ts"

const boolean = (name: string, ...keys: ReadonlyArray<string>): PrinterColumn => ({
  name,
  type: "boolean",
  cell: (object) => at(object, ...keys) === true
})

const texts = (list: ReadonlyArray<Json>): ReadonlyArray<string> =>
  list.map((one) => (typeof one === "string" ? one : ""))

const createdAt: PrinterColumn = { name: "Created At", type: "date", cell: path("metadata", "creationTimestamp") }

/** The creation timestamp, not the age. */
export const dated: ReadonlyArray<PrinterColumn> = [name, createdAt]

// Networking ---------------------------------------------------------------------------------------------------------------

const ingressAddress: Cell = (object) =>
  arrayAt(object, "status", "loadBalancer", "ingress")
    .map((one) => textAt(one, "ip") || textAt(one, "hostname"))
    .join(",")

/** Source: kube-aggregator registry/apiservice/etcd. */
export const apiService: ReadonlyArray<PrinterColumn> = [
  name,
  text("Service", () => "Local"),
  text("Available", (object) => textAt(arrayAt(object, "status", "conditions")[0], "status")),
  age
]

export const ingress: ReadonlyArray<PrinterColumn> = [
  name,
  text("Class", (object) => orNone(textAt(object, "spec", "ingressClassName"))),
  text("Hosts", (object) => {
    const hosts = arrayAt(object, "spec", "rules").flatMap((rule) => textAt(rule, "host") || [])
    return hosts.length === 0 ? "*" : atMost(3, hosts)
  }),
  text("Address", ingressAddress),
  text("Ports", (object) => (arrayAt(object, "spec", "tls").length > 0 ? "80, 443" : "80")),
  age
]

const parameters: Cell = (object) => {
  const found = objectAt(object, "spec", "parameters")
  if (found === undefined) return "<none>"
  const group = textAt(found, "apiGroup")
  return `${textAt(found, "kind")}${group === "" ? "" : `.${group}`}/${textAt(found, "name")}`
}

export const ingressClass: ReadonlyArray<PrinterColumn> = [
  name,
  text("Controller", path("spec", "controller")),
  text("Parameters", parameters),
  age
]

export const networkPolicy: ReadonlyArray<PrinterColumn> = [
  name,
  text("Pod-Selector", (object) => labelSelector(at(object, "spec", "podSelector"))),
  age
]

const orUnset = (value: string): string => (value === "" ? "<unset>" : value)

export const endpointSlice: ReadonlyArray<PrinterColumn> = [
  name,
  text("AddressType", path("addressType")),
  text("Ports", (object) => {
    const ports = arrayAt(object, "ports").map((one) =>
      at(one, "port") === undefined ? "*" : String(number(at(one, "port")))
    )
    return orUnset(atMost(3, ports))
  }),
  text("Endpoints", (object) => {
    const addresses = arrayAt(object, "endpoints").flatMap((one) => texts(arrayAt(one, "addresses")))
    return orUnset(atMost(3, addresses))
  }),
  age
]

// Policy -------------------------------------------------------------------------------------------------------------------

/** `used/hard` of the resources on one side. */
const quotaSide =
  (limits: boolean): Cell =>
  (object) =>
    Object.keys(objectAt(object, "status", "hard") ?? {})
      .sort()
      .filter((resource) => resource.startsWith("limits") === limits)
      .map((one) => `${one}: ${textAt(object, "status", "used", one)}/${textAt(object, "status", "hard", one)}`)
      .join(", ")

export const resourceQuota: ReadonlyArray<PrinterColumn> = [
  name,
  text("Request", quotaSide(false)),
  text("Limit", quotaSide(true)),
  age
]

export const priorityClass: ReadonlyArray<PrinterColumn> = [
  name,
  integer("Value", (object) => number(at(object, "value"))),
  boolean("Global-Default", "globalDefault"),
  age,
  text("PreemptionPolicy", path("preemptionPolicy"))
]

/** Metrics as `current/target`, the first two of them. */
const targets: Cell = (object) => {
  const current = arrayAt(object, "status", "currentMetrics")
  const shown = arrayAt(object, "spec", "metrics").map((metric, index) => target(metric, current[index]))
  return shown.length === 0 ? "<none>" : atMost(2, shown, ", ")
}

/** The field that holds the values of each metric type. */
const metricParts: Readonly<Record<string, string>> = {
  Resource: "resource",
  ContainerResource: "containerResource",
  Pods: "pods",
  Object: "object",
  External: "external"
}

const target = (metric: Json, current: Json | undefined): string => {
  const type = textAt(metric, "type")
  const part = metricParts[type] ?? ""
  const label = type.endsWith("Resource") ? `${textAt(metric, part, "name")}: ` : ""
  const wanted = at(metric, part, "target")
  const seen = at(current, part, "current")
  const shown = (value: Json | undefined): string => (typeof value === "string" && value !== "" ? value : "<unknown>")
  const utilization = at(wanted, "averageUtilization")
  if (typeof utilization === "number") {
    const now = at(seen, "averageUtilization")
    return `${label}${typeof now === "number" ? `${now}%` : "<unknown>"}/${utilization}%`
  }
  const average = textAt(wanted, "averageValue")
  if (average === "") return `${label}${shown(at(seen, "value"))}/${textAt(wanted, "value")}`
  const suffix = type === "Object" || type === "External" ? " (avg)" : ""
  return `${label}${shown(at(seen, "averageValue"))}/${average}${suffix}`
}

export const autoscaler: ReadonlyArray<PrinterColumn> = [
  name,
  text(
    "Reference",
    (object) =>
      `${textAt(object, "spec", "scaleTargetRef", "kind")}/${textAt(object, "spec", "scaleTargetRef", "name")}`
  ),
  text("Targets", targets),
  text("MinPods", (object) => {
    const minimum = at(object, "spec", "minReplicas")
    return typeof minimum === "number" ? String(minimum) : "<unset>"
  }),
  text("MaxPods", (object) => number(at(object, "spec", "maxReplicas"))),
  text("Replicas", (object) => number(at(object, "status", "currentReplicas"))),
  age
]

// Access and admission -----------------------------------------------------------------------------------------------------

const subjects =
  (kind: string): Cell =>
  (object) =>
    arrayAt(object, "subjects")
      .filter((one) => textAt(one, "kind") === kind)
      .map((one) => (kind === "ServiceAccount" ? `${textAt(one, "namespace")}/` : "") + textAt(one, "name"))
      .join(", ")

export const roleBinding: ReadonlyArray<PrinterColumn> = [
  name,
  text("Role", (object) => `${textAt(object, "roleRef", "kind")}/${textAt(object, "roleRef", "name")}`),
  age,
  text("Users", subjects("User"), 1),
  text("Groups", subjects("Group"), 1),
  text("ServiceAccounts", subjects("ServiceAccount"), 1)
]

export const webhooks: ReadonlyArray<PrinterColumn> = [
  name,
  integer("Webhooks", (object) => arrayAt(object, "webhooks").length),
  age
]

export const admissionPolicy: ReadonlyArray<PrinterColumn> = [
  name,
  integer("Validations", (object) => arrayAt(object, "spec", "validations").length),
  text("ParamKind", (object) => {
    const kind = objectAt(object, "spec", "paramKind")
    return kind === undefined ? "<unset>" : `${textAt(kind, "apiVersion")}/${textAt(kind, "kind")}`
  }),
  age
]

/** Without its namespace, a parameter is in that of the request, or in none. */
const paramRef: Cell = (object) => {
  const ref = objectAt(object, "spec", "paramRef")
  const name = textAt(ref, "name")
  if (name !== "") return `${textAt(ref, "namespace") || "*"}/${name}`
  return ref === undefined ? "<unset>" : selectorText(objectAt(ref, "selector") ?? {})
}

/** A selector as Go prints the struct. */
const selectorText = (selector: JsonObject): string => {
  const labels = objectAt(selector, "matchLabels") ?? {}
  const expressions = arrayAt(selector, "matchExpressions").map(
    (one) =>
      `LabelSelectorRequirement{Key:${textAt(one, "key")},Operator:${textAt(one, "operator")},Values:[${texts(arrayAt(one, "values")).join(" ")}],},`
  )
  const matchLabels = Object.keys(labels)
    .sort()
    .map((key) => `${key}: ${textAt(labels, key)},`)
    .join("")
  return `&LabelSelector{MatchLabels:map[string]string{${matchLabels}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join("")}},}`
}

export const admissionPolicyBinding: ReadonlyArray<PrinterColumn> = [
  name,
  text("PolicyName", path("spec", "policyName")),
  text("ParamRef", paramRef),
  age
]

// Templates and revisions --------------------------------------------------------------------------------------------------

const templateContainers = (object: JsonObject, key: string): string =>
  arrayAt(object, "template", "spec", "containers")
    .map((one) => textAt(one, key))
    .join(",")

export const podTemplate: ReadonlyArray<PrinterColumn> = [
  name,
  text("Containers", (object) => templateContainers(object, "name")),
  text("Images", (object) => templateContainers(object, "image")),
  text("Pod Labels", (object) => labelSelector({ matchLabels: at(object, "template", "metadata", "labels") ?? {} }))
]

const controllerOf: Cell = (object) => {
  const owner = arrayAt(object, "metadata", "ownerReferences").find((one) => at(one, "controller") === true)
  if (owner === undefined) return "<none>"
  const [group = "", version] = textAt(owner, "apiVersion").split("/")
  return `${textAt(owner, "kind").toLowerCase()}${version === undefined ? "" : `.${group}`}/${textAt(owner, "name")}`
}

export const controllerRevision: ReadonlyArray<PrinterColumn> = [
  name,
  text("Controller", controllerOf),
  text("Revision", (object) => number(at(object, "revision"))),
  age
]

// Drivers ------------------------------------------------------------------------------------------------------------------

export const csiDriver: ReadonlyArray<PrinterColumn> = [
  name,
  { name: "AttachRequired", type: "boolean", cell: (object) => at(object, "spec", "attachRequired") !== false },
  boolean("PodInfoOnMount", "spec", "podInfoOnMount"),
  boolean("StorageCapacity", "spec", "storageCapacity"),
  text("TokenRequests", (object) =>
    orUnset(
      arrayAt(object, "spec", "tokenRequests")
        .map((one) => textAt(one, "audience"))
        .join(",")
    )
  ),
  boolean("RequiresRepublish", "spec", "requiresRepublish"),
  text("Modes", (object) => texts(arrayAt(object, "spec", "volumeLifecycleModes")).join(",") || "Persistent"),
  age
]

export const csiNode: ReadonlyArray<PrinterColumn> = [
  name,
  integer("Drivers", (object) => arrayAt(object, "spec", "drivers").length),
  age
]

export const volumeAttachment: ReadonlyArray<PrinterColumn> = [
  name,
  { name: "Attacher", type: "string", format: "name", cell: path("spec", "attacher") },
  text("PV", path("spec", "source", "persistentVolumeName")),
  text("Node", path("spec", "nodeName")),
  boolean("Attached", "status", "attached"),
  age
]
