import { assert, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Node, Pod } from "../../src/kube/resources.ts"
import * as Machine from "../../src/simulation/Machine.ts"
import * as Placement from "../../src/simulation/placement.ts"
import { Board } from "../../src/simulation/placement/Board.ts"
import { parseQuantity } from "../../src/simulation/placement/requests.ts"

const nodeOf = (machine: Machine.Machine, spec: object = {}): Node => {
  const registered = Machine.registration(machine)
  return { ...registered, spec: { ...registered.spec, ...spec }, status: Machine.status(machine, undefined, 0) }
}

const worker = (name: string, number: number, facts: Machine.Facts = {}) =>
  nodeOf(Machine.make(name, number, "worker", facts))

const workers = [worker("a", 1), worker("b", 2)]

const boardOf = (nodes: ReadonlyArray<Node>): Board => {
  const board = new Board()
  for (const node of nodes) board.setNode(node)
  return board
}

const podOf = (cpu: string, spec: object = {}, name = "p", labels: Record<string, string> = {}): Pod => ({
  metadata: { name, namespace: "default", labels },
  spec: { containers: [{ name: "c", resources: { requests: { cpu } } }], ...spec }
})

const placed = (pod: Pod, board: Board): string => {
  const placement = Placement.place(pod, board)
  return placement._tag === "Node" ? placement.name : placement.message
}

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
  for (const [text, value] of Object.entries(cases)) assert.strictEqual(parseQuantity(text), value, text)
  assert.strictEqual(parseQuantity(undefined), 0)
})

it("spreads equal pods, also those that ask for nothing", () => {
  for (const cpu of ["500m", "0"]) {
    const board = boardOf(workers)
    const names: Array<string> = []
    for (let i = 0; i < 6; i++) {
      const pod = podOf(cpu, {}, `p${i}`)
      names.push(placed(pod, board))
      board.assume(pod, names[i]!)
    }
    assert.deepStrictEqual(names, ["a", "b", "a", "b", "a", "b"])
  }
})

it("says why a pod fits nowhere, as the reference scheduler does", () => {
  const master = nodeOf(Machine.make("m", 3, "control-plane"))
  const cordoned = nodeOf(Machine.make("c", 4, "worker"), { unschedulable: true })
  const down: Node = { ...worker("d", 5), status: {} }
  assert.strictEqual(
    placed(podOf("5"), boardOf([...workers, master, cordoned, down])),
    "0/5 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, " +
      "1 node(s) had untolerated taint {node.kubernetes.io/not-ready: }, 1 node(s) were unschedulable, 2 Insufficient cpu."
  )
  assert.strictEqual(placed(podOf("1"), boardOf([])), "no nodes available to schedule pods")
  assert.strictEqual(
    placed(podOf("5", { nodeSelector: { disk: "ssd" } }), boardOf(workers)),
    "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector."
  )
  const large = { containers: [{ name: "c", resources: { requests: { cpu: "5", memory: "9Gi", "x.io/gpu": "1" } } }] }
  assert.strictEqual(
    placed(podOf("0", large), boardOf(workers)),
    "0/2 nodes are available: 2 Insufficient cpu, 2 Insufficient memory, 2 Insufficient x.io/gpu."
  )
})

it("obeys taints by effect, key, operator and value", () => {
  const taint = (effect: string) => [worker("t", 1, { taints: [{ key: "only", value: "gpu", effect }] })]
  const tolerating = (...tolerations: ReadonlyArray<object>) => podOf("1", { tolerations })
  const why = "0/1 nodes are available: 1 node(s) had untolerated taint {only: gpu}."
  const hard = boardOf(taint("NoSchedule"))
  assert.strictEqual(placed(podOf("1"), hard), why)
  assert.strictEqual(placed(podOf("1"), boardOf(taint("NoExecute"))), why)
  assert.strictEqual(placed(podOf("1"), boardOf(taint("PreferNoSchedule"))), "t")
  assert.strictEqual(placed(tolerating({ key: "only", operator: "Equal", value: "gpu" }), hard), "t")
  assert.strictEqual(placed(tolerating({ key: "only", value: "cpu" }), hard), why)
  assert.strictEqual(placed(tolerating({ key: "only", operator: "Exists", effect: "NoExecute" }), hard), why)
  assert.strictEqual(placed(tolerating({ operator: "Exists" }), hard), "t")
  const disliked = [...taint("PreferNoSchedule"), worker("z", 2)]
  assert.strictEqual(placed(podOf("1"), boardOf(disliked)), "z")
})

