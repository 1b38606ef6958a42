/**
 * Simulated nodes and their scheduler as a layer: ordinary clients of whatever server `KubeClient` talks to. When it is built,
 * the nodes are registered and ready; from then on pods are bound, started and stopped, in the time of Effect's clock.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ApiError } from "../../kube/ApiError.ts"
import type { Cache } from "../Cache.ts"
import type { KubeClient } from "../KubeClient.ts"
import * as Kubelet from "./kubelet.ts"
import * as Machine from "./Machine.ts"
import * as PodLife from "./podLife.ts"
import * as Scheduler from "./scheduler.ts"

export interface Options {
  /** One control-plane machine and two workers unless said otherwise. */
  readonly machines?: ReadonlyArray<Machine.Machine> | undefined
  readonly delays?: Partial<PodLife.Delays> | undefined
}

export const layer = (options: Options = {}): Layer.Layer<never, ApiError, KubeClient | Cache> =>
  Layer.effectDiscard(start(options))

const start = Effect.fnUntraced(function* (options: Options) {
  const machines = options.machines ?? Machine.standard
  const delays = { ...PodLife.standard, ...options.delays }
  yield* Effect.forEach(machines, Kubelet.register, { concurrency: "unbounded", discard: true })
  for (const machine of machines) {
    yield* watched(`kubelet ${machine.name}`, Kubelet.heartbeat(machine))
    yield* watched(`kubelet ${machine.name}`, Kubelet.run(machine, delays))
  }
  yield* watched("scheduler", Scheduler.run())
})

/** A simulated component that dies is said so once; the demo goes on without it, as a cluster would. */
const watched = <A, R>(name: string, effect: Effect.Effect<A, never, R>) =>
  effect.pipe(
    Effect.scoped,
    Effect.tapCause((cause) => Effect.logError(`the simulated ${name} has stopped`, cause)),
    Effect.forkScoped
  )
