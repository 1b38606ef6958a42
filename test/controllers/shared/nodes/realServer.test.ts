/**
 * The node controllers on a real API server, whose admission taints new nodes and adds tolerations to pods: a node is registered, stops reporting,
 * loses its pods and recovers. The test waits for watch events; the periods are shorter than in production.
 */
import { assert, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as NodeLifecycle from "../../../../src/controllers/NodeLifecycle.ts"
import * as TaintEviction from "../../../../src/controllers/TaintEviction.ts"
import { Namespace, Node, Pod, ServiceAccount } from "../../../../src/kube/resources.ts"
import * as ApiError from "../../../../src/kube/ApiError.ts"
import { KubeClient } from "../../../../src/layers/KubeClient.ts"
import * as Nodes from "../../../../src/simulation/Nodes.ts"
import * as envtest from "../../../support/envtest.ts"
import * as RealServer from "../../../support/realServer.ts"

const isMissing = envtest.isMissing("nodes on a real API server")

/** Kubelets renew their leases every ten seconds. */
const times = { period: Duration.millis(300), grace: Duration.seconds(13), rate: 5 }

const cluster = Layer.mergeAll(NodeLifecycle.make(times).layer, TaintEviction.make().layer).pipe(
  Layer.provideMerge(Nodes.layer({ delays: { start: 20, stop: 20 } })),
  Layer.provideMerge(RealServer.services())
)

const namespace = "default"

const untilNode = (wanted: (node: Node) => boolean) =>
  RealServer.until(Node, "worker-1", (node) => node !== undefined && wanted(node))

const taints = ({ spec }: Node) => (spec?.taints ?? []).map(({ effect, key }) => `${key}:${effect}`).toSorted()

const unlessThere = <A>(made: Effect.Effect<A, ApiError.ApiError>) =>
  Effect.catchIf(
    made,
    (error) => ApiError.hasReason(error, "AlreadyExists"),
    () => Effect.void
  )

it.live.skipIf(isMissing)(
  "nodes that stop reporting are tainted, lose their pods and recover on a real API server",
  () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      const nodes = yield* Nodes.Nodes
      yield* unlessThere(client.create(Namespace, { metadata: { name: "kube-node-lease" } }))
      yield* unlessThere(client.create(ServiceAccount, { metadata: { namespace, name: "default" } }))
      yield* untilNode((node) => taints(node).length === 0)
      yield* client.create(Pod, {
        metadata: { namespace, name: "p" },
        spec: {
          nodeName: "worker-1",
          containers: [{ name: "main", image: "example.test/main:1" }],
          tolerations: [
            { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute", tolerationSeconds: 1 }
          ]
        }
      })
      yield* RealServer.until(Pod, "p", (pod) => pod?.status?.phase === "Running")
      yield* nodes.stop("worker-1")
      yield* untilNode((node) => taints(node).length === 2)
      const node = yield* client.get(Node, { name: "worker-1" })
      assert.deepStrictEqual(
        taints(node),
        ["NoExecute", "NoSchedule"].map((effect) => `node.kubernetes.io/unreachable:${effect}`)
      )
      const ready = node.status?.conditions?.find(({ type }) => type === "Ready")
      assert.deepInclude(ready, {
        status: "Unknown",
        reason: "NodeStatusUnknown",
        message: "Kubelet stopped posting node status."
      })
      yield* RealServer.until(Pod, "p", (pod) => pod?.metadata.deletionTimestamp !== undefined)
      const conditions = (yield* client.get(Pod, { namespace, name: "p" })).status?.conditions ?? []
      assert.strictEqual(conditions.find(({ type }) => type === "Ready")?.status, "False")
      assert.strictEqual(conditions.find(({ type }) => type === "DisruptionTarget")?.reason, "DeletionByTaintManager")
      yield* nodes.start("worker-1")
      yield* untilNode((one) => taints(one).length === 0)
      yield* RealServer.recorded("RegisteredNode", "NodeNotReady", "TaintManagerEviction")
    }).pipe(Effect.provide(cluster))
)
