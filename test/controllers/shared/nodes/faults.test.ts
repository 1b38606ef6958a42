/**
 * Fault injection for the node controllers: nodes stop reporting and recover, users cordon and taint, writes fail with conflicts and errors or lose
 * their responses, watches stall, and controllers stop. When nothing has happened for a while, taints and pods match the nodes; when all nodes are ready again, no
 * taint is left and no pod is evicted.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import * as NodeLifecycle from "../../../../src/controllers/NodeLifecycle.ts"
import * as Taints from "../../../../src/controllers/nodelifecycle/taints.ts"
import * as TaintEviction from "../../../../src/controllers/TaintEviction.ts"
import * as PodFacts from "../../../../src/kube/pod.ts"
import { Node, Pod } from "../../../../src/kube/resources.ts"
import { ApiServer } from "../../../../src/apiserver/ApiServer.ts"
import type { Fault, Rule } from "../../../../src/apiserver/faults.ts"
import { ClusterTest } from "../../../../src/testing/ClusterTest.ts"
import type { Running } from "../../../../src/testing/TestCluster.ts"
import { LeaderLost } from "../../../../src/layers/Leadership.ts"
import { KubeClient } from "../../../../src/layers/KubeClient.ts"
import * as Nodes from "../../../../src/simulation/Nodes.ts"
import type { Request } from "../../../../src/layers/Transport.ts"
import { int, oneOf, type ValueOf } from "../../../support/property.ts"
import { runs, seed } from "../../../support/runs.ts"
import * as Harness from "./harness.ts"

const machines = ["control-plane", "worker-1", "worker-2", "worker-3"] as const

const step = Arbitrary.all({
  what: oneOf("stop", "stop", "start", "cordon", "uncordon", "taint", "pod", "bind", "wait"),
  machine: int(0, 3),
  fault: oneOf("none", "none", "conflict", "refusal", "lost", "cut", "crash"),
  times: int(1, 6),
  seconds: oneOf(0, 3, 31, 70, 70)
})

const histories = Arbitrary.all({
  /** The watches of nodes and pods break after this many events and are restored a little later, repeatedly. */
  lag: oneOf("none", "none", "3", "10"),
  steps: Arbitrary.array(step, { minLength: 1, maxLength: 20 })
})

type Step = ValueOf<typeof step>
type History = ValueOf<typeof histories>

const lagging = ({ lag }: History): ReadonlyArray<Rule> =>
  lag === "none"
    ? []
    : ["nodes", "pods"].map((resource) => ({
        match: { verb: "watch", resource },
        fault: { _tag: "CutWatch", after: Number(lag), how: "reset" }
      }))

const faults: Partial<Record<Step["fault"], Fault>> = {
  conflict: { _tag: "Conflict" },
  refusal: { _tag: "Status", code: 500 },
  lost: { _tag: "DropAnswer" }
}

interface Body {
  readonly spec?: { readonly taints?: ReadonlyArray<{ readonly key: string; readonly effect: string }> | null }
}

/** The writes of the controllers; kubelets patch statuses, and delete pods without a grace period. */
const isOurs = ({ context: { resource, verb }, path }: Request): boolean =>
  (verb === "update" && (path.endsWith("/status") || resource === "nodes")) ||
  (verb === "patch" && resource === "nodes")

const driving = (body: unknown): boolean =>
  ((body as Body | undefined)?.spec?.taints ?? []).some(
    ({ effect, key }) => effect === "NoExecute" && key.startsWith("node.kubernetes.io/")
  )

const rulesOf = ({ fault, times }: Step): ReadonlyArray<Rule> => {
  if (fault === "cut")
    return [{ match: { verb: "watch" }, fault: { _tag: "CutWatch", after: times, how: "reset" }, times }]
  const found = faults[fault]
  return found === undefined ? [] : [{ match: isOurs, fault: found, times }]
}

const mine = { key: "example.com/k", effect: "NoExecute" }
const isNotMine = ({ key }: { readonly key: string }): boolean => key !== mine.key

type Spec = NonNullable<Node["spec"]>

/** The actions of users; they are updates, which the controllers do not make. */
const change = (name: string, to: (spec: Spec) => Spec) =>
  Effect.retry(
    Effect.gen(function* () {
      const client = yield* KubeClient
      const node = yield* client.get(Node, { name })
      yield* client.update(Node, { ...node, spec: to(node.spec ?? {}) })
    }),
    { times: 5 }
  )

