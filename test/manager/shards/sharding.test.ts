/** Effect Cluster itself on the storage, in virtual time: how shards are divided, what that costs at rest, and how long a shard is without a runner. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Entity from "effect/cluster/Entity"
import * as EntityId from "effect/cluster/EntityId"
import * as MessageStorage from "effect/cluster/MessageStorage"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import * as Runners from "effect/cluster/Runners"
import * as Sharding from "effect/cluster/Sharding"
import * as ShardingConfig from "effect/cluster/ShardingConfig"
import * as Rpc from "effect/rpc/Rpc"
import * as TestClock from "effect/testing/TestClock"
import { Lease } from "../../../src/kube/resources.ts"
import { Cache } from "../../../src/layers/Cache.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { Transport } from "../../../src/layers/Transport.ts"
import * as LeaseRunnerStorage from "../../../src/manager/shards/LeaseRunnerStorage.ts"
import * as Fleet from "./fleet.ts"

interface Requests {
  count: number
}

const counted = (inner: Transport["Service"], requests: Requests): Transport["Service"] => ({
  ...inner,
  send: (request) => Effect.suspend(() => (requests.count++, inner.send(request))),
  watch: (request) => (requests.count++, inner.watch(request))
})

const start = Effect.fnUntraced(function* (
  port: number,
  shardsPerGroup: number,
  requests: Requests = { count: 0 },
  application: Layer.Layer<never, never, Sharding.Sharding> = Layer.empty
) {
  const scope = yield* Scope.make()
  const alive = { transport: true }
  const inner = counted(yield* Transport, requests)
  const transport: Transport["Service"] = {
    ...inner,
    send: (request) => (alive.transport ? inner.send(request) : Effect.never)
  }
  const layer = application.pipe(
    Layer.provideMerge(Sharding.layer),
    Layer.provide(Runners.layerNoop),
    Layer.provideMerge(MessageStorage.layerNoop),
    Layer.provide(LeaseRunnerStorage.layer(Fleet.where)),
    Layer.provide(Cache.layer()),
    Layer.provide(KubeClient.layer),
    Layer.provide(Layer.succeed(Transport, transport)),
    Layer.provide(
      ShardingConfig.layer({ runnerAddress: Option.some(RunnerAddress.make("runner", port)), shardsPerGroup })
    )
  )
  const context = yield* Layer.buildWithScope(Layer.fresh(layer), scope)
  const sharding = Context.get(context, Sharding.Sharding)
  const ids = Array.from({ length: shardsPerGroup }, (_, index) => index + 1)
  return {
    sharding,
    held: () => ids.filter((id) => sharding.hasShardId(Fleet.shard(id))),
    /** An orderly end. */
    stop: Scope.close(scope, Exit.void),
    /** The server receives nothing from it any more. */
    kill: Effect.sync(() => void (alive.transport = false))
  }
})

const advance = (seconds: number) =>
  Effect.forEach(Array.from({ length: seconds }), () => Effect.andThen(TestClock.adjust("1 second"), Fleet.settle), {
    discard: true
  })

/** An entity that works on a message for some seconds. `log`: which runner begins and ends when. */
const Job = Entity.make("Job", [Rpc.make("Run")])
const jobs = (log: Array<string>) =>
  Job.toLayer(
    Effect.map(Entity.CurrentRunnerAddress, ({ port }) => ({
      Run: () =>
        Effect.acquireUseRelease(
          Effect.sync(() => log.push(`${port} begins`)),
          () => Effect.sleep("8 seconds"),
          () => Effect.sync(() => log.push(`${port} ends`))
        )
    }))
  )

const all = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

const sorted = (runners: ReadonlyArray<{ readonly held: () => ReadonlyArray<number> }>) =>
  runners.flatMap(({ held }) => [...held()]).sort((a, b) => a - b)

describe("Effect Cluster on Leases", () => {
  it.effect("ten runners divide 300 shards, and send at most three requests a second at rest", () =>
    Effect.gen(function* () {
      const requests = { count: 0 }
      const runners = yield* Effect.forEach(all(10), (port) => start(port, 300, requests))
      yield* advance(60)
      assert.deepStrictEqual(sorted(runners), all(300))
      for (const { held } of runners) assert.isAbove(held().length, 0)
      requests.count = 0
      yield* advance(120)
      process.stderr.write(`requests a second at rest, 10 runners and 300 shards: ${requests.count / 120}\n`)
      assert.isAtMost(requests.count / 120, 3)
      assert.deepStrictEqual(sorted(runners), all(300))
    }).pipe(Effect.scoped, Effect.provide(Fleet.server))
  )

  it.effect("the shards of a runner that dies have another one within the expiration and five seconds", () =>
    Effect.gen(function* () {
      const [a, b, c] = [yield* start(1, 32), yield* start(2, 32), yield* start(3, 32)]
      yield* advance(60)
      assert.deepStrictEqual(sorted([a, b, c]), all(32))
      yield* a.kill
      yield* advance(40)
      assert.deepStrictEqual(sorted([b, c]), all(32))
    }).pipe(Effect.scoped, Effect.provide(Fleet.server))
  )

  it.effect("a runner that stops leaves nothing behind, and its shards have another one at once", () =>
    Effect.gen(function* () {
      const [a, b] = [yield* start(1, 32), yield* start(2, 32)]
      yield* advance(60)
      yield* Effect.forkScoped(a.stop)
      yield* advance(5)
      assert.deepStrictEqual(sorted([b]), all(32))
      const { items } = yield* (yield* KubeClient).list(Lease, { namespace: Fleet.where.namespace })
      assert.lengthOf(
        items.filter(({ metadata }) => metadata.name.includes("-runner-")),
        1
      )
    }).pipe(Effect.scoped, Effect.provide(Fleet.server))
  )

  it.effect("a runner that stops has its locks until its entities have ended", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const [a, b] = [yield* start(1, 8, undefined, jobs(log)), yield* start(2, 8, undefined, jobs(log))]
      yield* advance(60)
      const ids = all(32).map(String)
      const id = ids.find((one) => a.sharding.hasShardId(a.sharding.getShardId(EntityId.make(one), "default"))) ?? ""
      const send = ({ sharding }: typeof a) =>
        Effect.flatMap(sharding.makeClient(Job), (job) => Effect.forkScoped(Effect.exit(job(id).Run())))
      yield* send(a)
      yield* advance(1)
      yield* Effect.forkScoped(a.stop)
      const answer = yield* send(b)
      yield* advance(30)
      assert.isTrue(Exit.isSuccess(yield* Fiber.join(answer)))
      assert.deepStrictEqual(log, ["1 begins", "1 ends", "2 begins", "2 ends"])
    }).pipe(Effect.scoped, Effect.provide(Fleet.server))
  )

  it.effect("a runner with another number of shards is refused while one renews, and may come when all are gone", () =>
    Effect.gen(function* () {
      const a = yield* start(1, 32)
      yield* advance(15)
      const refused = yield* Effect.forkScoped(Effect.flip(start(2, 64)))
      yield* advance(15)
      const error = yield* Fiber.join(refused)
      assert.match(error.message, /have 32 shards and this one has 64/)
      yield* a.stop
      const b = yield* start(3, 64)
      yield* advance(60)
      assert.deepStrictEqual(sorted([b]), all(64))
    }).pipe(Effect.scoped, Effect.provide(Fleet.server))
  )
})
