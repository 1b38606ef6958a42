/**
 * The settings of every program; controllers declare theirs in their modules. Each is declared in the file of its group; a new group is added here. Contradictions between settings of different
 * groups are also found here. Nothing is read or started.
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import type * as Setting from "../layers/Setting.ts"
import { rank, type Resolved, written } from "./setting/sources.ts"
import * as Cache from "./settings/cache.ts"
import * as Cluster from "./settings/cluster.ts"
import * as Controllers from "./settings/controllers.ts"
import * as Leadership from "./settings/leadership.ts"
import * as Logs from "./settings/logs.ts"
import * as Process from "./settings/process.ts"
import * as Servers from "./settings/servers.ts"
import * as Sharding from "./settings/sharding.ts"
import * as Webhooks from "./settings/webhooks.ts"

/** The settings of every program. */
export const common = {
  ...Cluster.settings,
  ...Cache.settings,
  ...Controllers.settings,
  ...Leadership.settings,
  ...Sharding.settings,
  ...Servers.settings,
  ...Webhooks.settings,
  ...Logs.settings,
  ...Process.telemetry,
  ...Process.settings
}

export type Settings = Setting.Values<typeof common>

/** The first contradiction between two settings, in one sentence. */
export const contradiction = (resolved: Resolved<typeof common>): string | undefined =>
  withoutEffect(resolved) ?? reversed(resolved) ?? duplicate(resolved) ?? Sharding.contradiction(resolved)

/** A delay whose start is greater than its end. */
const reversed = ({ origins, values }: Resolved<typeof common>): string | undefined =>
  Duration.isGreaterThan(values.backoffBase, values.backoffMax)
    ? `${written(origins.backoffBase)} (${Duration.format(values.backoffBase)}) must not be longer than ${written(origins.backoffMax)} (${Duration.format(values.backoffMax)})`
    : undefined

/** Two settings for the same thing, from any sources: it is ambiguous which one is meant. */
const duplicate = ({ origins, values }: Resolved<typeof common>): string | undefined => {
  if (values.watchNamespaces.length > 0 && Option.isSome(values.watchNamespaceSelector)) {
    return `${written(origins.watchNamespaces)} and ${written(origins.watchNamespaceSelector)} cannot both say which namespaces are meant: leave one of them out`
  }
  const isResyncSaid = origins.minResyncPeriod._tag !== "Default" && Option.isSome(values.minResyncPeriod)
  if (origins.syncPeriod._tag !== "Default" && isResyncSaid) {
    return `${written(origins.syncPeriod)} and ${written(origins.minResyncPeriod)} cannot both say when to look again: leave one of them out`
  }
  if (Option.isSome(values.webhookCertPath) && values.webhookSelfSigned) {
    return `${written(origins.webhookCertPath)} and ${written(origins.webhookSelfSigned)} cannot both say where the webhooks' certificate comes from: leave one of them out`
  }
  if (Option.isSome(values.webhookClientCa) && Option.isNone(values.webhookCertPath)) {
    return `${written(origins.webhookClientCa)} is a file in the directory of --webhook-cert-path, which was not said`
  }
  return undefined
}

/** A setting without effect on the chosen cluster. */
const withoutEffect = ({ origins, values }: Resolved<typeof common>): string | undefined => {
  // A setting from a stronger source overrides the weaker one, so the two do not conflict.
  const clash = (one: keyof typeof common) =>
    origins[one]._tag !== "Default" && rank(origins[one]) <= rank(origins.cluster)
      ? `${written(origins[one])} means nothing with ${written(origins.cluster)} ${values.cluster}: leave one of them out`
      : undefined
  const onlyEmbedded = () => clash("embeddedPort") ?? clash("nodes") ?? clash("demo")
  switch (values.cluster) {
    case "auto":
      return undefined
    case "embedded":
      // KUBECONFIG is ignored here: many shells set it for other programs.
      return (
        (origins.kubeconfig._tag === "Environment" ? undefined : clash("kubeconfig")) ??
        clash("context") ??
        clash("master") ??
        clash("insecureHttp")
      )
    case "in-cluster":
      return (
        (origins.kubeconfig._tag === "Environment" ? undefined : clash("kubeconfig")) ??
        clash("context") ??
        onlyEmbedded()
      )
    case "kubeconfig":
      return onlyEmbedded()
  }
}
