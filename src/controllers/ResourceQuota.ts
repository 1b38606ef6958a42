/**
 * resourcequota: writes to the status of each quota how much of its limits is used, so that freed capacity can be used again. The API server
 * enforces quotas and adds usage at admission. The kinds to count come from discovery. The sync is in `resourcequota/`; this file declares what it
 * reads and writes. Source: pkg/controller/resourcequota.
 */
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Access from "../kube/Access.ts"
import * as Names from "../kube/quota/names.ts"
import * as Usage from "../kube/quota/usage.ts"
import * as Resource from "../kube/Resource.ts"
import { ResourceQuota } from "../kube/resources.ts"
import { Cache } from "../layers/Cache.ts"
import * as Controller from "../layers/Controller.ts"
import { Discovery } from "../layers/Discovery.ts"
import { Supervisor } from "../layers/Supervisor.ts"
import * as Monitors from "./shared/kinds/monitors.ts"
import * as Loop from "./resourcequota/triggers.ts"

export interface Options {
  /** `--concurrent-resource-quota-syncs`, 5: workers for new quotas, and as many for all others. */
  readonly concurrency?: number | undefined
  /** How often all usage is recounted: `--resource-quota-sync-period`, 5 minutes. */
  readonly syncPeriod?: Duration.Input | undefined
}

const name = "resourcequota"

/** Source: GetQuotableResources. */
const wanted: Monitors.Wanted = {
  verbs: ["create", "list", "watch", "delete"],
  ignored: Names.ignored,
  scope: "Namespaced",
  also: [Names.idOf(Names.deviceClasses)]
}

/** Whether usage depends on the content of objects of the kind, so that a metadata-only informer is not enough. */
const isWhole = (kind: Names.Counted): boolean => Usage.isMeasured(kind) || Names.isSame(kind, Names.deviceClasses)

export const make = ({ concurrency = 5, syncPeriod = "5 minutes" }: Options = {}) =>
  Controller.stateful({
    name,
    queue: "resourcequota_primary",
    metrics: Loop.families,
    component: "resourcequota-controller",
    for: ResourceQuota,
    access: [Access.read(ResourceQuota), Access.update(ResourceQuota, "status"), Access.read(Resource.anything)],
    // kube-controller-manager has two queues with this many workers each; here one queue gives keys of the second queue a higher priority.
    concurrency: 2 * concurrency,
    // A sync waits until the cache holds its last write.
    readYourWritesLimit: "5 minutes",
    body: Effect.fnUntraced(function* ({ client, queue, store }) {
      const clock = yield* Clock.Clock
      const loop = Loop.make({
        quotas: store(ResourceQuota),
        updateStatus: (quota) => client.subresource("status").update(ResourceQuota, quota),
        queue,
        now: () => clock.currentTimeMillisUnsafe()
      })
      const monitors = yield* Monitors.make({
        cache: yield* Cache,
        discovery: yield* Discovery,
        wanted,
        isWhole,
        listener: ({ resource, store: objects }) => loop.watch(resource, objects),
        onSynced: ({ resource }) => loop.onSynced(resource),
        onStopped: loop.onStopped
      })
      const recount = Effect.schedule(Effect.sync(loop.recountAll), Schedule.spaced(syncPeriod))
      yield* (yield* Supervisor).fork(
        name,
        Effect.gen(function* () {
          yield* Monitors.first(monitors, "nothing is counted yet")
          loop.begin()
          yield* Effect.all([Monitors.forever(monitors), recount], { concurrency: "unbounded", discard: true })
        })
      )
      return { sources: [Controller.watch(ResourceQuota, loop.onQuota)], reconcile: loop.reconcile }
    })
  })
