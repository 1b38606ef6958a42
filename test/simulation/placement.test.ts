import { assert, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Node, Pod } from "../../src/kube/resources.ts"
import * as Machine from "../../src/simulation/Machine.ts"
import * as Placement from "../../src/simulation/placement.ts"
import { SchedulerCache } from "../../src/simulation/placement/SchedulerCache.ts"
import { amounts } from "../../src/simulation/placement/requests.ts"

const nodeOf = (machine: Machine.Machine, spec: object = {}): Node => {
  const registered = Machine.registration(machine)
  return { ...registered, spec: { ...registered.spec, ...spec }, status: Machine.status(machine, undefined, 0) }
}

const worker = (name: string, number: number, facts: Machine.Facts = {}) =>
  nodeOf(Machine.make(name, number, "worker", facts))

const workers = [worker("a", 1), worker("b", 2)]

const cacheOf = (nodes: ReadonlyArray<Node>): SchedulerCache => {
  const cache = new SchedulerCache()
  for (const node of nodes) cache.setNode(node)
  return cache
}

const podOf = (cpu: string, spec: object = {}, name = "p", labels: Record<string, string> = {}): Pod => ({
  metadata: { name, namespace: "default", labels },
  spec: { containers: [{ name: "c", resources: { requests: { cpu } } }], ...spec }
})

const placed = (pod: Pod, cache: SchedulerCache): string => {
  const placement = Placement.place(pod, cache)
  return placement._tag === "Node" ? placement.name : placement.message
}

it("CPU is counted in thousandths, everything else in units, rounded up; an invalid amount is 0", () => {
  const texts = { cpu: "100u", memory: "1.5Gi", "example.com/gpu": "1500m", pods: "1e3", storage: "1q", other: "" }
  assert.deepStrictEqual(Object.fromEntries(amounts(texts)), {
    cpu: 1,
    memory: 1.5 * 2 ** 30,
    "example.com/gpu": 2,
    pods: 1000,
    storage: 0,
    other: 0
  })
  for (let milli = 0; milli < 3000; milli++) assert.strictEqual(amounts({ cpu: `${milli}m` }).get("cpu"), milli)
})

it("equal pods are spread, also those without requests", () => {
  for (const cpu of ["500m", "0"]) {
    const cache = cacheOf(workers)
    const names: Array<string> = []
    for (let i = 0; i < 6; i++) {
      const pod = podOf(cpu, {}, `p${i}`)
      names.push(placed(pod, cache))
      cache.assume(pod, names[i]!)
    }
    assert.deepStrictEqual(names, ["a", "b", "a", "b", "a", "b"])
  }
})

it("a pod that fits on no node gets the message of the reference scheduler", () => {
  const master = nodeOf(Machine.make("m", 3, "control-plane"))
  const cordoned = nodeOf(Machine.make("c", 4, "worker"), { unschedulable: true })
  const down: Node = { ...worker("d", 5), status: {} }
  assert.strictEqual(
    placed(podOf("5"), cacheOf([...workers, master, cordoned, down])),
    "0/5 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, " +
      "1 node(s) had untolerated taint {node.kubernetes.io/not-ready: }, 1 node(s) were unschedulable, 2 Insufficient cpu."
  )
  assert.strictEqual(placed(podOf("1"), cacheOf([])), "no nodes available to schedule pods")
  assert.strictEqual(
    placed(podOf("5", { nodeSelector: { disk: "ssd" } }), cacheOf(workers)),
    "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector."
  )
  const large = { containers: [{ name: "c", resources: { requests: { cpu: "5", memory: "9Gi", "x.io/gpu": "1" } } }] }
  assert.strictEqual(
    placed(podOf("0", large), cacheOf(workers)),
    "0/2 nodes are available: 2 Insufficient cpu, 2 Insufficient memory, 2 Insufficient x.io/gpu."
  )
})

it("taints exclude pods by effect, key, operator and value", () => {
  const taint = (effect: string) => [worker("t", 1, { taints: [{ key: "only", value: "gpu", effect }] })]
  const tolerating = (...tolerations: ReadonlyArray<object>) => podOf("1", { tolerations })
  const why = "0/1 nodes are available: 1 node(s) had untolerated taint {only: gpu}."
  const hard = cacheOf(taint("NoSchedule"))
  assert.strictEqual(placed(podOf("1"), hard), why)
  assert.strictEqual(placed(podOf("1"), cacheOf(taint("NoExecute"))), why)
  assert.strictEqual(placed(podOf("1"), cacheOf(taint("PreferNoSchedule"))), "t")
  assert.strictEqual(placed(tolerating({ key: "only", operator: "Equal", value: "gpu" }), hard), "t")
  assert.strictEqual(placed(tolerating({ key: "only", value: "cpu" }), hard), why)
  assert.strictEqual(placed(tolerating({ key: "only", operator: "Exists", effect: "NoExecute" }), hard), why)
  assert.strictEqual(placed(tolerating({ operator: "Exists" }), hard), "t")
  const disliked = [...taint("PreferNoSchedule"), worker("z", 2)]
  assert.strictEqual(placed(podOf("1"), cacheOf(disliked)), "z")
})

