import { assert, it } from "@effect/vitest"
import type { Pod } from "../../../src/kube/resources.ts"
import * as Requests from "../../../src/simulation/placement/requests.ts"

const container = (requests: object, more: object = {}) => ({ name: "c", image: "i", resources: { requests }, ...more })

const pod = (spec: object): Pod => ({ metadata: { name: "p" }, spec: { containers: [], ...spec } })

const of = (spec: object) => Object.fromEntries(Requests.of(pod(spec)))
const cpu = (spec: object) => Requests.of(pod(spec)).get("cpu")

it("a pod requests the sum of its containers, or the most that an init container needs", () => {
  const containers = [container({ cpu: "100m", memory: "64Mi" }), container({ cpu: "200m" })]
  assert.deepStrictEqual(of({ containers }), { cpu: 300, memory: 64 * 2 ** 20, pods: 1 })
  assert.strictEqual(cpu({ containers, initContainers: [container({ cpu: "1" })] }), 1_000)
  assert.strictEqual(cpu({ containers, initContainers: [container({ cpu: "50m" })] }), 300)
})

it("a sidecar counts beside everything that starts after it", () => {
  const sidecar = container({ cpu: "500m" }, { restartPolicy: "Always" })
  const containers = [container({ cpu: "1" })]
  assert.strictEqual(cpu({ containers, initContainers: [sidecar] }), 1_500)
  assert.strictEqual(cpu({ containers, initContainers: [sidecar, container({ cpu: "2" })] }), 2_500)
  assert.strictEqual(cpu({ containers, initContainers: [container({ cpu: "2" }), sidecar] }), 2_000)
})

it("a limit counts as a request, the overhead is added, and resources of the pod replace those of its containers", () => {
  const limited = { name: "c", image: "i", resources: { limits: { cpu: "2", memory: "1Gi" }, requests: { cpu: "1" } } }
  assert.deepStrictEqual(of({ containers: [limited], overhead: { cpu: "250m" } }), {
    cpu: 1_250,
    memory: 2 ** 30,
    pods: 1
  })
  assert.strictEqual(cpu({ containers: [limited], resources: { requests: { cpu: "3" } } }), 3_000)
})

it("CPU is rounded up to thousandths, and exact amounts stay exact", () => {
  assert.strictEqual(cpu({ containers: [container({ cpu: "0.1" }), container({ cpu: "0.2" })] }), 300)
  assert.strictEqual(cpu({ containers: [container({ cpu: "100500u" })] }), 101)
})

it("the QoS class is Guaranteed, Burstable or BestEffort by requests and limits", () => {
  const same = { cpu: "1", memory: "1Gi" }
  const class_ = (...resources: ReadonlyArray<object>) =>
    Requests.qosClass(pod({ containers: resources.map((one) => ({ name: "c", image: "i", resources: one })) }))
  assert.strictEqual(class_({}), "BestEffort")
  assert.strictEqual(class_({ limits: same }), "Guaranteed")
  assert.strictEqual(class_({ limits: same, requests: { cpu: "1000m", memory: "1024Mi" } }), "Guaranteed")
  assert.strictEqual(class_({ limits: same }, {}), "Burstable")
  assert.strictEqual(class_({ limits: same, requests: { cpu: "500m" } }), "Burstable")
  assert.strictEqual(class_({ requests: same }), "Burstable")
  assert.strictEqual(class_({ limits: { cpu: "1" } }), "Burstable")
})
