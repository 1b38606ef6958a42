/**
 * resourcequota: tells in the status of each quota how much of what it limits is used, so that what is freed can be used again. Quotas are
 * enforced by the API server, which charges what it lets in. Which kinds there are to count is learned from discovery. What a sync does is
 * decided in `resourcequota/`; here is what it reads and may do. Source: pkg/controller/resourcequota.
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
import * as Loop from "./resourcequota/loop.ts"

export interface Options {
  /** `--concurrent-resource-quota-syncs`, 5: so many quotas that are told of for the first time, and so many others, are synced at once. */
  readonly concurrency?: number | undefined
  /** How often everything is counted anew: `--resource-quota-sync-period`, 5 minutes. */
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

/** Whether quotas look into the objects of the kind. */
const isWhole = (kind: Names.Counted): boolean => Usage.isMeasured(kind) || Names.isSame(kind, Names.deviceClasses)

export const make = ({ concurrency = 5, syncPeriod = "5 minutes" }: Options = {}) =>
  Controller.stateful({
    name,
    queue: "resourcequota_primary",
    metrics: Loop.families,
    component: "resourcequota-controller",
    for: ResourceQuota,
    access: [Access.read(ResourceQuota), Access.update(ResourceQuota, "status"), Access.read(Resource.anything)],
    // The reference has two queues with so many workers each; here one queue puts the same keys first.
    concurrency: 2 * concurrency,
    // A decision on a stale cache is a wrong one: a sync waits for what the last one wrote.
    ownWritesLimit: "5 minutes",
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
