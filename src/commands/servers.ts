/** Probes and metrics, as the settings want them. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Clusters from "../layers/manager/clusters.ts"
import type { Resolved, Selection } from "./selection.ts"

/** Outside of everything that talks to the cluster: they answer before it and close after it. */
export const servers = Effect.fnUntraced(function* (
  { origins, values }: Resolved,
  { embedded, transport }: Clusters.Connected,
  { chosen }: Selection
) {
  if (values.probeAddress === undefined && values.metricsAddress === undefined) return
  const Servers = yield* Effect.promise(() => import("../layers/manager/servers.ts"))
  const place = (setting: "probeAddress" | "metricsAddress") =>
    Servers.place(values[setting], { byDefault: origins[setting]._tag === "Default", embedded })
  yield* Servers.start({
    probes: place("probeAddress"),
    metrics: place("metricsAddress"),
    secure: values.metricsSecure
      ? {
          transport,
          files: Option.getOrUndefined(
            Option.map(values.metricsCertPath, (directory) => ({
              directory,
              cert: values.metricsCertName,
              key: values.metricsCertKey
            }))
          )
        }
      : undefined,
    controllers: chosen.map(({ controller }) => controller.name)
  })
})
