/**
 * Printer columns of the core resources and helpers for all others. Source: pkg/printers/internalversion: AddHandlers. A cell's
 * type may differ from its column's, as there. A resource without columns prints Name and Age.
 */
import { humanDuration } from "../../kube/humanDuration.ts"
import { arrayAt, at, isObject, objectAt, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import { podStatus, sidecarStatuses } from "./podStatus.ts"
import type { PrinterColumn } from "../scheme/ResourceDefinition.ts"

export type Cell = PrinterColumn["cell"]

export const text = (name: string, cell: Cell, priority = 0): PrinterColumn => ({
  name,
  type: "string",
  cell,
  priority
})
export const integer = (name: string, cell: Cell, priority = 0): PrinterColumn => ({
  name,
  type: "integer",
  cell,
  priority
})

export const orNone = (value: string): string => (value === "" ? "<none>" : value)
const orUnknown = (value: string): string => (value === "" ? "<unknown>" : value)
export const number = (value: Json | undefined): number => (typeof value === "number" ? value : 0)
const size = (value: Json | undefined): number => (isObject(value) ? Object.keys(value).length : 0)
export const path =
  (...keys: ReadonlyArray<string>): Cell =>
  (object) =>
    textAt(object, ...keys)

export const name: PrinterColumn = {
  name: "Name",
  type: "string",
  format: "name",
  cell: path("metadata", "name")
}

export const since = (timestamp: string, now: number): string => {
  const millis = Date.parse(timestamp)
  return Number.isNaN(millis) ? "<unknown>" : humanDuration(now - millis)
}

export const age: PrinterColumn = text("Age", (object, now) =>
  since(textAt(object, "metadata", "creationTimestamp"), now)
)

/** Columns of a kind that has none of its own. */
export const generic: ReadonlyArray<PrinterColumn> = [name, age]

const containers = (object: JsonObject): Array<Json> => arrayAt(object, "spec", "containers")
const templateContainers = (object: JsonObject): Array<Json> =>
  arrayAt(object, "spec", "template", "spec", "containers")
const join = (list: Array<Json>, key: string): string => list.map((element) => textAt(element, key)).join(",")

/** So many of them, and how many more there are. */
export const atMost = (limit: number, list: ReadonlyArray<string>, separator = ","): string => {
  const shown = list.slice(0, limit).join(separator)
  return list.length > limit ? `${shown} + ${list.length - limit} more...` : shown
}

const operators: Readonly<Record<string, (key: string, values: string) => string>> = {
  In: (key, values) => `${key} in (${values})`,
  NotIn: (key, values) => `${key} notin (${values})`,
  Exists: (key) => key,
  DoesNotExist: (key) => `!${key}`
}

/** A label selector as kubectl takes it, its keys in order. */
export const labelSelector = (value: Json | undefined): string => {
  const labels = objectAt(value, "matchLabels") ?? {}
  const requirements: Array<readonly [string, string]> = [
    ...Object.keys(labels).map((key) => [key, `${key}=${textAt(labels, key)}`] as const),
    ...arrayAt(value, "matchExpressions").map((one) => {
      const key = textAt(one, "key")
      const values = arrayAt(one, "values").map((each) => (typeof each === "string" ? each : ""))
      return [key, operators[textAt(one, "operator")]?.(key, values.sort().join(",")) ?? ""] as const
    })
  ]
  requirements.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return orNone(requirements.map(([, text]) => text).join(","))
}

/** How many of the conditions that a pod waits for are true. */
const readinessGates: Cell = (object) => {
  const gates = arrayAt(object, "spec", "readinessGates").map((one) => textAt(one, "conditionType"))
  if (gates.length === 0) return "<none>"
  const met = arrayAt(object, "status", "conditions").filter(
    (one) => gates.includes(textAt(one, "type")) && textAt(one, "status") === "True"
  )
  return `${met.length}/${gates.length}`
}

export const pod: ReadonlyArray<PrinterColumn> = [
  name,
  text("Ready", (object) => {
    const statuses = [...sidecarStatuses(object), ...arrayAt(object, "status", "containerStatuses")]
    const sidecars = arrayAt(object, "spec", "initContainers").filter(
      (one) => textAt(one, "restartPolicy") === "Always"
    )
    const ready = statuses.filter((one) => at(one, "ready") === true)
    return `${ready.length}/${containers(object).length + sidecars.length}`
  }),
  text("Status", podStatus),
  text("Restarts", (object) =>
    String(
      [...sidecarStatuses(object), ...arrayAt(object, "status", "containerStatuses")].reduce<number>(
        (sum, one) => sum + number(at(one, "restartCount")),
        0
      )
    )
  ),
  age,
  text("IP", (object) => orNone(textAt(object, "status", "podIP")), 1),
  text("Node", (object) => orNone(textAt(object, "spec", "nodeName")), 1),
  text("Nominated Node", (object) => orNone(textAt(object, "status", "nominatedNodeName")), 1),
  text("Readiness Gates", readinessGates, 1)
]

const nodeStatus = (object: JsonObject): string => {
  const ready = arrayAt(object, "status", "conditions").find((one) => textAt(one, "type") === "Ready")
  const words = [ready === undefined ? "Unknown" : textAt(ready, "status") === "True" ? "Ready" : "NotReady"]
  if (at(object, "spec", "unschedulable") === true) words.push("SchedulingDisabled")
  return words.join(",")
}

const roles = (object: JsonObject): string => {
  const labels = objectAt(object, "metadata", "labels") ?? {}
  const prefix = "node-role.kubernetes.io/"
  const found = Object.keys(labels).flatMap((key) =>
    key.startsWith(prefix) && key.length > prefix.length
      ? [key.slice(prefix.length)]
      : key === "kubernetes.io/role"
        ? [textAt(labels, key)]
        : []
  )
  return orNone([...new Set(found)].sort().join(","))
}

const address =
  (type: string): Cell =>
  (object) => {
    const found = arrayAt(object, "status", "addresses").find((one) => textAt(one, "type") === type)
    return orNone(textAt(found, "address"))
  }

export const node: ReadonlyArray<PrinterColumn> = [
  name,
  text("Status", nodeStatus),
  text("Roles", roles),
  age,
  text("Version", path("status", "nodeInfo", "kubeletVersion")),
  text("Internal-IP", address("InternalIP"), 1),
  text("External-IP", address("ExternalIP"), 1),
  text("OS-Image", (object) => orUnknown(textAt(object, "status", "nodeInfo", "osImage")), 1),
  text("Kernel-Version", (object) => orUnknown(textAt(object, "status", "nodeInfo", "kernelVersion")), 1),
  text("Container-Runtime", (object) => orUnknown(textAt(object, "status", "nodeInfo", "containerRuntimeVersion")), 1)
]

export const namespace: ReadonlyArray<PrinterColumn> = [name, text("Status", path("status", "phase")), age]

export const configMap: ReadonlyArray<PrinterColumn> = [
  name,
  text("Data", (object) => size(at(object, "data")) + size(at(object, "binaryData"))),
  age
]

export const secret: ReadonlyArray<PrinterColumn> = [
  name,
  text("Type", path("type")),
  integer("Data", (object) => size(at(object, "data"))),
  age
]

const servicePorts: Cell = (object) =>
  orNone(
    arrayAt(object, "spec", "ports")
      .map((port) => {
        const nodePort = number(at(port, "nodePort"))
        return `${number(at(port, "port"))}${nodePort > 0 ? `:${nodePort}` : ""}/${textAt(port, "protocol") || "TCP"}`
      })
      .join(",")
  )

const externalAddress: Cell = (object) => {
  const type = textAt(object, "spec", "type")
  if (type === "ExternalName") return orNone(textAt(object, "spec", "externalName"))
  const external = arrayAt(object, "spec", "externalIPs").map((one) => (typeof one === "string" ? one : ""))
  if (type !== "LoadBalancer") return orNone(external.join(","))
  const balanced = arrayAt(object, "status", "loadBalancer", "ingress").map(
    (one) => textAt(one, "ip") || textAt(one, "hostname")
  )
  return [...balanced, ...external].join(",") || "<pending>"
}

export const service: ReadonlyArray<PrinterColumn> = [
  name,
  text("Type", path("spec", "type")),
  text("Cluster-IP", (object) => orNone(textAt(object, "spec", "clusterIP"))),
  text("External-IP", externalAddress),
  text("Port(s)", servicePorts),
  age,
  text("Selector", (object) => labelSelector({ matchLabels: at(object, "spec", "selector") ?? {} }), 1)
]

const endpointAddresses: Cell = (object) => {
  const all = arrayAt(object, "subsets").flatMap((subset) => {
    const ports = arrayAt(subset, "ports").map((port) => `:${number(at(port, "port"))}`)
    const addresses = arrayAt(subset, "addresses").map((one) => textAt(one, "ip"))
    return (ports.length === 0 ? [""] : ports).flatMap((port) => addresses.map((address) => `${address}${port}`))
  })
  return orNone(atMost(3, all))
}

export const endpoints: ReadonlyArray<PrinterColumn> = [name, text("Endpoints", endpointAddresses), age]

export const serviceAccount: ReadonlyArray<PrinterColumn> = [
  name,
  text("Secrets", (object) => arrayAt(object, "secrets").length),
  age
]

const lastSeen: Cell = (object, now) => {
  const series = textAt(object, "series", "lastObservedTime")
  return since(series || textAt(object, "lastTimestamp") || textAt(object, "eventTime"), now)
}

const involvedName: Cell = (object) =>
  `${textAt(object, "involvedObject", "kind").toLowerCase()}/${textAt(object, "involvedObject", "name")}`

export const event: ReadonlyArray<PrinterColumn> = [
  text("Last Seen", lastSeen),
  text("Type", path("type")),
  text("Reason", path("reason")),
  text("Object", involvedName),
  text("Subobject", path("involvedObject", "fieldPath"), 1),
  text(
    "Source",
    (object) => {
      const component = textAt(object, "source", "component") || textAt(object, "reportingComponent")
      const host = textAt(object, "source", "host") || textAt(object, "reportingInstance")
      return host === "" ? component : `${component}, ${host}`
    },
    1
  ),
  text("Message", (object) => textAt(object, "message").trim()),
  text("First Seen", (object, now) => since(textAt(object, "firstTimestamp") || textAt(object, "eventTime"), now), 1),
  text("Count", (object) => number(at(object, "series", "count")) || number(at(object, "count")) || 1, 1),
  { ...name, priority: 1 }
]

export const lease: ReadonlyArray<PrinterColumn> = [name, text("Holder", path("spec", "holderIdentity")), age]

/** What `-o wide` adds to kinds with a pod template. */
export const templateWide: ReadonlyArray<PrinterColumn> = [
  text("Containers", (object) => join(templateContainers(object), "name"), 1),
  text("Images", (object) => join(templateContainers(object), "image"), 1)
]

export const selectorWide: PrinterColumn = text(
  "Selector",
  (object) => labelSelector(at(object, "spec", "selector")),
  1
)

export const deployment: ReadonlyArray<PrinterColumn> = [
  name,
  text(
    "Ready",
    (object) => `${number(at(object, "status", "readyReplicas"))}/${number(at(object, "spec", "replicas"))}`
  ),
  text("Up-to-date", (object) => number(at(object, "status", "updatedReplicas"))),
  text("Available", (object) => number(at(object, "status", "availableReplicas"))),
  age,
  ...templateWide,
  selectorWide
]

export const replicaSet: ReadonlyArray<PrinterColumn> = [
  name,
  integer("Desired", (object) => number(at(object, "spec", "replicas"))),
  integer("Current", (object) => number(at(object, "status", "replicas"))),
  integer("Ready", (object) => number(at(object, "status", "readyReplicas"))),
  age,
  ...templateWide,
  selectorWide
]
