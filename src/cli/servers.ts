/** Probes, metrics, profiles and debug pages, as the settings configure them. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Clusters from "./cluster/clusters.ts"
import * as CommandLine from "../manager/process/commandLine.ts"
import type { Host } from "../manager/process/Host.ts"
import * as Gates from "../manager/gates.ts"
import { Program } from "../manager/Program.ts"
import { type Address, format, isLoopback } from "../layers/http/address.ts"
import { Listener } from "../layers/http/Listener.ts"
import { Process } from "../layers/Process.ts"
import { metricsAt, settings } from "../manager/settings/servers.ts"
import type { Resolved, Selection } from "./selection.ts"

/** Starts the servers before the program connects to the cluster, and closes them after it. */
export const servers = Effect.fnUntraced(function* (
  host: Host,
  resolved: Resolved,
  { embedded, transport }: Clusters.Connected,
  selection: Selection
) {
  const { origins, values } = resolved
  const { metricsAddress, pprofAddress, probeAddress } = values
  if (probeAddress === undefined && metricsAddress === undefined && pprofAddress === undefined) return
  const Servers = yield* Effect.promise(() => import("../manager/servers.ts"))
  const place = (address: Address | undefined, setting: "probeAddress" | "metricsAddress") =>
    Servers.place(address, { byDefault: origins[setting]._tag === "Default", embedded })
  const program = yield* Program
  if (metricsAddress !== undefined) yield* Gates.publish(program.gates, values.featureGates)
  const metrics = metricsAt(values)
  if (metrics !== undefined && !values.metricsSecure && !isLoopback(metrics.host)) {
    yield* Effect.logWarning(
      `Metrics are served in plain text to any client of ${format(metrics)}: --${settings.metricsSecure.name} requires authorization`
    )
  }
  const commandLine = CommandLine.shown(host.argv, program.settings)
  const { listener } = yield* Effect.promise(() => import("../platform/listener/Listener.ts"))
  const { thisProcess } = yield* Effect.promise(() => import("../platform/Process.ts"))
  yield* Servers.start({
    probes: place(probeAddress, "probeAddress"),
    metrics: place(metrics, "metricsAddress"),
    profiles: pprofAddress === undefined ? undefined : { address: pprofAddress, isOptional: false, commandLine },
    secure: values.metricsSecure ? { transport, ...secure(resolved, selection) } : undefined,
    controllers: selection.chosen.map(({ controller }) => controller)
  }).pipe(Effect.provideService(Listener, listener), Effect.provideService(Process, thisProcess))
})

/** The certificate of servers with authorization. */
export const certificateFiles = (values: Resolved["values"]) =>
  Option.getOrUndefined(
    Option.map(values.metricsCertPath, (directory) => ({
      directory,
      cert: values.metricsCertName,
      key: values.metricsCertKey
    }))
  )

const secure = ({ effective, values }: Resolved, { chosen, disabled }: Selection) => ({
  files: certificateFiles(values),
  http2: values.http2,
  pages: { effective, controllers: chosen.map(({ controller }) => controller), disabled }
})
