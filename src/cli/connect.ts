/**
 * Connects to the cluster and selects the controllers for it. On the embedded cluster the program has the same permissions as in a real
 * installation.
 */
import * as Effect from "effect/Effect"
import * as Clusters from "./cluster/clusters.ts"
import { isLed } from "../layers/Shards.ts"
import { kindsOf } from "../manager/crds/report.ts"
import type { Host } from "../manager/process/Host.ts"
import { rolesOf } from "../manager/manifests/roles.ts"
import * as Permissions from "../manager/permissions.ts"
import { Program } from "../manager/Program.ts"
import * as Registry from "../manager/registry.ts"
import * as CacheSettings from "../manager/settings/cache.ts"
import { isConsoleReviewed } from "../manager/settings/servers.ts"
import { dividedCache } from "../manager/settings/sharding.ts"
import { accountOf } from "./identities.ts"
import * as Leases from "./leases.ts"
import * as Shards from "./shards.ts"
import { ledBy, type Resolved, type Selection, type Table } from "./selection.ts"
import { certificatesOf, served } from "./webhooks.ts"

/** `as`: `administrator` for commands that a user runs as an administrator on a real cluster. */
export const connect = Effect.fnUntraced(function* (
  host: Host,
  resolved: Resolved,
  table: Table,
  as: "program" | "administrator"
) {
  const { controllers, demo } = resolved.values
  const { kinds } = yield* Program
  const embedded = yield* Effect.fromResult(Registry.select(table, controllers, { embedded: true }))
  const there = embedded.chosen.map((entry) => entry.controller)
  const cluster = yield* Clusters.connect(resolved, host.env, {
    serviceAccounts: there.some(({ name }) => name === "serviceaccount"),
    resourceQuotas: there.some(({ name }) => name === "resourcequota"),
    // The demo has resources of controllers that may not be chosen.
    kinds: kindsOf(demo === "shop" ? table.map(({ controller }) => controller) : there, kinds),
    account: as === "administrator" ? undefined : installed(resolved, embedded)
  })
  return { cluster, selection: yield* Effect.fromResult(Registry.select(table, controllers, cluster)) }
})

/**
 * The account and the roles that `manifests` prints. Permissions for namespaced objects are granted in all namespaces, because a namespace that
 * does not exist yet cannot have a role.
 */
const installed = Effect.fnUntraced(function* (resolved: Resolved, selection: Selection) {
  const { name } = yield* Program
  const { namespaces, ...needs } = yield* wanted(resolved, { embedded: true, namespace }, selection)
  const anywhere = namespaces !== undefined && "labels" in namespaces ? namespaces : []
  const permissions = Permissions.needed({ ...needs, namespaces: anywhere })
  return {
    name,
    roles: [
      ...rolesOf(name, { name, namespace, permissions }, {}),
      ...Permissions.accounts(needs.controllers).flatMap((account) =>
        rolesOf(`${name}-${account.name}`, { ...account, namespace }, {})
      )
    ]
  } satisfies Clusters.Account
})

/** The chosen controllers and the webhooks that are served. */
export const readersOf = (
  values: Resolved["values"],
  { chosen }: Selection,
  kinds: Parameters<typeof served>[1]
): ReadonlyArray<Permissions.Holder & Shards.Reader> => [
  ...chosen.map((entry) => ({
    who: entry.controller.name,
    access: entry.controller.access,
    staysInNamespace: entry.controller.staysInNamespace,
    account: accountOf(values, entry)
  })),
  ...Permissions.holders(served(values, [...chosen, ...kinds]))
]

/** What the chosen controllers and the program need on a cluster: what `check` reviews, and what the embedded cluster grants. */
export const wanted = Effect.fnUntraced(function* (resolved: Resolved, cluster: Leases.Place, selection: Selection) {
  const { values } = resolved
  const { kinds } = yield* Program
  const { core, own } = Leases.leasesOf(values, cluster)
  const contended = (lease: Leases.Lease, group: Registry.Entry["group"]) =>
    lease.isElected && ledBy(selection, group).some((controller) => isLed(controller, values.sharding)) ? [lease] : []
  return {
    controllers: readersOf(values, selection, kinds),
    leases: [...contended(core, "core"), ...contended(own, undefined)],
    shards: Shards.placeOf(values, cluster),
    isCacheDivided: dividedCache(values) !== undefined,
    namespaces: CacheSettings.options(values).namespaces,
    // Reading metrics, or a console that others can reach, requires reviews by the API server.
    secureMetrics: (values.metricsSecure && values.metricsAddress !== undefined) || isConsoleReviewed(values),
    certificates: yield* certificatesOf(resolved, cluster, selection)
  } satisfies Permissions.Wanted
})

/** The namespace of all accounts of the program. */
const namespace = "kube-system"
