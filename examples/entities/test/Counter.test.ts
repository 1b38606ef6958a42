import { assert, it } from "@effect/vitest"
import { Lease } from "effect-controller-manager"
import { LeaseRunnerStorage } from "effect-controller-manager/cluster"
import { ClusterTest } from "effect-controller-manager/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as MessageStorage from "effect/cluster/MessageStorage"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import * as Runners from "effect/cluster/Runners"
import * as Sharding from "effect/cluster/Sharding"
import * as ShardingConfig from "effect/cluster/ShardingConfig"
import { Counter, CounterLive } from "../src/Counter.ts"

/** One process of the application, without a network. */
const runner = CounterLive.pipe(
  Layer.provideMerge(Sharding.layer),
  Layer.provide(Runners.layerNoop),
  Layer.provide([LeaseRunnerStorage.layer({ namespace: "default", name: "counters" }), MessageStorage.layerNoop]),
  Layer.provide(
    ShardingConfig.layer({ runnerAddress: Option.some(RunnerAddress.make("127.0.0.1", 34431)), shardsPerGroup: 10 })
  )
)

it.effect("counts by id, in the process that has the Leases", () =>
  Effect.gen(function* () {
    const { advance, snapshot } = yield* ClusterTest
    const counter = yield* Counter.client
    const counting = yield* Effect.forkScoped(
      Effect.all([counter("a").Increment(), counter("a").Increment(), counter("b").Get()])
    )
    yield* advance("5 seconds")
    const address = "127.0.0.1:34431"
    assert.deepStrictEqual(yield* Fiber.join(counting), [
      { value: 1, runner: address },
      { value: 2, runner: address },
      { value: 0, runner: address }
    ])
    const leases = (yield* snapshot(Lease)).filter(({ metadata }) => metadata.name.startsWith("counters-shard-"))
    assert.deepStrictEqual(
      leases.map(({ spec }) => spec?.holderIdentity),
      Array.from({ length: 10 }, () => address)
    )
  }).pipe(Effect.scoped, Effect.provide(runner), Effect.provide(ClusterTest.layer()))
)
