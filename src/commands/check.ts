/** The command that asks whether the program could run. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Discovery } from "../layers/Discovery.ts"
import { KubeClient } from "../layers/KubeClient.ts"
import * as Check from "../layers/manager/check/Check.ts"
import * as CheckTable from "../layers/manager/check/table.ts"
import type { Host } from "../layers/manager/process/Host.ts"
import type * as Roster from "../layers/manager/roster.ts"
import { options } from "../layers/manager/settings/cache.ts"
import { holders } from "../layers/manager/webhooks/holders.ts"
import { accountOf } from "./identities.ts"
import * as Leases from "./leases.ts"
import { connect, ledBy, type Resolved, tableOf } from "./selection.ts"
import { certificatesOf, served } from "./webhooks.ts"

/** The controllers could not work as things are; the table has said why. */
class CheckFailed extends Data.TaggedError("CheckFailed")<{ readonly message: string }> {}

/** Whether somebody has to be asked who may read metrics. */
const isSecure = ({ values }: Resolved): boolean => values.metricsSecure && values.metricsAddress !== undefined

/** The same settings and the same cluster as `run`, but only questions. */
export const check = (host: Host, resolved: Resolved) =>
  Effect.gen(function* () {
    const table = yield* tableOf(resolved)
    const { cluster, selection } = yield* connect(host, resolved, table)
    const { core, own } = Leases.leasesOf(resolved.values, cluster)
    const contended = (lease: Leases.Lease, group: Roster.Entry["group"]) =>
      lease.isElected && ledBy(selection, group).some((controller) => controller.needsLeader) ? [lease] : []
    const findings = yield* Check.run({
      server: cluster.server,
      controllers: [
        ...selection.chosen.map((entry) => ({
          who: entry.controller.name,
          access: entry.controller.access,
          account: accountOf(resolved.values, entry)
        })),
        ...holders(served(resolved.values, selection.chosen))
      ],
      leases: [...contended(core, "core"), ...contended(own, undefined)],
      namespaces: options(resolved.values).namespaces,
      secureMetrics: isSecure(resolved),
      certificates: yield* certificatesOf(resolved, cluster, selection)
    }).pipe(
      Effect.provide(Discovery.layer.pipe(Layer.provideMerge(KubeClient.layer), Layer.provideMerge(cluster.transport)))
    )
    host.stdout.write(`${CheckTable.render(findings)}\n`)
    const verdict = CheckTable.verdict(findings)
    if (verdict !== undefined) return yield* new CheckFailed({ message: verdict })
  }).pipe(Effect.scoped)
