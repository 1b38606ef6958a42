/**
 * Everything a controller stands on, in process and in virtual time: the embedded API server and the services over it. Objects
 * in the cache are frozen, so a controller that writes to what it read fails here.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { Cache } from "../../src/layers/Cache.ts"
import type { Descriptor, Services } from "../../src/layers/Controller.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Quiescence } from "../../src/layers/Quiescence.ts"
import { Recorder } from "../../src/layers/Recorder.ts"
import { Supervisor } from "../../src/layers/Supervisor.ts"
import type { Transport } from "../../src/layers/Transport.ts"

export const layer: Layer.Layer<ApiServer | Transport | Services | Quiescence> = Recorder.layer.pipe(
  Layer.provideMerge(Cache.layer()),
  Layer.provideMerge(KubeClient.layer),
  Layer.provideMerge(ApiServer.layerTransport),
  Layer.provideMerge(ApiServer.layer()),
  Layer.provideMerge(Supervisor.layer),
  Layer.provideMerge(Layer.succeed(Cache.Frozen, true)),
  Layer.provideMerge(Quiescence.layer)
)

/** Waits until nothing has anything left to do before time passes. */
export const settle = Effect.flatMap(Quiescence, (quiescence) => quiescence.settle)

/** Runs a controller until `stop`, which closes its scope with the exit given and waits. */
export const start = <R>(controller: Descriptor<R>) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    yield* Layer.buildWithScope(controller.layer, scope)
    yield* settle
    return {
      stop: (exit: Exit.Exit<unknown, unknown> = Exit.void) => Scope.close(scope, exit),
      /** The same in a fiber, for a stop that takes time. */
      stopping: (exit: Exit.Exit<unknown, unknown> = Exit.void) =>
        Effect.tap(Effect.forkChild(Scope.close(scope, exit), { startImmediately: true }), () => settle)
    }
  })

export const isDone = <A, E>(fiber: Fiber.Fiber<A, E>): boolean => fiber.pollUnsafe() !== undefined
