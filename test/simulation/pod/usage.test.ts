import { assert, it } from "@effect/vitest"
import type { Pod } from "../../../src/kube/resources.ts"
import * as Usage from "../../../src/simulation/pod/usage.ts"

const start = Date.parse("2026-01-01T00:00:00Z")
const mega = 2 ** 20

interface Given {
  readonly annotations?: Record<string, string>
  readonly resources?: object
  readonly isReady?: boolean
  readonly names?: ReadonlyArray<string>
}

const podOf = ({ annotations = {}, isReady = true, names = ["main"], resources = {} }: Given = {}) =>
  ({
    metadata: {
      name: "p",
      annotations,
      ownerReferences: [{ uid: "set", controller: true, kind: "ReplicaSet", name: "s" }]
    },
    spec: { containers: names.map((name) => ({ name, image: "i", resources })) },
    status: {
      conditions: [{ type: "Ready", status: isReady ? "True" : "False" }],
      containerStatuses: names.map((name) => ({ name, state: { running: { startedAt: "2026-01-01T00:00:00Z" } } }))
    }
  }) as unknown as Pod

/** CPU in thousandths and memory in mebibytes, by container. */
const used = (given: Given, seconds = 60, ready = 1) =>
  Usage.of(podOf(given), start + seconds * 1_000, new Map([["set", ready]]))?.containers.map(
    ({ cpu, memory, name }) => [name, cpu / 1e6, memory / mega] as const
  )

it("a container without annotations uses a part of its requests", () => {
  assert.deepStrictEqual(used({ resources: { requests: { cpu: "500m", memory: "64Mi" } } }), [["main", 50, 16]])
  assert.deepStrictEqual(used({}), [["main", 1, 16]])
})

it("the usage annotation decides by container, within the limits", () => {
  const annotations = { [Usage.usageAnnotation]: "main=cpu:250m,memory:64Mi; cpu:7m" }
  assert.deepStrictEqual(used({ annotations, names: ["main", "side"] }), [
    ["main", 250, 64],
    ["side", 7, 16]
  ])
  assert.deepStrictEqual(used({ annotations, resources: { limits: { cpu: "100m", memory: "32Mi" } } }), [
    ["main", 100, 32]
  ])
})

it("a wave rises from its low amount to its high one and is back after its period", () => {
  const annotations = { [Usage.usageAnnotation]: "cpu:100m..900m/10m" }
  const cpu = [0, 150, 300, 450, 600].map((seconds) => used({ annotations }, 600 + seconds)?.[0]?.[1])
  assert.deepStrictEqual(cpu, [100, 500, 900, 500, 100])
})

it("the load of a controller is divided among its ready pods, on top of their own usage", () => {
  const annotations = { [Usage.loadAnnotation]: "cpu:2" }
  assert.deepStrictEqual(used({ annotations }, 60, 4)?.[0]?.[1], 500)
  assert.deepStrictEqual(used({ annotations, isReady: false }, 60, 4)?.[0]?.[1], 0)
  const both = { ...annotations, [Usage.usageAnnotation]: "cpu:10m" }
  assert.deepStrictEqual(
    used({ annotations: both, names: ["main", "side"] }, 60, 4)?.map(([, cpu]) => cpu),
    [510, 10]
  )
  assert.deepStrictEqual([...Usage.readyPods([podOf(), podOf(), podOf({ isReady: false })])], [["set", 2]])
})

it("a container is measured ten seconds after its start, and its window is no longer than it has run", () => {
  const measured = (seconds: number) => Usage.of(podOf(), start + seconds * 1_000, new Map())
  assert.isUndefined(measured(9))
  assert.strictEqual(measured(12)?.window, 12_000)
  assert.strictEqual(measured(45)?.window, 15_000)
  assert.strictEqual(Usage.measuredAt(start + 44_000), start + 30_000)
})

it("annotations that cannot be read are ignored", () => {
  for (const text of [
    "",
    "cpu",
    "cpu:",
    "cpu:-1",
    "cpu:1..2",
    "cpu:1../",
    "cpu:1..2/0s",
    "cpu:x..y/1m",
    "a=b=c;;;",
    "..:..",
    "cpu:1e99999"
  ])
    assert.deepStrictEqual(used({ annotations: { [Usage.usageAnnotation]: text } }), [["main", 1, 16]], text)
  const huge = used({ annotations: { [Usage.usageAnnotation]: "cpu:1E,memory:16Ei" } })
  assert.isTrue(huge?.every(([, cpu, memory]) => Number.isFinite(cpu) && Number.isFinite(memory)))
})
