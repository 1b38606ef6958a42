/** The Leases of the controllers, and their elections. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { hostname } from "node:os"
import { KubeClient } from "../layers/KubeClient.ts"
import { Leadership } from "../layers/Leadership.ts"
import * as Clusters from "./cluster/clusters.ts"
import { Program } from "../manager/Program.ts"
import type * as Settings from "../manager/settings.ts"
import { isOn } from "../manager/settings/controllers.ts"
import * as Election from "../leader/Election.ts"
import * as Renewer from "../manager/renewal/Renewer.ts"

/** Whether an election is possible on some cluster: then its settings must be valid. */
export const mayLead = ({ leaderElect }: Settings.Settings): boolean => Option.getOrElse(leaderElect, () => true)

export interface Lease {
  readonly namespace: string
  readonly name: string
  /** False: the group leads at once, without an election. */
  readonly isElected: boolean
}

/** The fields of a cluster that determine the Leases. */
export type Place = Pick<Clusters.Connected, "embedded" | "namespace">

/**
 * Custom controllers use an election only if a setting enables it. Core controllers would conflict with another controller manager, so on a real
 * cluster they lead under its Lease unless election is turned off explicitly. The embedded cluster has no other controller manager.
 */
export const leasesOf = (settings: Settings.Settings, cluster: Place): Record<"own" | "core", Lease> => ({
  own: {
    namespace: Option.getOrElse(settings.leaseNamespace, () => cluster.namespace),
    name: settings.leaseName,
    isElected: Option.getOrElse(settings.leaderElect, () => false)
  },
  core: {
    namespace: settings.coreLeaseNamespace,
    name: settings.coreLeaseName,
    isElected: Option.getOrElse(settings.leaderElect, () => !cluster.embedded)
  }
})

/** Renewals must not be delayed, so the client of the election has no rate limit and no dry run and is not shared. */
export const leadership = Effect.fnUntraced(function* (settings: Settings.Settings, cluster: Clusters.Connected) {
  const program = yield* Program
  const identity = yield* Clusters.identity(hostname())
  const keeper = isOn(settings, "RenewalThread")
    ? yield* Renewer.find(cluster.endpoint, `${program.name}/${program.version} leader-election`)
    : undefined
  const layerOf = ({ isElected, name, namespace }: Lease) =>
    isElected
      ? Layer.provide(
          Election.layer({ ...election(settings, identity), name, namespace, keeper }),
          KubeClient.layerWith({ fieldManager: program.name })
        )
      : Leadership.layerAlways
  const { core, own } = leasesOf(settings, cluster)
  const leader = Context.get(yield* Layer.build(layerOf(own)), Leadership)
  return {
    // Waits for the sample objects: a scheduled controller would otherwise find the embedded cluster empty until its next run.
    own: Leadership.of({ ...leader, acquire: Effect.andThen(cluster.populated, leader.acquire) }),
    core: Context.get(yield* Layer.build(layerOf(core)), Leadership)
  }
})

export const election = (settings: Settings.Settings, identity: string): Election.Options => ({
  identity,
  name: settings.leaseName,
  namespace: "default",
  leaseDuration: settings.leaseDuration,
  renewDeadline: settings.renewDeadline,
  retryPeriod: settings.retryPeriod,
  releaseOnStop: settings.leaseRelease
})
