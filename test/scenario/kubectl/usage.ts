/** The usage of nodes and pods from a user's view, and an autoscaler that acts on it. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Kubectl from "../../clients/kubectl.ts"
import { shows, type Scenario } from "./harness.ts"

export const usage: Scenario = Effect.fnUntraced(function* (kubectl) {
  const { namespace, ok, send } = kubectl
  yield* send("create", {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web" },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" }, annotations: { "simulation/load": "cpu:600m" } },
        spec: {
          terminationGracePeriodSeconds: 0,
          containers: [
            { name: "main", image: "example.test/main:1", resources: { requests: { cpu: "200m", memory: "64Mi" } } },
            { name: "side", image: "example.test/side:1", resources: { requests: { cpu: "0" } } }
          ]
        }
      }
    }
  })
  yield* ok("autoscale deployment web --cpu-percent=100 --max=5")
  yield* shows(kubectl, "get hpa web -o jsonpath={.status.desiredReplicas}", /^3$/)
  yield* ok("rollout status deployment web --timeout=60s")
  yield* shows(kubectl, "describe hpa web", /SuccessfulRescale .* New size: 3; reason: cpu resource utilization/)
  yield* shows(kubectl, "top pods -l app=web --no-headers", /(?:web-\S+ +200m +\d+Mi *\n){3}/)
  const byContainer = Kubectl.table(yield* ok("top pods --containers"))
  assert.deepStrictEqual(new Set(byContainer.map((row) => row["NAME"])), new Set(["main", "side"]))
  const nodes = Kubectl.table(yield* ok("top nodes"))
  assert.strictEqual(nodes.length, 3)
  assert.isTrue(
    nodes.every(
      (row) => /^\d+m$/.test(row["CPU(cores)"] ?? "") && /^\d+%$/.test(row["MEMORY%"] ?? row["MEMORY(%)"] ?? "")
    )
  )
  const raw = yield* ok(`get --raw /apis/metrics.k8s.io/v1beta1/namespaces/${namespace}/pods`)
  assert.strictEqual(JSON.parse(raw).items.length, 3)
})