it("obeys node affinity: fields, expressions, and preferences by weight", () => {
  const zones = ["a", "b", "c"].map((name, i) =>
    worker(name, i + 1, { labels: { zone: `z${i + 1}`, generation: String(i + 1) } })
  )
  const board = boardOf(zones)
  const affinity = (nodeAffinity: object) => podOf("1", { affinity: { nodeAffinity } })
  const required = (...nodeSelectorTerms: ReadonlyArray<object>) =>
    affinity({ requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } })
  const fields = { matchFields: [{ key: "metadata.name", operator: "In", values: ["b"] }] }
  assert.strictEqual(placed(required(fields), board), "b")
  assert.strictEqual(
    placed(required({ matchExpressions: [{ key: "generation", operator: "Gt", values: ["2"] }] }), board),
    "c"
  )
  assert.strictEqual(placed(required({ matchExpressions: [{ key: "zone", operator: "Odd" }] }, fields), board), "b")
  assert.match(placed(required({}), board), /3 node\(s\) didn't match Pod's node affinity/)
  const prefer = (weight: number, zone: string) => ({
    weight,
    preference: { matchExpressions: [{ key: "zone", operator: "In", values: [zone] }] }
  })
  assert.strictEqual(
    placed(affinity({ preferredDuringSchedulingIgnoredDuringExecution: [prefer(10, "z2"), prefer(90, "z3")] }), board),
    "c"
  )
})

it("keeps pods together and apart by the domain of a node label", () => {
  const board = boardOf([
    worker("a", 1, { labels: { zone: "east" } }),
    worker("b", 2, { labels: { zone: "east" } }),
    worker("c", 3, { labels: { zone: "west" } })
  ])
  const term = { topologyKey: "zone", labelSelector: { matchLabels: { app: "db" } } }
  const apart = { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } }
  const near = { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } }
  const db = (name: string) => podOf("1", apart, name, { app: "db" })
  assert.match(placed(podOf("1", near), board), /3 node\(s\) didn't match pod affinity rules/)
  assert.strictEqual(placed(podOf("1", near, "first", { app: "db" }), board), "a")
  board.assume(db("db-1"), placed(db("db-1"), board))
  assert.strictEqual(placed(db("db-2"), board), "c")
  board.assume(db("db-2"), "c")
  assert.strictEqual(
    placed(db("db-3"), board),
    "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules."
  )
  assert.strictEqual(
    placed(podOf("1", {}, "x", { app: "db" }), board),
    "0/3 nodes are available: 3 node(s) didn't satisfy existing pods anti-affinity rules."
  )
  board.dropPod("default/db-2")
  assert.strictEqual(placed(podOf("1", near), board), "b")
})

it("gives a port of a node to one pod only", () => {
  const board = boardOf(workers)
  const web = (name: string, hostIP?: string) =>
    podOf("0", { containers: [{ name: "c", ports: [{ containerPort: 80, hostPort: 80, hostIP }] }] }, name)
  board.assume(web("1"), "a")
  board.assume(web("2", "10.0.0.1"), "b")
  assert.strictEqual(
    placed(web("3"), board),
    "0/2 nodes are available: 2 node(s) didn't have free ports for the requested pod ports."
  )
  assert.strictEqual(placed(web("4", "10.0.0.2"), board), "b")
})

it("counts what is assumed until the server says otherwise, and gives back what is finished", () => {
  const board = boardOf([worker("a", 1)])
  const pod = podOf("3")
  board.assume(pod, "a")
  board.setPod(pod)
  assert.match(placed(podOf("3", {}, "q"), board), /Insufficient cpu/)
  board.forget("default/p")
  assert.strictEqual(placed(podOf("3", {}, "q"), board), "a")
  board.setPod(podOf("3", { nodeName: "a" }))
  board.forget("default/p")
  assert.match(placed(podOf("3", {}, "q"), board), /Insufficient cpu/)
  board.setPod({ ...podOf("3", { nodeName: "a" }), status: { phase: "Succeeded" } })
  assert.strictEqual(placed(podOf("3", {}, "q"), board), "a")
  assert.strictEqual(board.size, 0)
})

const Step = Schema.Struct({
  pod: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 })),
  size: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3000 })),
  isGone: Schema.Boolean
})

/**
 * Whatever comes and goes: no node is overfilled, no pod waits while there is room, and sums are exact. Yields how many pods are
 * placed in the end.
 */
const fits = (steps: ReadonlyArray<typeof Step.Type>): number => {
  const board = boardOf(workers)
  const present = new Map<string, { readonly node: string; readonly size: number }>()
  const used = (node: string) =>
    Array.from(present.values()).reduce((sum, one) => (one.node === node ? sum + one.size : sum), 0)
  for (const { isGone, pod, size } of steps) {
    const name = `p${pod}`
    board.dropPod(`default/${name}`)
    present.delete(name)
    if (isGone) continue
    const wanted = podOf(`${size}m`, {}, name)
    const placement = Placement.place(wanted, board)
    if (placement._tag === "None") {
      for (const node of ["a", "b"]) assert.isAbove(used(node) + size, 4000)
    } else {
      present.set(name, { node: placement.name, size })
      board.assume(wanted, placement.name)
    }
    for (const node of ["a", "b"]) {
      assert.isAtMost(used(node), 4000)
      assert.strictEqual(board.spot(node)?.used.get("cpu") ?? 0, used(node))
    }
  }
  return present.size
}

it.effect.prop(
  "never overfills a node, gives up only without room, and keeps exact sums",
  { steps: Arbitrary.schema(Schema.Array(Step)) },
  ({ steps }) => Effect.sync(() => void fits(steps))
)

it("fills each node to the last millicore", () => {
  // Random sizes seldom add up to a round number.
  assert.strictEqual(fits([0, 1, 2, 3].map((pod) => ({ pod, size: 2000, isGone: false }))), 4)
})
