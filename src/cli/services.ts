/** The services of every controller: client, cache, discovery and recorder. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { hostname } from "node:os"
import { Lease } from "../kube/resources.ts"
import { Cache } from "../layers/Cache.ts"
import { Discovery } from "../layers/Discovery.ts"
import { KubeClient } from "../layers/KubeClient.ts"
import type * as Clusters from "./cluster/clusters.ts"
import { Program } from "../manager/Program.ts"
import type * as Settings from "../manager/settings.ts"
import { options } from "../manager/settings/cache.ts"
import { isOn } from "../manager/settings/controllers.ts"
import { dividedCache } from "../manager/settings/sharding.ts"
import * as Transports from "./cluster/transports.ts"
import { Recorder } from "../layers/Recorder.ts"
import { Supervisor } from "../layers/Supervisor.ts"
import { Transport } from "../layers/Transport.ts"
import * as Limits from "./limits.ts"

/** Built from the last line to the first, and closed in the opposite order. */
export const services = (settings: Settings.Settings, cluster: Clusters.Connected) =>
  Recorder.layerWith({ instance: hostname() }).pipe(
    Layer.provideMerge(Layer.merge(Cache.layer(cached(settings)), Discovery.layer)),
    Layer.provideMerge(Layer.provide(client, limitedTransport(settings, cluster.server))),
    Layer.provideMerge(cluster.transport),
    Layer.provideMerge(Supervisor.layer)
  )

/** The default field manager is the program's name. */
const client = Layer.unwrap(Effect.map(Program, ({ name }) => KubeClient.layerWith({ fieldManager: name })))

/**
 * Each kubelet renews its Lease every ten seconds: 500 changes a second of the largest clusters, which `nodelifecycle` reads every five seconds, and for
 * which nothing is reconciled.
 */
const leases = Cache.kind(Lease, { interval: "1 second" })

const cached = (settings: Settings.Settings) => ({
  ...options(settings),
  kinds: [leases],
  shards: dividedCache(settings),
  ...(isOn(settings, "WatchListClient") ? {} : { streamingList: "never" as const })
})

/** The transport with the limits, the dry run and the User-Agent that the settings ask for. */
export const limitedTransport = (settings: Settings.Settings, server: string) =>
  Layer.effect(
    Transport,
    Effect.gen(function* () {
      const pace = yield* Limits.ofProgram(settings, server)
      return between(settings, yield* Program, pace)(yield* Transport)
    })
  )

/** Applies the rate limit, dry run and User-Agent to the transport. */
export const between =
  ({ dryRun }: Settings.Settings, { name, version }: Program["Service"], pace: Transports.Pace | undefined) =>
  (transport: Transport["Service"]): Transport["Service"] => {
    const paced = Transports.withPace(transport, pace)
    return Transports.withUserAgent(dryRun ? Transports.withDryRun(paced) : paced, `${name}/${version}`)
  }
