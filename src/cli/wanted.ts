/** What the chosen controllers and the program need on a cluster: what `check` asks for, and what the embedded cluster grants. */
import * as Effect from "effect/Effect"
import type * as Permissions from "../manager/permissions.ts"
import type * as Roster from "../manager/roster.ts"
import * as CacheSettings from "../manager/settings/cache.ts"
import { holders } from "../manager/webhooks/holders.ts"
import { accountOf } from "./identities.ts"
import * as Leases from "./leases.ts"
import { ledBy, type Resolved, type Selection } from "./selection.ts"
import { certificatesOf, served } from "./webhooks.ts"

export const wanted = Effect.fnUntraced(function* (resolved: Resolved, cluster: Leases.Place, selection: Selection) {
  const { values } = resolved
  const { core, own } = Leases.leasesOf(values, cluster)
  const contended = (lease: Leases.Lease, group: Roster.Entry["group"]) =>
    lease.isElected && ledBy(selection, group).some((controller) => controller.needsLeader) ? [lease] : []
  return {
    controllers: [
      ...selection.chosen.map((entry) => ({
        who: entry.controller.name,
        access: entry.controller.access,
        account: accountOf(values, entry)
      })),
      ...holders(served(values, selection.chosen))
    ],
    leases: [...contended(core, "core"), ...contended(own, undefined)],
    namespaces: CacheSettings.options(values).namespaces,
    // Somebody has to be asked who may read metrics.
    secureMetrics: values.metricsSecure && values.metricsAddress !== undefined,
    certificates: yield* certificatesOf(resolved, cluster, selection)
  } satisfies Permissions.Wanted
})
