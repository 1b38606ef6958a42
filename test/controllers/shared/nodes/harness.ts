/** The harness of the node controllers' tests: nodes without kubelets, their pods, and the recorded events. */
import * as Effect from "effect/Effect"
import * as Patch from "../../../../src/kube/Patch.ts"
import { Event, Lease, Node, Pod } from "../../../../src/kube/resources.ts"
import { ClusterTest } from "../../../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../../../src/layers/KubeClient.ts"
import { Recorder } from "../../../../src/layers/Recorder.ts"

export const namespace = "default"

type Truth = "True" | "False" | "Unknown"

export const condition = (type: string, status: Truth, heartbeat = "2000-01-01T00:00:00Z") => ({
  type,
  status,
  reason: "Test",
  message: "test",
  lastHeartbeatTime: heartbeat,
  lastTransitionTime: "2000-01-01T00:00:00Z"
})

/** A node without a kubelet: the test sets its state. */
export const createNode = (name: string, labels: Readonly<Record<string, string>> = {}) =>
  Effect.flatMap(KubeClient, (client) => client.create(Node, { metadata: { name, labels }, spec: {} }))

export const patchNode = (name: string, body: object, subresource?: string) =>
  Effect.flatMap(KubeClient, (client) => client.patch(Node, { name, subresource }, Patch.strategic(body)))

export const report = (name: string, status: Truth, heartbeat?: string) =>
  patchNode(name, { status: { conditions: [condition("Ready", status, heartbeat)] } }, "status")

/** Nodes that are ready as long as their leases are renewed. */
export const readyNodes = (names: ReadonlyArray<string>, labels?: Readonly<Record<string, string>>) =>
  Effect.forEach(names, (name) => Effect.andThen(createNode(name, labels), report(name, "True")), { discard: true })

/** Sets the renew time of a node's lease. */
export const renew = Effect.fnUntraced(function* (name: string, renewTime: string) {
  const client = yield* KubeClient
  const object = {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name, namespace: "kube-node-lease" },
    spec: { holderIdentity: name, renewTime }
  }
  yield* client.patch(Lease, { namespace: "kube-node-lease", name }, Patch.apply(object), {
    fieldManager: "test",
    force: true
  })
})

export const getNode = (name: string) => Effect.flatMap(KubeClient, (client) => client.get(Node, { name }))

export const conditionsOf = (name: string) =>
  Effect.map(getNode(name), ({ status }) =>
    Object.fromEntries((status?.conditions ?? []).map((one) => [one.type, one] as const))
  )

/** `key:effect` of every taint. */
export const taintsOf = (name: string) =>
  Effect.map(getNode(name), ({ spec }) =>
    (spec?.taints ?? []).map(({ effect, key }) => `${key.replace("node.kubernetes.io/", "")}:${effect}`).toSorted()
  )

/** The NoExecute taints of the nodes. */
export const withNoExecuteTaint = (names: ReadonlyArray<string>) =>
  Effect.filter(names, (name) => Effect.map(taintsOf(name), (all) => all.some((one) => one.endsWith(":NoExecute"))))

export const createPod = (name: string, spec: object = {}) =>
  Effect.flatMap(KubeClient, (client) =>
    client.create(Pod, {
      metadata: { namespace, name },
      spec: { containers: [{ name: "main", image: "example.test/main:1" }], ...spec }
    })
  )

export const getPod = (name: string) => Effect.flatMap(KubeClient, (client) => client.get(Pod, { namespace, name }))

/** A running pod on a node. */
export const runningPod = Effect.fnUntraced(function* (name: string, nodeName: string, spec: object = {}) {
  yield* createPod(name, { nodeName, ...spec })
  const client = yield* KubeClient
  const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] }
  yield* client.patch(Pod, { namespace, name, subresource: "status" }, Patch.strategic({ status }))
})

/** Binds a pod as the scheduler does. */
export const bind = (name: string, node: string) =>
  Effect.flatMap(KubeClient, (client) =>
    client.create(
      Pod,
      // The subresource takes a Binding instead of a Pod.
      {
        apiVersion: "v1",
        kind: "Binding",
        metadata: { name },
        target: { apiVersion: "v1", kind: "Node", name: node }
      } as never,
      { namespace, subresource: "binding" }
    )
  )

export const podNames = Effect.flatMap(ClusterTest, (cluster) =>
  Effect.map(cluster.snapshot(Pod), (pods) => pods.map(({ metadata }) => metadata.name))
)

/** The events of a component about an object, once for each occurrence. */
export const recordedEvents = Effect.fnUntraced(function* (component: string, name?: string) {
  yield* (yield* Recorder).drained
  const events = yield* (yield* ClusterTest).snapshot(Event)
  return events
    .filter((one) => one.source?.component === component && (name === undefined || one.involvedObject.name === name))
    .flatMap(({ count, message, reason, type }) =>
      Array.from({ length: count ?? 1 }, () => `${type} ${reason} ${message}`)
    )
})
