/** Nodes from an operator's view: cordoned, drained, tainted, and one whose heartbeats stop and whose pods are replaced on other nodes. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Kubectl from "../../clients/kubectl.ts"
import { eventually, shows, type Scenario } from "./harness.ts"

/** Simulated machines renew their leases every ten seconds. */
export const flags = ["--node-monitor-period=1s", "--node-monitor-grace-period=15s", "--node-eviction-rate=10"]

const lost = { apiVersion: "v1", kind: "Node", metadata: { name: "lost" }, spec: { unschedulable: true } }
/** What a kubelet reports: the time distinguishes one heartbeat from the last. */
const heartbeat = Effect.sync(() => {
  const lastHeartbeatTime = new Date().toISOString().replace(/\.\d+/, "")
  return JSON.stringify({
    status: { conditions: [{ type: "Ready", status: "True", reason: "KubeletReady", lastHeartbeatTime }] }
  })
})

/** It tolerates the taints of a lost node for a second, not for five minutes. */
const tolerations = ["not-ready", "unreachable"].map((key) => ({
  key: `node.kubernetes.io/${key}`,
  operator: "Exists",
  effect: "NoExecute",
  tolerationSeconds: 1
}))

export const nodes: Scenario = Effect.fnUntraced(function* (kubectl, server) {
  const { ok, run, send } = kubectl
  yield* send("create", lost)
  yield* ok(["patch", "node", "lost", "--subresource=status", "-p", yield* heartbeat])

  yield* ok("create deployment web --image=example.test/web:1 --replicas=2")
  yield* ok([
    "patch",
    "deployment",
    "web",
    "-p",
    JSON.stringify({ spec: { template: { spec: { tolerations, terminationGracePeriodSeconds: 0 } } } })
  ])
  yield* ok("rollout status deployment/web --timeout=120s")
  const nodeOf = ok("get pods -l app=web -o jsonpath={.items[0].spec.nodeName}")
  const node = yield* nodeOf
  assert.strictEqual(yield* ok(`cordon ${node}`), `node/${node} cordoned\n`)
  assert.match(
    yield* ok(`drain ${node} --ignore-daemonsets --force --timeout=120s`),
    new RegExp(`^node/${node} (drained|evicted)$`, "m")
  )
  yield* ok("rollout status deployment/web --timeout=120s")
  const path = "jsonpath={.items[*].spec.nodeName}"
  assert.notInclude((yield* ok(`get pods -l app=web -o ${path}`)).split(" "), node)
  yield* ok(`uncordon ${node}`)

  // The operator's own taint, and pods on the node that do not tolerate it.
  const other = yield* nodeOf
  yield* ok(`taint node ${other} broken=yes:NoExecute`)
  yield* eventually(
    "no pod is left on the tainted node",
    Effect.map(ok(`get pods -l app=web -o ${path}`), (text) => !text.split(" ").includes(other))
  )
  yield* ok(`taint node ${other} broken-`)
  yield* ok("rollout status deployment/web --timeout=120s")

  // One pod without a controller on the lost machine: no kubelet starts it or confirms its deletion.
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "stranded" },
    spec: { nodeName: "lost", tolerations, containers: [{ name: "main", image: "example.test/main:1" }] }
  }
  yield* send("create", pod)
  yield* ok("wait node/lost --for=condition=Ready=Unknown --timeout=120s")
  assert.match(
    yield* ok("describe node lost"),
    /Ready +Unknown +.* NodeStatusUnknown +Kubelet stopped posting node status\.\n/
  )
  const [row] = Kubectl.table(yield* ok("get node lost"))
  assert.match(row?.["STATUS"] ?? "", /^NotReady/)
  const keys = "jsonpath={.spec.taints[*].effect}"
  yield* eventually(
    "the lost node is tainted",
    Effect.map(ok(`get node lost -o ${keys}`), (text) => text.includes("NoExecute"))
  )
  yield* ok("wait pod/stranded --for=jsonpath={.metadata.deletionTimestamp} --timeout=120s")
  yield* shows(
    kubectl,
    "describe node lost",
    /Normal +NodeNotReady +\S+ +node-controller +Node lost status is now: NodeNotReady\n/
  )
  yield* shows(kubectl, "get events", /TaintManagerEviction +pod\/stranded +Marking for deletion Pod nodes\/stranded\n/)
  if (server === "present") {
    const why = 'jsonpath={.status.conditions[?(@.type=="DisruptionTarget")].reason}'
    assert.strictEqual(yield* ok(`get pod stranded -o ${why}`), "DeletionByTaintManager")
  }
  // The node returns: its taints are removed, and pods that are still there may stay.
  yield* ok(["patch", "node", "lost", "--subresource=status", "-p", yield* heartbeat])
  yield* eventually(
    "the node that returned is not tainted",
    Effect.map(ok(`get node lost -o ${keys}`), (text) => !text.includes("NoExecute"))
  )
  yield* ok("delete pod stranded --force --grace-period=0")
  yield* ok("delete node lost")
  assert.strictEqual((yield* run("get node lost")).code, 1)
})