it("node affinity selects by fields and expressions, and prefers by weight", () => {
  const zones = ["a", "b", "c"].map((name, i) =>
    worker(name, i + 1, { labels: { zone: `z${i + 1}`, generation: String(i + 1) } })
  )
  const cache = cacheOf(zones)
  const affinity = (nodeAffinity: object) => podOf("1", { affinity: { nodeAffinity } })
  const required = (...nodeSelectorTerms: ReadonlyArray<object>) =>
    affinity({ requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } })
  const fields = { matchFields: [{ key: "metadata.name", operator: "In", values: ["b"] }] }
  assert.strictEqual(placed(required(fields), cache), "b")
  assert.strictEqual(
    placed(required({ matchExpressions: [{ key: "generation", operator: "Gt", values: ["2"] }] }), cache),
    "c"
  )
  assert.strictEqual(placed(required({ matchExpressions: [{ key: "zone", operator: "Odd" }] }, fields), cache), "b")
  assert.match(placed(required({}), cache), /3 node\(s\) didn't match Pod's node affinity/)
  const prefer = (weight: number, zone: string) => ({
    weight,
    preference: { matchExpressions: [{ key: "zone", operator: "In", values: [zone] }] }
  })
  assert.strictEqual(
    placed(affinity({ preferredDuringSchedulingIgnoredDuringExecution: [prefer(10, "z2"), prefer(90, "z3")] }), cache),
    "c"
  )
})

it("pod affinity and anti-affinity compare the topology domain of a node label", () => {
  const cache = cacheOf([
    worker("a", 1, { labels: { zone: "east" } }),
    worker("b", 2, { labels: { zone: "east" } }),
    worker("c", 3, { labels: { zone: "west" } })
  ])
  const term = { topologyKey: "zone", labelSelector: { matchLabels: { app: "db" } } }
  const apart = { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } }
  const near = { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } }
  const db = (name: string) => podOf("1", apart, name, { app: "db" })
  assert.match(placed(podOf("1", near), cache), /3 node\(s\) didn't match pod affinity rules/)
  assert.strictEqual(placed(podOf("1", near, "first", { app: "db" }), cache), "a")
  cache.assume(db("db-1"), placed(db("db-1"), cache))
  assert.strictEqual(placed(db("db-2"), cache), "c")
  cache.assume(db("db-2"), "c")
  assert.strictEqual(
    placed(db("db-3"), cache),
    "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules."
  )
  assert.strictEqual(
    placed(podOf("1", {}, "x", { app: "db" }), cache),
    "0/3 nodes are available: 3 node(s) didn't satisfy existing pods anti-affinity rules."
  )
  cache.removePod("default/db-2")
  assert.strictEqual(placed(podOf("1", near), cache), "b")
})

it("two pods cannot have the same host port of a node", () => {
  const cache = cacheOf(workers)
  const web = (name: string, hostIP?: string) =>
    podOf("0", { containers: [{ name: "c", ports: [{ containerPort: 80, hostPort: 80, hostIP }] }] }, name)
  cache.assume(web("1"), "a")
  cache.assume(web("2", "10.0.0.1"), "b")
  assert.strictEqual(
    placed(web("3"), cache),
    "0/2 nodes are available: 2 node(s) didn't have free ports for the requested pod ports."
  )
  assert.strictEqual(placed(web("4", "10.0.0.2"), cache), "b")
})

it("an assumed pod counts until it is forgotten or confirmed, and a finished pod frees its room", () => {
  const cache = cacheOf([worker("a", 1)])
  const pod = podOf("3")
  cache.assume(pod, "a")
  cache.setPod(pod)
  assert.match(placed(podOf("3", {}, "q"), cache), /Insufficient cpu/)
  cache.forget("default/p")
  assert.strictEqual(placed(podOf("3", {}, "q"), cache), "a")
  cache.setPod(podOf("3", { nodeName: "a" }))
  cache.forget("default/p")
  assert.match(placed(podOf("3", {}, "q"), cache), /Insufficient cpu/)
  cache.setPod({ ...podOf("3", { nodeName: "a" }), status: { phase: "Succeeded" } })
  assert.strictEqual(placed(podOf("3", {}, "q"), cache), "a")
  assert.strictEqual(cache.podCount, 0)
})

const Step = Schema.Struct({
  pod: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 })),
  size: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3000 })),
  isGone: Schema.Boolean
})

/**
 * However pods come and go, no node is overfilled, no pod waits while there is room, and sums are exact. Returns how many pods are placed
 * in the end.
 */
const fits = (steps: ReadonlyArray<typeof Step.Type>): number => {
  const cache = cacheOf(workers)
  const present = new Map<string, { readonly node: string; readonly size: number }>()
  const used = (node: string) =>
    Array.from(present.values()).reduce((sum, one) => (one.node === node ? sum + one.size : sum), 0)
  for (const { isGone, pod, size } of steps) {
    const name = `p${pod}`
    cache.removePod(`default/${name}`)
    present.delete(name)
    if (isGone) continue
    const wanted = podOf(`${size}m`, {}, name)
    const placement = Placement.place(wanted, cache)
    if (placement._tag === "None") {
      for (const node of ["a", "b"]) assert.isAbove(used(node) + size, 4000)
    } else {
      present.set(name, { node: placement.name, size })
      cache.assume(wanted, placement.name)
    }
    for (const node of ["a", "b"]) {
      assert.isAtMost(used(node), 4000)
      assert.strictEqual(cache.nodeInfo(node)?.used.get("cpu") ?? 0, used(node))
    }
  }
  return present.size
}

it.effect.prop(
  "no node is overfilled, a pod is refused only without room, and sums are exact",
  { steps: Arbitrary.schema(Schema.Array(Step)) },
  ({ steps }) => Effect.sync(() => void fits(steps))
)

it("each node can be filled to the last millicore", () => {
  // Random sizes seldom add up to a round number.
  assert.strictEqual(fits([0, 1, 2, 3].map((pod) => ({ pod, size: 2000, isGone: false }))), 4)
})
