import { assert, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Node, Pod } from "../../../src/kube/resources.ts"
import * as Machine from "../../../src/layers/nodes/Machine.ts"
import * as Placement from "../../../src/layers/nodes/placement.ts"
import * as Quantity from "../../../src/layers/nodes/quantity.ts"

const nodeOf = (machine: Machine.Machine): Node => ({
  ...Machine.registration(machine),
  status: Machine.status(machine, 0, 0)
})

const workers = [Machine.make("a", 1, "worker"), Machine.make("b", 2, "worker")].map(nodeOf)

const podOf = (cpu: string, spec: object = {}): Pod => ({
  metadata: { name: "p" },
  spec: { containers: [{ name: "c", resources: { requests: { cpu } } }], ...spec }
})

it("reads quantities, and takes what is none for nothing", () => {
  const cases = {
    "100m": 0.1,
    "2": 2,
    "1.5Gi": 1.5 * 2 ** 30,
    "1e3": 1000,
    "2E": 2e18,
    "3k": 3000,
    "": 0,
    x: 0,
    "1q": 0
  }
  for (const [text, value] of Object.entries(cases)) assert.strictEqual(Quantity.parse(text), value, text)
  assert.strictEqual(Quantity.parse(undefined), 0)
})

it("spreads equal pods, also those that ask for nothing", () => {
  for (const cpu of ["500m", "0"]) {
    const placed: Array<{ pod: Pod; node: string }> = []
    for (let i = 0; i < 6; i++) {
      const placement = Placement.place(podOf(cpu), workers, placed)
      assert.strictEqual(placement._tag, "Node")
      if (placement._tag === "Node") placed.push({ pod: podOf(cpu), node: placement.name })
    }
    assert.deepStrictEqual(
      placed.map(({ node }) => node),
      ["a", "b", "a", "b", "a", "b"]
    )
  }
})

it("says why a pod fits nowhere", () => {
  const master = nodeOf(Machine.make("m", 3, "control-plane"))
  const cordoned = { ...nodeOf(Machine.make("c", 4, "worker")), spec: { unschedulable: true } } as Node
  const down = { ...nodeOf(Machine.make("d", 5, "worker")), status: {} } as Node
  assert.deepStrictEqual(Placement.place(podOf("5"), [...workers, master, cordoned, down], []), {
    _tag: "None",
    message:
      "0/5 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were not ready, " +
      "1 node(s) were unschedulable, 2 Insufficient cpu."
  })
  assert.deepStrictEqual(Placement.place(podOf("1"), [], []), {
    _tag: "None",
    message: "0/0 nodes are available: no nodes available."
  })
  const tolerations = [{ key: "node-role.kubernetes.io/control-plane", operator: "Exists" }]
  assert.deepStrictEqual(Placement.place(podOf("1", { tolerations }), [master], []), { _tag: "Node", name: "m" })
})

const Sizes = Arbitrary.schema(Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3000 }))))

it.effect.prop("never overfills a node, and gives up only when no node has room", { sizes: Sizes }, ({ sizes }) =>
  Effect.sync(() => {
    const placed: Array<{ pod: Pod; node: string }> = []
    const used = new Map([
      ["a", 0],
      ["b", 0]
    ])
    for (const size of sizes) {
      const pod = podOf(`${size}m`)
      const placement = Placement.place(pod, workers, placed)
      if (placement._tag === "None") {
        for (const sum of used.values()) assert.isAbove(sum + size, 4000)
      } else {
        placed.push({ pod, node: placement.name })
        used.set(placement.name, (used.get(placement.name) ?? 0) + size)
      }
    }
    for (const sum of used.values()) assert.isAtMost(sum, 4000)
  })
)
