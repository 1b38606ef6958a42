/** Under which leases the controllers lead, and the elections for them. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { hostname } from "node:os"
import { KubeClient } from "../layers/KubeClient.ts"
import { Leadership } from "../layers/Leadership.ts"
import * as Clusters from "../manager/cluster/clusters.ts"
import { Program } from "../manager/Program.ts"
import type * as Settings from "../manager/settings.ts"
import { isOn } from "../manager/settings/controllers.ts"
import * as Election from "../leader/Election.ts"
import * as Renewer from "../manager/renewal/Renewer.ts"

/** Whether an election is possible, on whichever cluster: then its settings must make sense. */
export const mayLead = ({ leaderElect }: Settings.Settings): boolean => Option.getOrElse(leaderElect, () => true)

export interface Lease {
  readonly namespace: string
  readonly name: string
  /** False: the group leads at once, without an election. */
  readonly isElected: boolean
}

/** What of a cluster decides over leases. */
export type Place = Pick<Clusters.Connected, "embedded" | "namespace">

/**
 * Our own controllers lead if asked to. Core loops would fight another controller manager, so on a real cluster they lead under
 * that program's lease unless it is explicitly turned off; the embedded cluster has no other. Source: architecture, decision 6.
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

/** A lease is held by being written in time, so its client has no rate limit and no dry run. It is not shared. */
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
    // What runs on a schedule would otherwise find the embedded cluster empty, and not look again for a while.
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
