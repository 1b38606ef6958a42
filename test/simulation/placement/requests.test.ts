import { assert, it } from "@effect/vitest"
import type { Pod } from "../../../src/kube/resources.ts"
import * as Requests from "../../../src/simulation/placement/requests.ts"

const container = (requests: object, more: object = {}) => ({ name: "c", image: "i", resources: { requests }, ...more })

const pod = (spec: object): Pod => ({ metadata: { name: "p" }, spec: { containers: [], ...spec } })

const of = (spec: object) => Object.fromEntries(Requests.of(pod(spec)))
const cpu = (spec: object) => Requests.of(pod(spec)).get("cpu")

it("adds up containers, and asks for the most that the init containers need", () => {
  const containers = [container({ cpu: "100m", memory: "64Mi" }), container({ cpu: "200m" })]
  assert.deepStrictEqual(of({ containers }), { cpu: 300, memory: 64 * 2 ** 20, pods: 1 })
  assert.strictEqual(cpu({ containers, initContainers: [container({ cpu: "1" })] }), 1_000)
  assert.strictEqual(cpu({ containers, initContainers: [container({ cpu: "50m" })] }), 300)
})

it("counts init containers that stay beside what runs after them", () => {
  const sidecar = container({ cpu: "500m" }, { restartPolicy: "Always" })
  const containers = [container({ cpu: "1" })]
  assert.strictEqual(cpu({ containers, initContainers: [sidecar] }), 1_500)
  assert.strictEqual(cpu({ containers, initContainers: [sidecar, container({ cpu: "2" })] }), 2_500)
  assert.strictEqual(cpu({ containers, initContainers: [container({ cpu: "2" }), sidecar] }), 2_000)
})

it("takes limits for requests, adds the overhead, and believes what the whole pod asks for", () => {
  const limited = { name: "c", image: "i", resources: { limits: { cpu: "2", memory: "1Gi" }, requests: { cpu: "1" } } }
  assert.deepStrictEqual(of({ containers: [limited], overhead: { cpu: "250m" } }), {
    cpu: 1_250,
    memory: 2 ** 30,
    pods: 1
  })
  assert.strictEqual(cpu({ containers: [limited], resources: { requests: { cpu: "3" } } }), 3_000)
})

it("rounds up to thousandths, and exactly where there is nothing to round", () => {
  assert.strictEqual(cpu({ containers: [container({ cpu: "0.1" }), container({ cpu: "0.2" })] }), 300)
  assert.strictEqual(cpu({ containers: [container({ cpu: "100500u" })] }), 101)
})

it("knows the three classes of service", () => {
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
