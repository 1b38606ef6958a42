/**
 * The leader of two replicas is asked to stop at random moments while Deployments are created, grow and shrink, several times. The log of what the
 * server accepted shows: nothing is written after the lease was released, no write is left without its response, and no work is lost.
 * `npm run soak` does it more often and prints the figures.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { KubeObject } from "../../src/kube/Meta.ts"
import * as Patch from "../../src/kube/Patch.ts"
import type * as Resource from "../../src/kube/Resource.ts"
import { Deployment, Pod, ReplicaSet } from "../../src/kube/resources.ts"
import * as Gateway from "../support/gateway.ts"
import * as Process from "../support/process.ts"
import { runs } from "../support/runs.ts"
import * as Cluster from "./cluster.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"
import * as Load from "./leadership/load.ts"

/** Milliseconds. */
const retry = 400
/** Milliseconds that a busy machine may add. */
const slack = 3000

const flags = [
  "--controllers=deployment,replicaset",
  "--leader-elect",
  "--leader-elect-lease-duration=6s",
  "--leader-elect-renew-deadline=4s",
  `--leader-elect-retry-period=${retry}ms`
]

/** A write as it arrives at the server, through the gateway of one replica. */
interface Written {
  /** Milliseconds of this process's monotonic clock. */
  readonly at: number
  readonly line: string
}

const isLease = ({ line }: Written) => line.startsWith("PUT ") && line.includes("/leases/")
const isEvent = ({ line }: Written) => line.includes("/events")

/** A replica of the program behind a gateway of its own. */
const replica = Effect.fnUntraced(function* (upstream: Gateway.Upstream) {
  const written: Array<Written> = []
  const gateway = yield* Gateway.start(upstream, (line) => {
    if (!line.startsWith("GET ")) written.push({ at: performance.now(), line })
  })
  const kubeconfig = yield* Kubeconfigs.write({ ...gateway })
  const running = yield* Process.start(["--kubeconfig", kubeconfig, ...flags])
  return { ...running, gateway, written }
})
type Replica = Effect.Success<ReturnType<typeof replica>>

const leading = (one: Replica) => one.says(/leading: (\S+) holds lease/)

/** Deployments that are created and scaled, as long as this runs; `model` is how many pods each should have. */
const load = (client: Cluster.Client, model: Map<string, number>) => {
  let count = 0
  return Effect.forever(
    Effect.gen(function* () {
      const name = `web-${count % 12}`
      const replicas = (count * 7) % 6
      yield* model.has(name)
        ? client.patch(Deployment, { namespace: "default", name }, Patch.merge({ spec: { replicas } }))
        : client.create(Deployment, Load.deploymentOf(name, replicas, "default"))
      model.set(name, replicas)
      count++
      yield* Effect.sleep(40)
    })
  )
}

const ownedBy = (owner: KubeObject) => (one: KubeObject) =>
  one.metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) === true

const all = <A extends KubeObject>(client: Cluster.Client, resource: Resource.Resource<A>) =>
  Effect.map(client.list(resource, { namespace: "default" }), ({ items }) => items)

/** The differences between the cluster and the model: one sentence each. */
const differences = Effect.fnUntraced(function* (client: Cluster.Client, model: ReadonlyMap<string, number>) {
  const deployments = yield* all(client, Deployment)
  const sets = yield* all(client, ReplicaSet)
  const pods = yield* all(client, Pod)
  const found: Array<string> = []
  for (const [name, replicas] of model) {
    const deployment = deployments.find(({ metadata }) => metadata.name === name)
    if (deployment === undefined) found.push(`${name} is gone`)
    else {
      const owned = sets.filter(ownedBy(deployment))
      const sizes = owned.map(({ spec }) => spec?.replicas)
      const made = owned.map((set) => pods.filter(ownedBy(set)).length)
      if (sizes.join() !== String(replicas))
        found.push(`${name}: replica sets of ${sizes.join()}, not one of ${replicas}`)
      if (made.join() !== String(replicas)) found.push(`${name}: ${made.join()} pods, not ${replicas}`)
      if (deployment.status?.observedGeneration !== deployment.metadata.generation) found.push(`${name}: not observed`)
    }
  }
  const orphans = pods.filter(({ metadata }) => (metadata.ownerReferences ?? []).length !== 1)
  for (const { metadata } of orphans) found.push(`pod ${metadata.name} is nobody's`)
  return found
})

/** Smallest, middle and largest, in whole milliseconds. */
const spread = (millis: ReadonlyArray<number>): string => {
  const sorted = [...millis].sort((a, b) => a - b).map(Math.round)
  return `${sorted[0]} / ${sorted[Math.floor(sorted.length / 2)]} / ${sorted.at(-1)} ms`
}

/** Asks the leader to stop; returns how long that took, and how long after the release the other one took the lease. */
const handOver = Effect.fnUntraced(function* (leader: Replica, standby: Replica) {
  const asked = performance.now()
  yield* leader.kill("SIGTERM")
  const stopped = yield* leader.exit
  const stop = performance.now() - asked
  assert.strictEqual(stopped.code, 0, stopped.stderr)
  assert.match(stopped.stderr, /released lease kube-system\/kube-controller-manager/)
  assert.notMatch(stopped.stderr, /level=ERROR/)
  yield* leading(standby)
  const released = leader.written.findLast(isLease)?.at ?? Infinity
  const late = leader.written.filter((one) => one.at > released && !isEvent(one))
  assert.deepStrictEqual(late, [], "nothing but events is written after the release")
  assert.deepStrictEqual(leader.gateway.cut, [], "no write was left without its answer")
  const taken = standby.written.find((one) => isLease(one) && one.at >= released)?.at ?? Infinity
  return { stop, handOver: taken - released }
})

describe("a leader that is asked to stop under load", () => {
  it.live(
    "exits 0, hands over within one jittered retry, and leaves no write half done",
    () =>
      Effect.gen(function* () {
        const upstream = yield* Cluster.embedded
        const client = yield* Cluster.client(upstream)
        const model = new Map<string, number>()
        const loading = yield* Effect.forkScoped(load(client, model))
        let leader = yield* replica(upstream)
        yield* leading(leader)
        const measured: Array<{ readonly stop: number; readonly handOver: number }> = []
        for (let round = 0; round < runs(3); round++) {
          const standby = yield* replica(upstream)
          yield* standby.says(/is held by/)
          // A random moment.
          yield* Effect.sleep(Math.random() * 1500)
          const figures = yield* handOver(leader, standby)
          assert.isBelow(figures.handOver, 2.2 * retry + slack)
          measured.push(figures)
          leader = standby
        }
        yield* Fiber.interrupt(loading)
        for (let wrong = yield* differences(client, model); wrong.length > 0;) {
          yield* Effect.sleep(200)
          wrong = yield* differences(client, model)
        }
        yield* leader.kill("SIGTERM")
        assert.strictEqual((yield* leader.exit).code, 0)
        const stop = spread(measured.map((one) => one.stop))
        const taken = spread(measured.map((one) => one.handOver))
        process.stderr.write(`stopped under load ${measured.length} times: stop ${stop}, hand-over ${taken}\n`)
      }).pipe(Effect.scoped),
    30_000 + runs(3) * 20_000
  )
})
