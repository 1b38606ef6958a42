/**
 * The application of examples/entities in three processes that share Leases: one is killed, one is asked to stop. Each counter is in one process at a time,
 * and so is the singleton.
 */
import * as NodeClusterSocket from "@effect/platform-node/NodeClusterSocket"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as MessageStorage from "effect/cluster/MessageStorage"
import * as Sharding from "effect/cluster/Sharding"
import * as ShardingConfig from "effect/cluster/ShardingConfig"
import * as SocketRunner from "effect/cluster/SocketRunner"
import * as RpcSerialization from "effect/rpc/RpcSerialization"
import { Counter } from "../../examples/entities/src/Counter.ts"
import { Lease } from "../../src/kube/resources.ts"
import { Cache } from "../../src/layers/Cache.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as LeaseRunnerStorage from "../../src/manager/shards/LeaseRunnerStorage.ts"
import { freePorts } from "../../src/testing/envtest/ports.ts"
import * as Bundle from "../support/bundle.ts"
import * as Process from "../support/process.ts"
import * as Cluster from "./cluster.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"

/** As short as a busy machine allows. */
const expiration = "9 seconds"
const host = "127.0.0.1"
/** Not those that the singleton of the application increments. */
const ids = Array.from({ length: 36 }, (_, index) => `basket-${index}`)

interface Runner extends Process.Running {
  readonly address: string
}

const start = Effect.fnUntraced(function* (upstream: Effect.Success<typeof Cluster.embedded>) {
  const program = yield* Bundle.make("examples/entities/src/main.ts")
  const kubeconfig = yield* Kubeconfigs.write({ ...upstream, user: { token: upstream.token } })
  const ports = yield* Effect.promise(() => freePorts(3))
  return yield* Effect.forEach(ports, (port) => {
    const own = { HOST: host, PORT: String(port), SHARD_LOCK_EXPIRATION: expiration }
    const running = Process.start([], { KUBECONFIG: kubeconfig, ...own }, { program })
    return Effect.map(running, (one): Runner => ({ ...one, address: `${host}:${port}` }))
  })
})

/** The messages of a process that has no shards itself. */
const connect = Effect.fnUntraced(function* (client: Cluster.Client) {
  const sharding = SocketRunner.layerClientOnly.pipe(
    Layer.provide(NodeClusterSocket.layerClientProtocol),
    Layer.provide([LeaseRunnerStorage.layer({ namespace: "default", name: "counters" }), MessageStorage.layerNoop]),
    Layer.provide([Cache.layer(), RpcSerialization.layerSchemaBinary()]),
    Layer.provide([ShardingConfig.layer({ shardLockExpiration: expiration }), Layer.succeed(KubeClient, client)])
  )
  const counter = yield* Context.get(yield* Layer.build(sharding), Sharding.Sharding).makeClient(Counter)
  const before = new Map<string, { readonly value: number; readonly runner: string }>()
  /** Increments all counters; each goes on in the process in which it is, or begins anew in another. Returns the processes that answered. */
  return Effect.gen(function* () {
    const increment = (id: string) =>
      Effect.map(counter(id).Increment(), (answer) => {
        const last = before.get(id)
        before.set(id, answer)
        if (answer.value === 1) return answer.runner
        assert.strictEqual(answer.runner, last?.runner, id)
        assert.isAbove(answer.value, last?.value ?? 0, id)
        return answer.runner
      })
    return new Set(yield* Effect.forEach(ids, increment, { concurrency: "unbounded" }))
  })
})

/** Increments all counters until exactly these processes answer. */
const answeredBy = (increments: Effect.Success<ReturnType<typeof connect>>, runners: ReadonlyArray<Runner>) =>
  Effect.repeat(Effect.andThen(Effect.sleep("100 millis"), increments), {
    until: (found) => found.size === runners.length && runners.every(({ address }) => found.has(address))
  })

const reports = (runner: Runner): number =>
  runner
    .said()
    .split("\n")
    .filter((line) => line.startsWith(`reporter on ${runner.address} | `)).length

/** The process that runs the singleton: it reports three times, and no other does meanwhile. While the processes start, it may move once more. */
const reporter = Effect.fnUntraced(function* (runners: ReadonlyArray<Runner>) {
  while (true) {
    const before = runners.map(reports)
    const since = () => runners.map((runner, index) => reports(runner) - (before[index] ?? 0))
    yield* Effect.repeat(Effect.sleep("50 millis"), { until: () => since().some((count) => count >= 3) })
    const [found, ...others] = runners.filter((_, index) => since()[index] !== 0)
    if (found !== undefined && others.length === 0) return found
  }
})

/** The holders of the Leases of runners, or of those of shards. */
const holders = Effect.fnUntraced(function* (client: Cluster.Client, role: "runner" | "shard") {
  const labelSelector = `effect-controller-manager/cluster=counters,effect-controller-manager/cluster-role=${role}`
  const { items } = yield* client.list(Lease, { namespace: "default", labelSelector })
  if (role === "runner") {
    for (const { metadata } of items) assert.match(metadata.name, /^counters-runner-127-0-0-1-\d+-[0-9a-z]+$/)
  }
  return [...new Set(items.flatMap(({ spec }) => spec?.holderIdentity ?? []))].sort()
})

describe("an application of Effect Cluster in three processes with Leases in place of a database", () => {
  it.live("has each entity and the singleton in one process, also after one was killed and one was stopped", () =>
    Effect.gen(function* () {
      const upstream = yield* Cluster.embedded
      const client = yield* Cluster.client(upstream)
      const all = yield* start(upstream)
      const increments = yield* connect(client)
      yield* answeredBy(increments, all)
      const addresses = all.map(({ address }) => address).sort()
      assert.deepStrictEqual(yield* holders(client, "runner"), addresses)
      assert.deepStrictEqual(yield* holders(client, "shard"), addresses)

      const killed = yield* reporter(all)
      yield* killed.kill("SIGKILL")
      const two = all.filter((one) => one !== killed)
      yield* answeredBy(increments, two)

      const stopped = yield* reporter(two)
      yield* stopped.kill("SIGTERM")
      const last = two.filter((one) => one !== stopped)
      yield* answeredBy(increments, last)
      yield* stopped.exit
      assert.deepStrictEqual(
        yield* holders(client, "runner"),
        last.map(({ address }) => address)
      )
      assert.deepStrictEqual([yield* reporter(last)], last)
    }).pipe(Effect.scoped)
  )
})
