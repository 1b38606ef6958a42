/** Pods, Services and nodes for property tests, made from generated facts. */
import * as Arbitrary from "effect/Arbitrary"
import * as Selection from "../../../../src/controllers/shared/services/selection.ts"
import * as Key from "../../../../src/kube/Key.ts"
import type { Node, Pod, Service } from "../../../../src/kube/resources.ts"
import { int, oneOf } from "../../../support/property.ts"

export const podFacts = Arbitrary.all({
  /** The number in the pod's name and addresses. */
  id: int(0, 7),
  labels: oneOf("web", "web", "web front", "db", "none"),
  /** What its containers call the port, or that they have none. */
  port: oneOf(8080, 8080, 9090, 0),
  phase: oneOf("Running", "Running", "Running", "Succeeded", "Failed", "Pending"),
  ready: oneOf(true, true, false),
  families: oneOf("4", "4", "46", "64", "6", "none"),
  going: oneOf(false, false, true),
  node: oneOf("a", "a", "b", "lost"),
  host: oneOf("", "", "web", "elsewhere"),
  /** When readiness last changed, in seconds. */
  since: int(0, 3)
})

export type PodFacts = typeof podFacts extends Arbitrary.Arbitrary<infer A> ? A : never

const labelsOf: Record<PodFacts["labels"], Record<string, string>> = {
  web: { app: "web", "pod-template-hash": "x" },
  "web front": { app: "web", tier: "front", "pod-template-hash": "y" },
  db: { app: "db", tier: "front" },
  none: {}
}

export const seconds = (n: number): string => `1970-01-01T00:00:0${n}Z`

export const pod = (facts: PodFacts): Pod => {
  const { families, going, host, id, labels, node, phase, port, ready, since } = facts
  const ips = Array.from(families.replace("none", "")).map((family) =>
    family === "4" ? `10.0.0.${id}` : `fd00::${id}`
  )
  return {
    metadata: {
      name: `pod-${id}`,
      namespace: "ns",
      uid: `uid-${id}`,
      labels: labelsOf[labels],
      ...(going ? { deletionTimestamp: seconds(9) } : {})
    },
    spec: {
      nodeName: node,
      containers: [
        { name: "main", image: "x", ports: port === 0 ? [] : [{ name: "http", containerPort: port, protocol: "TCP" }] }
      ],
      ...(host === "" ? {} : { hostname: `host-${id}`, subdomain: host })
    },
    status: {
      phase,
      ...(ips[0] === undefined ? {} : { podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) }),
      conditions: [{ type: "Ready", status: ready ? "True" : "False", lastTransitionTime: seconds(since) }]
    }
  }
}

/** Without duplicates of a name. */
export const podsOf = (facts: ReadonlyArray<PodFacts>): ReadonlyArray<Pod> => [
  ...new Map(facts.map((one) => [one.id, pod(one)])).values()
]

export const serviceFacts = Arbitrary.all({
  selector: oneOf("web", "web", "web front", "hash", "all", "none"),
  ports: oneOf("number", "name", "both", "none"),
  ip: oneOf("10.96.0.1", "10.96.0.1", "None", "fd01::1"),
  families: oneOf("4", "4", "46", "6", "none"),
  publishes: oneOf(false, false, true),
  labels: oneOf("none", "team", "headless"),
  traffic: oneOf("none", "none", "PreferClose", "PreferSameNode", "PreferSameZone")
})

export type ServiceFacts = typeof serviceFacts extends Arbitrary.Arbitrary<infer A> ? A : never

const selectorOf: Record<ServiceFacts["selector"], Record<string, string> | undefined> = {
  web: { app: "web" },
  "web front": { app: "web", tier: "front" },
  hash: { "pod-template-hash": "x" },
  all: {},
  none: undefined
}

const byNumber = { name: "number", port: 80, targetPort: 8080, protocol: "TCP" }
const byName = { name: "name", port: 81, targetPort: "http", protocol: "TCP", appProtocol: "http" }
const ports = { number: [byNumber], name: [byName], both: [byNumber, byName], none: [] }

export const service = (facts: ServiceFacts, name = "web"): Service => {
  const selector = selectorOf[facts.selector]
  const families = Array.from(facts.families.replace("none", "")).map((one) => `IPv${one}`)
  return {
    metadata: {
      name,
      namespace: "ns",
      uid: `${name}-uid`,
      creationTimestamp: seconds(1),
      labels: facts.labels === "none" ? {} : { [facts.labels]: "a" }
    },
    spec: {
      ...(selector === undefined ? {} : { selector }),
      clusterIP: facts.ip,
      ...(families.length === 0 ? {} : { ipFamilies: families }),
      ports: ports[facts.ports],
      ...(facts.publishes ? { publishNotReadyAddresses: true } : {}),
      ...(facts.traffic === "none" ? {} : { trafficDistribution: facts.traffic })
    }
  }
}

/** Two nodes, one of them with a zone. */
const nodes: Record<string, Node> = {
  a: { metadata: { name: "a", labels: { "topology.kubernetes.io/zone": "zone-a" } } },
  b: { metadata: { name: "b" } }
}

export const nodeOf = (name: string): Node | undefined => nodes[name]

/** The pods of the Service, found by a scan of all pods. */
export const selected = (service: Service, pods: ReadonlyArray<Pod>): ReadonlyArray<Pod> => {
  const selector = Object.entries(service.spec?.selector ?? {})
  return selector.length === 0
    ? []
    : pods.filter(({ metadata }) => selector.every(([key, value]) => metadata.labels?.[key] === value))
}

export const tableOf = (
  { makeTable }: Pick<typeof Selection, "makeTable">,
  services: ReadonlyArray<Service>
): Selection.Table => {
  const table = makeTable()
  for (const one of services) table.set(Key.of(one), one.metadata.namespace, Selection.selectorOf(one))
  return table
}
