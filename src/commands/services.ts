/** What every controller lives on: the client, the cache, the recorder. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { hostname } from "node:os"
import { Cache } from "../layers/Cache.ts"
import { Discovery } from "../layers/Discovery.ts"
import { KubeClient } from "../layers/KubeClient.ts"
import * as RequestMetrics from "../layers/http/requestMetrics.ts"
import type * as Clusters from "../layers/manager/cluster/clusters.ts"
import * as Agent from "../layers/manager/identity/agent.ts"
import * as DryRun from "../layers/manager/cluster/dryRun.ts"
import { Program } from "../layers/manager/Program.ts"
import type * as Settings from "../layers/manager/settings.ts"
import { options } from "../layers/manager/settings/cache.ts"
import { isOn } from "../layers/manager/settings/controllers.ts"
import * as Throttle from "../layers/manager/cluster/throttle.ts"
import { Recorder } from "../layers/Recorder.ts"
import { Supervisor } from "../layers/Supervisor.ts"
import { Transport } from "../layers/Transport.ts"

/** From the outside in; closed from the inside out. */
export const services = (settings: Settings.Settings, cluster: Clusters.Connected) =>
  Recorder.layerWith({ instance: hostname() }).pipe(
    Layer.provideMerge(Layer.merge(Cache.layer(cached(settings)), Discovery.layer)),
    Layer.provideMerge(Layer.provide(client, door(settings, cluster.server))),
    Layer.provideMerge(cluster.transport),
    Layer.provideMerge(Supervisor.layer)
  )

/** Fields that no controller writes under a name of its own are the program's. */
const client = Layer.unwrap(Effect.map(Program, ({ name }) => KubeClient.layerWith({ fieldManager: name })))

const cached = (settings: Settings.Settings) => ({
  ...options(settings),
  ...(isOn(settings, "WatchListClient") ? {} : { streamingList: "never" as const })
})

const door = (settings: Settings.Settings, server: string) =>
  Layer.effect(Transport, Effect.flatMap(Transport, between(settings, server)))

/** What stands between the controllers and the server, because somebody asked for it. */
export const between =
  ({ burst, dryRun, qps }: Settings.Settings, server: string) =>
  (transport: Transport["Service"]) =>
    Effect.gen(function* () {
      const limit = { perSecond: qps, burst: burst === 0 ? Math.max(1, 2 * qps) : burst }
      const { name, version } = yield* Program
      const detail = yield* RequestMetrics.detail(new URL(server).host)
      const paced = qps < 0 ? transport : yield* Throttle.through(transport, limit, detail?.limited)
      return Agent.through(dryRun ? DryRun.through(paced) : paced, `${name}/${version}`)
    })
