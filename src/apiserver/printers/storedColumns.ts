/** Printer columns of workloads and volumes. Source: pkg/printers/internalversion: AddHandlers. */
import { humanDuration } from "../../kube/humanDuration.ts"
import { arrayAt, at, objectAt, textAt } from "../json.ts"
import type { JsonObject } from "../json.ts"
import {
  age,
  type Cell,
  integer,
  labelSelector,
  name,
  number,
  orNone,
  path,
  selectorWide,
  since,
  templateWide,
  text
} from "./columns.ts"
import type { PrinterColumn } from "../scheme/ResourceDefinition.ts"

const count =
  (...keys: ReadonlyArray<string>): Cell =>
  (object) =>
    number(at(object, ...keys))

const plainSelector: Cell = (object) => labelSelector({ matchLabels: at(object, "spec", "selector") ?? {} })

export const statefulSet: ReadonlyArray<PrinterColumn> = [
  name,
  text("Ready", (object) => `${count("status", "readyReplicas")(object, 0)}/${count("spec", "replicas")(object, 0)}`),
  age,
  ...templateWide
]

const nodeSelector: Cell = (object) => {
  const labels = objectAt(object, "spec", "template", "spec", "nodeSelector") ?? {}
  return labelSelector({ matchLabels: labels })
}

export const daemonSet: ReadonlyArray<PrinterColumn> = [
  name,
  integer("Desired", count("status", "desiredNumberScheduled")),
  integer("Current", count("status", "currentNumberScheduled")),
  integer("Ready", count("status", "numberReady")),
  integer("Up-to-date", count("status", "updatedNumberScheduled")),
  integer("Available", count("status", "numberAvailable")),
  text("Node Selector", nodeSelector),
  age,
  ...templateWide,
  selectorWide
]

export const replicationController: ReadonlyArray<PrinterColumn> = [
  name,
  integer("Desired", count("spec", "replicas")),
  integer("Current", count("status", "replicas")),
  integer("Ready", count("status", "readyReplicas")),
  age,
  ...templateWide,
  text("Selector", plainSelector, 1)
]

const jobStatus = (object: JsonObject): string => {
  const holds = (type: string): boolean =>
    arrayAt(object, "status", "conditions").some(
      (one) => textAt(one, "type") === type && textAt(one, "status") === "True"
    )
  const word = ["Complete", "Failed"].find(holds)
  if (word !== undefined) return word
  if (textAt(object, "metadata", "deletionTimestamp") !== "") return "Terminating"
  return ["Suspended", "FailureTarget", "SuccessCriteriaMet"].find(holds) ?? "Running"
}

const completions = (object: JsonObject): string => {
  const succeeded = number(at(object, "status", "succeeded"))
  const wanted = at(object, "spec", "completions")
  if (typeof wanted === "number") return `${succeeded}/${wanted}`
  const parallel = number(at(object, "spec", "parallelism"))
  return parallel > 1 ? `${succeeded}/1 of ${parallel}` : `${succeeded}/1`
}

const jobDuration: Cell = (object, now) => {
  const start = textAt(object, "status", "startTime")
  if (start === "") return ""
  const end = textAt(object, "status", "completionTime")
  return humanDuration((end === "" ? now : Date.parse(end)) - Date.parse(start))
}

export const job: ReadonlyArray<PrinterColumn> = [
  name,
  text("Status", jobStatus),
  text("Completions", completions),
  text("Duration", jobDuration),
  age,
  ...templateWide,
  selectorWide
]

const jobContainers =
  (key: string): Cell =>
  (object) =>
    arrayAt(object, "spec", "jobTemplate", "spec", "template", "spec", "containers")
      .map((one) => textAt(one, key))
      .join(",")

export const cronJob: ReadonlyArray<PrinterColumn> = [
  name,
  text("Schedule", path("spec", "schedule")),
  text("Timezone", (object) => orNone(textAt(object, "spec", "timeZone"))),
  text("Suspend", (object) => (at(object, "spec", "suspend") === true ? "True" : "False")),
  integer("Active", (object) => arrayAt(object, "status", "active").length),
  text("Last Schedule", (object, now) => {
    const last = textAt(object, "status", "lastScheduleTime")
    return last === "" ? "<none>" : since(last, now)
  }),
  age,
  text("Containers", jobContainers("name"), 1),
  text("Images", jobContainers("image"), 1),
  text("Selector", (object) => labelSelector(at(object, "spec", "jobTemplate", "spec", "selector")), 1)
]

const modes: Readonly<Record<string, string>> = {
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP"
}

const accessModes =
  (...keys: ReadonlyArray<string>): Cell =>
  (object) =>
    arrayAt(object, ...keys)
      .map((one) => (typeof one === "string" ? (modes[one] ?? "") : ""))
      .join(",")

const phase: Cell = (object) =>
  textAt(object, "metadata", "deletionTimestamp") === "" ? textAt(object, "status", "phase") : "Terminating"

const volumeMode = text("VolumeMode", (object) => textAt(object, "spec", "volumeMode") || "<unset>", 1)
const attributes = text(
  "VolumeAttributesClass",
  (object) => textAt(object, "spec", "volumeAttributesClassName") || "<unset>"
)

export const persistentVolumeClaim: ReadonlyArray<PrinterColumn> = [
  name,
  text("Status", phase),
  text("Volume", path("spec", "volumeName")),
  text("Capacity", path("status", "capacity", "storage")),
  text("Access Modes", accessModes("status", "accessModes")),
  text("StorageClass", path("spec", "storageClassName")),
  attributes,
  age,
  volumeMode
]

export const persistentVolume: ReadonlyArray<PrinterColumn> = [
  name,
  text("Capacity", path("spec", "capacity", "storage")),
  text("Access Modes", accessModes("spec", "accessModes")),
  text("Reclaim Policy", path("spec", "persistentVolumeReclaimPolicy")),
  text("Status", phase),
  text("Claim", (object) => {
    const claim = objectAt(object, "spec", "claimRef")
    return claim === undefined ? "" : `${textAt(claim, "namespace")}/${textAt(claim, "name")}`
  }),
  text("StorageClass", path("spec", "storageClassName")),
  attributes,
  text("Reason", path("status", "reason")),
  age,
  volumeMode
]

export const storageClass: ReadonlyArray<PrinterColumn> = [
  {
    ...name,
    cell: (object) => {
      const chosen = textAt(object, "metadata", "annotations", "storageclass.kubernetes.io/is-default-class") === "true"
      return `${textAt(object, "metadata", "name")}${chosen ? " (default)" : ""}`
    }
  },
  text("Provisioner", path("provisioner")),
  text("ReclaimPolicy", (object) => textAt(object, "reclaimPolicy") || "Delete"),
  text("VolumeBindingMode", (object) => textAt(object, "volumeBindingMode") || "Immediate"),
  text("AllowVolumeExpansion", (object) => (at(object, "allowVolumeExpansion") === true ? "true" : "false")),
  age
]

const orNotSet = (object: JsonObject, key: string): string => {
  const value = at(object, "spec", key)
  return typeof value === "number" || typeof value === "string" ? String(value) : "N/A"
}

export const disruptionBudget: ReadonlyArray<PrinterColumn> = [
  name,
  text("Min Available", (object) => orNotSet(object, "minAvailable")),
  text("Max Unavailable", (object) => orNotSet(object, "maxUnavailable")),
  integer("Allowed Disruptions", count("status", "disruptionsAllowed")),
  age
]
