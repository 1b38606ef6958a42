/** Sharding as the settings ask for it. Effect Cluster is loaded only if replicas share the work. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { hostname } from "node:os"
import { randomUUID } from "node:crypto"
import * as Access from "../kube/Access.ts"
import { Cache } from "../layers/Cache.ts"
import { KubeClient } from "../layers/KubeClient.ts"
import { isLed } from "../layers/Shards.ts"
import type { Holder } from "../manager/permissions.ts"
import { Program } from "../manager/Program.ts"
import * as Registry from "../manager/registry.ts"
import { dividedCache } from "../manager/settings/sharding.ts"
import type * as Settings from "../manager/settings.ts"
import type * as Clusters from "./cluster/clusters.ts"
import * as Leases from "./leases.ts"
import { ledBy, type Selection } from "./selection.ts"

/** The Leases of the shards; undefined if the work is not divided. */
export const placeOf = (settings: Settings.Settings, cluster: Leases.Place) => {
  const { name, namespace } = Leases.leasesOf(settings, cluster).own
  return settings.sharding ? { name: `${name}-shards`, namespace } : undefined
}

/**
 * The shards of this process. Its requests have no rate limit, as renewals must not wait, and its cache is not restricted to the namespaces of the
 * controllers.
 */
export const layer = (settings: Settings.Settings, cluster: Clusters.Connected) => {
  const place = placeOf(settings, cluster)
  if (place === undefined) return Layer.empty
  const divided = Effect.gen(function* () {
    const { name } = yield* Program
    const HeldShards = yield* Effect.promise(() => import("../manager/shards/HeldShards.ts"))
    const { leaseDuration: expiration, shards } = settings
    const address = `${hostname()}-${randomUUID().slice(0, 8)}`
    return HeldShards.layerLeases({ ...place, address, expiration, shards }).pipe(
      Layer.provide(Cache.layer()),
      Layer.provide(KubeClient.layerWith({ fieldManager: name }))
    )
  })
  return Layer.fresh(Layer.unwrap(divided))
}

/** What reads from the cache: a controller or a webhook. */
export interface Reader extends Pick<Holder, "who" | "access"> {
  /** As in `Controller.Descriptor`. A webhook reviews objects of all namespaces. */
  readonly staysInNamespace?: boolean | undefined
}

/** What would miss objects if the cache had the namespaces of the replica's shards alone. */
const readsElsewhere = ({ access, staysInNamespace }: Reader): boolean =>
  staysInNamespace !== true && Access.reads(access).some(({ scope }) => scope === "Namespaced")

/**
 * Fails if sharding cannot be meant: no controller is divided, one would run on all replicas that must run on one, or one would miss what it reads.
 * `readers`: the chosen controllers and their webhooks.
 */
export const checked = (
  settings: Settings.Settings,
  cluster: Leases.Place,
  selection: Selection,
  readers: ReadonlyArray<Reader>
) => {
  if (!settings.sharding) return Effect.void
  const all = selection.chosen.map((entry) => entry.controller)
  const names = (some: typeof all) => some.map(({ name }) => `"${name}"`).join(", ")
  if (!all.some(({ sharded }) => sharded === true)) {
    return new Registry.RegistryError({
      message: `--sharding divides the objects of controllers that are declared with shardBy, and none of these is: ${names(all)}`
    })
  }
  const roaming = readers.filter(readsElsewhere).map(({ who }) => `"${who}"`)
  if (dividedCache(settings) !== undefined && roaming.length > 0) {
    return new Registry.RegistryError({
      message: `--sharding-cache=own is for controllers that are declared with staysInNamespace, and these are not: ${roaming.join(", ")}. Leave it out, or leave them out of --controllers`
    })
  }
  const leases = Leases.leasesOf(settings, cluster)
  const alone = ([undefined, "core"] as const).flatMap((group) =>
    leases[group ?? "own"].isElected ? [] : ledBy(selection, group).filter((one) => isLed(one, true))
  )
  return alone.length === 0
    ? Effect.void
    : new Registry.RegistryError({
        message: `--sharding runs several replicas, and of these controllers only one replica may run: ${names(alone)}. Add --leader-elect, or leave them out of --controllers`
      })
}
