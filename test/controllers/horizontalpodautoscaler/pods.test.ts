/** The groups of pods, compared with the rule for each pod; and the requests of pods, case by case. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Pods from "../../../src/controllers/horizontalpodautoscaler/plan/pods.ts"
import type { Pod } from "../../../src/kube/resources.ts"
import * as Time from "../../../src/kube/time.ts"
import { checkProperty, int, oneOf, type ValueOf } from "../../support/property.ts"

const now = 1_000_000_000
const at = (secondsAgo: number) => now - secondsAgo * 1000

const some = Arbitrary.all({
  phase: oneOf("Pending", "Running", "Running", "Running", "Failed", "Succeeded"),
  isDeleted: oneOf(false, false, false, true),
  isMeasured: oneOf(true, true, true, false),
  ready: oneOf("True", "True", "False", "Unknown", "none"),
  /** Seconds ago. */
  started: oneOf("never", 10, 60, 120, 200),
  changed: int(0, 200),
  measured: int(0, 60),
  window: oneOf(0, 30)
})
const given = Arbitrary.all({ pods: Arbitrary.array(some, { maxLength: 4 }), resource: oneOf("cpu", "cpu", "memory") })
type Case = ValueOf<typeof given>
type Some = Case["pods"][number]

const delays = { cpuInitialization: 120_000, initialReadiness: 30_000 }

const podOf = ({ changed, isDeleted, phase, ready, started }: Some, i: number): Pod => ({
  metadata: { name: `pod-${i}`, ...(isDeleted ? { deletionTimestamp: Time.format(now) } : {}) },
  status: {
    phase,
    ...(started === "never" ? {} : { startTime: Time.format(at(started)) }),
    conditions: ready === "none" ? [] : [{ type: "Ready", status: ready, lastTransitionTime: Time.format(at(changed)) }]
  }
})

const givenOf = ({ pods, resource }: Case): Pods.Given => ({
  pods: pods.map(podOf),
  samples: new Map(
    pods.flatMap((one, i) =>
      one.isMeasured ? [[`pod-${i}`, { time: at(one.measured), window: one.window * 1000, amount: 1n }] as const] : []
    )
  ),
  resource: resource === "cpu" ? "cpu" : undefined,
  delays,
  now
})

/** In seconds ago: something earlier is a larger number. */
const isStarting = ({ changed, measured, ready, started, window }: Some): boolean => {
  if (started === "never" || ready === "none") return true
  if (started < 120) return ready === "False" || measured > changed - window
  return ready === "False" && changed > started - 30
}

const expected = (one: Some, resource: string): "ignored" | "unready" | "missing" | "ready" => {
  if (one.isDeleted || one.phase === "Failed") return "ignored"
  if (one.phase === "Pending") return "unready"
  if (!one.isMeasured) return "missing"
  return resource === "cpu" && isStarting(one) ? "unready" : "ready"
}

describe("Pods", () => {
  checkProperty("each pod is in the group of the rule", given, (one) => {
    const groups = Pods.group(givenOf(one))
    const all = one.pods.map((pod) => expected(pod, one.resource))
    const names = (which: string) => all.flatMap((group, i) => (group === which ? [`pod-${i}`] : [])).join()
    return (
      [...groups.ignored].join() === names("ignored") &&
      [...groups.unready].join() === names("unready") &&
      [...groups.missing].join() === names("missing") &&
      groups.readyCount === all.filter((group) => group === "ready").length
    )
  })

  checkProperty(
    "ready pods are running and ready",
    given,
    ({ pods }) =>
      Pods.readyOf(pods.map(podOf)) ===
      pods.filter(({ phase, ready }) => phase === "Running" && ready === "True").length
  )
})

describe("the request of a pod", () => {
  const container = (name: string, cpu?: string, rest: object = {}) => ({
    name,
    image: "a",
    resources: cpu === undefined ? {} : { requests: { cpu } },
    ...rest
  })
  const pod = (spec: Partial<NonNullable<Pod["spec"]>>): Pod => ({
    metadata: { name: "web-0" },
    spec: { containers: [], ...spec }
  })
  const requestOf = (one: Pod, name?: string) =>
    Result.merge(Result.map(Pods.requests([one], "cpu", name), (all) => all.get("web-0")))

  it("is the sum of its containers and restartable init containers", () => {
    const one = pod({
      containers: [container("a", "100m"), container("b", "1.5")],
      initContainers: [container("once", "7"), container("side", "50m", { restartPolicy: "Always" })]
    })
    assert.strictEqual(requestOf(one), 1650n)
    assert.strictEqual(requestOf(one, "b"), 1500n)
    assert.strictEqual(requestOf(one, "side"), 50n)
  })

  it("is unknown if a container has none", () => {
    const one = pod({ containers: [container("a", "100m"), container("b")] })
    assert.strictEqual(requestOf(one), "missing request for cpu in container b of Pod web-0")
    assert.strictEqual(requestOf(one, "a"), 100n)
    assert.strictEqual(requestOf(one, "b"), "missing request for cpu in container b of Pod web-0")
    assert.strictEqual(requestOf(one, "c"), "container c not found in Pod web-0")
  })

  it("is the pod-level one, before its containers, unless one of them is named", () => {
    const whole = { resources: { requests: { cpu: "2" } } }
    assert.strictEqual(requestOf(pod({ ...whole, containers: [container("a", "100m"), container("b")] })), 2000n)
    assert.strictEqual(requestOf(pod({ ...whole, containers: [container("a", "100m")] }), "a"), 100n)
    assert.strictEqual(
      requestOf(pod({ ...whole, overhead: { cpu: "250m" }, containers: [container("a", "1")] })),
      2250n
    )
    const memory = { resources: { requests: { memory: "1Gi" } } }
    // Without a pod-level value it is the most that the containers need at any time.
    const first = [
      container("side", "50m", { restartPolicy: "Always" }),
      container("once", "7"),
      container("late", "100m")
    ]
    const containers = [container("a", "100m"), container("b", "1500u")]
    assert.strictEqual(requestOf(pod({ ...memory, containers, initContainers: first })), 7050n)
    assert.strictEqual(requestOf(pod({ ...memory, containers })), 102n)
    assert.strictEqual(requestOf(pod({ ...memory, containers: [container("a")], overhead: { cpu: "10m" } })), 10n)
    assert.strictEqual(requestOf(pod({ ...memory, containers: [container("a", "100m"), container("b")] })), 100n)
    assert.strictEqual(
      requestOf(pod({ ...memory, containers: [container("a")] })),
      "missing pod-level request for cpu in Pod web-0"
    )
  })
})
