/** nodelifecycle, taint-eviction, podgc and cloud-node-lifecycle: nodes stop, recover, are tainted and go, and their pods with them. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as CloudNodeLifecycle from "../../../src/controllers/CloudNodeLifecycle.ts"
import * as NodeLifecycle from "../../../src/controllers/NodeLifecycle.ts"
import * as PodGC from "../../../src/controllers/PodGC.ts"
import * as TaintEviction from "../../../src/controllers/TaintEviction.ts"
import * as Access from "../../../src/kube/Access.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import { Lease, Node } from "../../../src/kube/resources.ts"
import * as Time from "../../../src/kube/time.ts"
import { CloudProvider } from "../../../src/layers/CloudProvider.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import type { Cluster } from "../../../src/testing/explore/Exploration.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import { ends, kubelet } from "./kubelet.ts"
import { podSpec } from "./manifests.ts"

const node = (name: string, labels: object = {}) => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, labels }
})

const pod = (name: string, spec: object = {}, annotations: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { namespace: "default", name, annotations },
  spec: { ...podSpec(), ...spec }
})

const report = ({ client, step }: Cluster, name: string, status: string) =>
  step(
    `${name} reports ${status}`,
    Effect.gen(function* () {
      const lastHeartbeatTime = Time.format(yield* Clock.currentTimeMillis)
      const condition = { type: "Ready", status, reason: "Test", message: "", lastHeartbeatTime }
      yield* client.patch(
        Node,
        { name, subresource: "status" },
        Patch.strategic({ status: { conditions: [condition] } })
      )
    })
  )

const beats = "example.com/beats"

/** Renews the leases of the nodes with that label. */
const heartbeats = Controller.scheduled({
  name: "heartbeats",
  access: [Access.read(Node), Access.patch(Lease)],
  schedule: Schedule.spaced("10 seconds"),
  run: ({ cache, client }) =>
    Effect.gen(function* () {
      const renewTime = Time.micro((yield* Clock.currentTimeMillis) * 1000)
      for (const { metadata } of yield* cache.list(Node)) {
        if (metadata.labels?.[beats] === undefined) continue
        const name = { namespace: "kube-node-lease", name: metadata.name }
        const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: name, spec: { renewTime } }
        yield* client.patch(Lease, name, Patch.apply(lease), { fieldManager: "heartbeats", force: true })
      }
    })
})

/** Taints are in the order in which they were added. */
const comparable = (object: KubeObject): KubeObject => {
  const { spec } = object as Node
  const taints = spec?.taints?.toSorted((a, b) => (`${a.key} ${a.effect}` < `${b.key} ${b.effect}` ? -1 : 1))
  return object.kind === "Node" && taints !== undefined
    ? ({ ...object, spec: { ...spec, taints } } as KubeObject)
    : object
}

export const nodeLifecycle = explore("nodelifecycle", {
  controllers: [NodeLifecycle.make()],
  comparable,
  // Source: pkg/controller/nodelifecycle: monitorNodeHealth, which marks the pods of the nodes that there are.
  without: {
    // Source: pkg/controller/nodelifecycle: processPod, which reads what the node lister had when the pod was listed.
    "travel-4": "the pods of a node are marked when they are listed, with what was known of the node then",
    delete: "the pods of a node are marked only if it is deleted after it has stopped, and podgc deletes them"
  },
  environment: [kubelet, heartbeats],
  scenario: (cluster) =>
    Effect.gen(function* () {
      yield* cluster.apply([node("n1"), node("n2", { [beats]: "" }), pod("a")])
      yield* report(cluster, "n1", "True")
      yield* report(cluster, "n2", "True")
      yield* cluster.advance("2 minutes")
      yield* cluster.edit(Node, { name: "n1" }, { metadata: { labels: { [beats]: "" } } })
      yield* report(cluster, "n1", "True")
      yield* cluster.advance("2 minutes")
      yield* report(cluster, "n2", "False")
    })
})

const taints = (...all: ReadonlyArray<string>) => ({
  spec: { taints: all.map((key) => ({ key, effect: "NoExecute" })) }
})

const tolerating = (tolerationSeconds: number) => ({
  tolerations: [{ key: "hot", operator: "Exists", effect: "NoExecute", tolerationSeconds }]
})

export const taintEviction = explore("taint-eviction", {
  controllers: [TaintEviction.make()],
  environment: [kubelet],
  scenario: (cluster) =>
    Effect.gen(function* () {
      yield* cluster.apply([node("n1"), pod("now"), pod("later", tolerating(60)), pod("never", tolerating(3600))])
      yield* cluster.advance("40 seconds")
      yield* cluster.edit(Node, { name: "n1" }, taints("hot"))
      yield* cluster.advance("3 minutes")
      yield* cluster.edit(Node, { name: "n1" }, taints())
      yield* cluster.advance("2 minutes")
      yield* cluster.apply([pod("now")])
    })
})

export const podGc = explore("podgc", {
  controllers: [PodGC.make({ terminatedPodThreshold: 1 })],
  environment: [kubelet],
  scenario: (cluster) =>
    Effect.gen(function* () {
      const ended = { [ends]: "Succeeded" }
      const never = { restartPolicy: "Never" }
      yield* cluster.apply([node("n1"), pod("a"), pod("b", never, ended)])
      yield* cluster.advance("40 seconds")
      yield* cluster.apply([pod("c", never, ended)])
      yield* cluster.advance("2 minutes")
      yield* cluster.delete(Node, { name: "n1" })
      // A pass, the quarantine and the next pass, and once more after a fault.
      yield* cluster.advance("6 minutes")
      yield* cluster.apply([node("n1"), pod("a")])
    })
})

export const cloudNodeLifecycle = explore("cloud-node-lifecycle", {
  controllers: [CloudNodeLifecycle.make()],
  services: CloudProvider.layerMemory((name) => (name === "gone" ? undefined : { isShutDown: name === "off" })),
  scenario: (cluster) =>
    Effect.gen(function* () {
      yield* cluster.apply([node("off"), node("well")])
      for (const name of ["off", "well"]) yield* report(cluster, name, "True")
      yield* cluster.advance("40 seconds")
      for (const name of ["off", "well"]) yield* report(cluster, name, "Unknown")
      yield* cluster.apply([node("gone")])
      yield* cluster.advance("40 seconds")
      yield* report(cluster, "off", "True")
    })
})
