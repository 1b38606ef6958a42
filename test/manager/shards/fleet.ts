/**
 * Runners for tests, each with a client, a cache and a storage of its own over one embedded API server, and a connection that can fail: responses are
 * lost, it is cut, or the process is stopped, so that what it had begun goes on when it wakes.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Runner from "effect/cluster/Runner"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import { RunnerStorage } from "effect/cluster/RunnerStorage"
import * as ShardId from "effect/cluster/ShardId"
import * as ShardingConfig from "effect/cluster/ShardingConfig"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import * as ApiError from "../../../src/kube/ApiError.ts"
import { Cache } from "../../../src/layers/Cache.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { Quiescence } from "../../../src/layers/Quiescence.ts"
import { type Request, Transport } from "../../../src/layers/Transport.ts"
import * as LeaseRunnerStorage from "../../../src/manager/shards/LeaseRunnerStorage.ts"

export const server = KubeClient.layer.pipe(
  Layer.provideMerge(ApiServer.layerTransport),
  Layer.provideMerge(ApiServer.layer()),
  Layer.provideMerge(Quiescence.layer)
)

export const settle = Effect.flatMap(Quiescence, (quiescence) => quiescence.settle)

export const where = { namespace: "default", name: "shop" }

/** The connection of a runner, and what its process does. */
export interface Gate {
  isCut: boolean
  /** The next response to a write is lost, after the server has done it. */
  loses: boolean
  /** How long a read takes before it reaches the server. */
  latency: Duration.Input
  /** Closed while the process is stopped. */
  readonly awake: Latch.Latch
}

/**
 * The connection of one process. A request that may not start any more when the process wakes is not sent, as over HTTP. `sent`: called with each write, at
 * the moment at which it reaches the server.
 */
export const gated = (
  inner: Transport["Service"],
  gate: Gate,
  sent: (request: Request) => Effect.Effect<void> = () => Effect.void
): Transport["Service"] => {
  const passes = (request: Request) =>
    Effect.andThen(
      gate.awake.await,
      Effect.suspend(() =>
        gate.isCut ? Effect.fail(ApiError.network(request.context, new Error("cut"))) : Effect.void
      )
    )
  return {
    ...inner,
    send: (request) =>
      Effect.gen(function* () {
        yield* passes(request)
        if (request.method === "GET") yield* Effect.sleep(gate.latency)
        if (request.mayStartUnsafe?.() === false) return yield* Effect.fail(ApiError.leaderFenced(request.context))
        if (request.method !== "GET") yield* sent(request)
        const response = yield* Effect.exit(inner.send(request))
        yield* passes(request)
        if (gate.loses && request.method !== "GET") {
          gate.loses = false
          return yield* Effect.fail(ApiError.network(request.context, new Error("lost")))
        }
        return yield* response
      }),
    watch: (request) =>
      Stream.unwrap(
        Effect.gen(function* () {
          yield* passes(request)
          yield* Effect.sleep(gate.latency)
          return Stream.tap(inner.watch(request), () => passes(request))
        })
      )
  }
}

export const openGate = (): Gate => ({ isCut: false, latency: 0, loses: false, awake: Latch.makeUnsafe(true) })

export interface Member {
  readonly address: RunnerAddress.RunnerAddress
  readonly gate: Gate
  readonly storage: RunnerStorage["Service"]
  readonly locks: LeaseRunnerStorage.ShardLocks["Service"]
  readonly register: Effect.Effect<boolean>
  /** The process ends at once: it releases nothing. */
  readonly kill: Effect.Effect<void>
}

/** Starts a runner in a scope of its own. `port` makes its address. `sent`: see {@link gated}. */
export const start = Effect.fnUntraced(function* (
  port: number,
  options: Partial<ShardingConfig.ShardingConfig["Service"]> = {},
  sent?: (request: Request) => Effect.Effect<void>
) {
  const address = RunnerAddress.make("runner", port)
  const gate = openGate()
  const inner = yield* Transport
  const scope = yield* Scope.make()
  const config = ShardingConfig.layer({ runnerAddress: Option.some(address), ...options })
  const layer = LeaseRunnerStorage.layer(where).pipe(
    Layer.provide(Cache.layer()),
    Layer.provide(KubeClient.layer),
    Layer.provide(Layer.succeed(Transport, gated(inner, gate, sent))),
    Layer.provide(config)
  )
  const context = yield* Layer.buildWithScope(Layer.fresh(layer), scope)
  const storage = Context.get(context, RunnerStorage)
  const runner = Runner.make({ address, groups: ["default"], weight: 1 })
  const member: Member = {
    address,
    gate,
    storage,
    locks: Context.get(context, LeaseRunnerStorage.ShardLocks),
    register: Effect.isSuccess(storage.register(runner, true)),
    kill: Scope.close(scope, Exit.failCause(Cause.interrupt()))
  }
  return member
})

export const shard = (id: number): ShardId.ShardId => ShardId.make("default", id)