const play = (history: History) =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const server = yield* ApiServer
    const nodes = yield* Nodes.Nodes
    const clock = yield* TestClock.testClockWith(Effect.succeed)
    const calls: Array<{ readonly at: number; readonly path: string; readonly gives: boolean }> = []
    const record: Rule = {
      match: (request) => {
        if (isOurs(request)) {
          const gives = request.context.verb === "patch" && driving(request.body)
          calls.push({ at: clock.currentTimeMillisUnsafe(), path: request.path, gives })
        }
        return false
      },
      fault: { _tag: "Conflict" }
    }
    const always = [record, ...lagging(history)]
    yield* server.setFaults(always)
    const start = Effect.forEach([NodeLifecycle.make(), TaintEviction.make()], (one) => cluster.run(one))
    let loops: ReadonlyArray<Running> = yield* start
    for (const name of machines) yield* Harness.createPod(`on-${name}`, { nodeName: name })
    yield* cluster.advance("1 minute")
    let pods = 0
    for (const one of history.steps) {
      const name = machines[one.machine] ?? "worker-1"
      // Requests of users meet no faults.
      yield* server.setFaults(always)
      switch (one.what) {
        case "stop":
        case "start":
          yield* nodes[one.what](name)
          break
        case "cordon":
        case "uncordon":
          yield* change(name, (spec) => ({ ...spec, unschedulable: one.what === "cordon" }))
          break
        case "taint":
          yield* change(name, (spec) => ({ ...spec, taints: [...(spec.taints ?? []).filter(isNotMine), mine] }))
          break
        case "pod":
          yield* Harness.createPod(`pod-${pods++}`, { nodeName: name })
          break
        case "bind": {
          const pod = `pod-${pods++}`
          yield* Harness.runningPod(pod, "")
          yield* Harness.bind(pod, name)
          break
        }
        case "wait":
      }
      yield* server.setFaults([...always, ...rulesOf(one)])
      if (one.fault === "crash") {
        yield* Effect.forEach(loops, (loop) =>
          loop.stop(Exit.fail(new LeaderLost({ reason: "Stolen", message: "another one leads" })))
        )
        loops = yield* start
        // A new leadership term has its own burst.
        calls.length = 0
      }
      yield* cluster.advance(`${one.seconds} seconds`)
      const wrong = tooFast(calls)
      if (wrong !== undefined) {
        // A controller stops after its current reconcile, which may wait: the clock has to advance for it.
        yield* server.setFaults([])
        yield* cluster.advance("1 minute")
        return wrong
      }
    }
    yield* server.setFaults([record])
    // A cache that lost its watch, and a kubelet that has just recovered, need this time.
    yield* cluster.advance("90 seconds")
    const wrong = yield* unreportedChanges
    if (wrong !== undefined) return wrong
    for (const name of machines) {
      yield* nodes.start(name)
      yield* change(name, ({ taints = [], ...spec }) => ({
        ...spec,
        unschedulable: false,
        taints: taints.filter(isNotMine)
      }))
    }
    yield* cluster.advance("6 minutes")
    const left = yield* Effect.forEach(machines, Harness.taintsOf)
    const wanted = machines.map((name) =>
      name === "control-plane" ? ["node-role.kubernetes.io/control-plane:NoSchedule"] : []
    )
    if (JSON.stringify(left) !== JSON.stringify(wanted)) return `taints are left: ${JSON.stringify(left)}`
    for (const node of yield* cluster.snapshot(Node)) {
      if (node.status?.conditions?.find(({ type }) => type === "Ready")?.status !== "True") return "a node is not ready"
    }
    const going = (yield* cluster.snapshot(Pod)).filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
    if (going.length > 0) return `a pod is still going: ${going[0]?.metadata.name}`
    calls.length = 0
    yield* cluster.advance("2 minutes")
    return calls.length === 0 ? undefined : `it goes on writing: ${calls[0]?.path}`
  }).pipe(
    Effect.scoped,
    Effect.provide(Layer.fresh(ClusterTest.layer({ nodes: machines.length, cache: { streamingList: "never" } })))
  )

/** The first violation after a time without events; undefined if there is none. */
const unreportedChanges = Effect.gen(function* () {
  const cluster = yield* ClusterTest
  const nodes = yield* cluster.snapshot(Node)
  const untidy = nodes.find((node) => Taints.scheduling(node, 0) !== undefined)
  if (untidy !== undefined) return `the taints of ${untidy.metadata.name} are not what it says of itself`
  const down = nodes.filter((node) =>
    node.status?.conditions?.some(
      ({ status, type }) => type === "Ready" && (status === "False" || status === "Unknown")
    )
  )
  const names = new Set(down.map(({ metadata }) => metadata.name))
  const pods = yield* cluster.snapshot(Pod)
  const liar = pods.find((pod) => names.has(pod.spec?.nodeName ?? "") && PodFacts.isReady(pod))
  return liar === undefined ? undefined : `${liar.metadata.name} is ready on a node that is not`
})

/** Two nodes were tainted within ten seconds; several tries for one node count once. */
const tooFast = (calls: ReadonlyArray<{ readonly at: number; readonly path: string; readonly gives: boolean }>) => {
  let last: { readonly at: number; readonly path: string } | undefined
  const given = new Set<string>()
  for (const { at, gives, path } of calls) {
    if (!gives) {
      given.delete(path)
      continue
    }
    if (given.has(path)) continue
    given.add(path)
    if (last !== undefined && last.path !== path && at - last.at < 9_900) return `given up too fast: ${path} at ${at}`
    last = { at, path }
  }
  return undefined
}

describe("nodes under fault injection", () => {
  it.effect(
    "are tainted no faster than their zone's rate, and have no taint in the end",
    () =>
      Effect.map(
        Arbitrary.checkEffect(
          histories,
          (history) =>
            Effect.gen(function* () {
              const wrong = yield* play(history)
              if (wrong !== undefined) return yield* Effect.fail(wrong)
              return true
            }).pipe(Effect.provide(Layer.fresh(TestClock.layer()))),
          { runs: runs(8), seed }
        ),
        (result) => assert.strictEqual(result._tag, "Passed", Arbitrary.formatCheckFailure(result))
      ),
    3_600_000
  )
})
