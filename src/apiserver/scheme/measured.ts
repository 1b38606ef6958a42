/**
 * The resources of `metrics.k8s.io`, which a metrics server serves in a cluster, and the role with which it lets users read them. Their
 * objects are measurements, which `endpoints/measurements.ts` makes. Source: metrics-server pkg/api, manifests/base.
 */
import * as Quantity from "../../kube/quantity.ts"
import { arrayAt, textAt } from "../json.ts"
import type { JsonObject } from "../json.ts"
import { name, text } from "../printers/columns.ts"
import * as ResourceDefinition from "./ResourceDefinition.ts"

const metrics = {
  group: "metrics.k8s.io",
  version: "v1beta1",
  verbs: ["get", "list"],
  singular: "",
  source: "usage"
} as const

/** The usage of a pod's containers together. */
const total = (object: JsonObject, resource: string): string => {
  const amounts = arrayAt(object, "containers").map((one) => Quantity.parse(textAt(one, "usage", resource)))
  return Quantity.canonical(
    amounts.reduce<Quantity.Quantity>(
      (sum, amount) => (amount === undefined ? sum : Quantity.plus(sum, amount)),
      Quantity.whole(0)
    )
  )
}

export const resources: ReadonlyArray<ResourceDefinition.ResourceDefinition> = [
  ResourceDefinition.make({
    ...metrics,
    kind: "NodeMetrics",
    plural: "nodes",
    namespaced: false,
    columns: [
      name,
      text("cpu", (object) => textAt(object, "usage", "cpu")),
      text("memory", (object) => textAt(object, "usage", "memory")),
      text("window", (object) => textAt(object, "window"))
    ]
  }),
  ResourceDefinition.make({
    ...metrics,
    kind: "PodMetrics",
    plural: "pods",
    columns: [
      name,
      text("cpu", (object) => total(object, "cpu")),
      text("memory", (object) => total(object, "memory")),
      text("window", (object) => textAt(object, "window"))
    ]
  })
]

/** The ClusterRole of a metrics server that is aggregated into `view`, `edit` and `admin`. */
export const reader = (): JsonObject => ({
  metadata: {
    name: "system:aggregated-metrics-reader",
    labels: {
      "k8s-app": "metrics-server",
      "rbac.authorization.k8s.io/aggregate-to-admin": "true",
      "rbac.authorization.k8s.io/aggregate-to-edit": "true",
      "rbac.authorization.k8s.io/aggregate-to-view": "true"
    }
  },
  rules: [{ apiGroups: [metrics.group], resources: ["pods", "nodes"], verbs: ["get", "list", "watch"] }]
})
