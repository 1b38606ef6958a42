/**
 * resourcequota: writes to the status of each quota how much of its limits is used, so that freed capacity can be used again. The API server
 * enforces quotas and adds usage at admission. The kinds to count come from discovery. `resourcequota/` counts and decides. Source:
 * pkg/controller/resourcequota.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Access from "../kube/Access.ts"
import * as ApiError from "../kube/ApiError.ts"
import * as Names from "../kube/quota/names.ts"
import * as Usage from "../kube/quota/usage.ts"
import * as Resource from "../kube/Resource.ts"
import { ResourceQuota } from "../kube/resources.ts"
import { Cache } from "../layers/Cache.ts"
import * as Controller from "../layers/Controller.ts"
import { Discovery } from "../layers/Discovery.ts"
import { Supervisor } from "../layers/Supervisor.ts"
import * as Setting from "../layers/Setting.ts"
import * as Codecs from "../layers/setting/codecs.ts"
import * as Family from "../streams/reconcile/metricFamily.ts"
import * as Reconcile from "../streams/reconcile/Reconcile.ts"
import * as Plan from "./resourcequota/plan.ts"
import * as State from "./resourcequota/state.ts"
import * as Triggers from "./resourcequota/triggers.ts"
import * as Monitors from "./shared/kinds/monitors.ts"

export const settings = {
  concurrency: Setting.concurrency("concurrent-resource-quota-syncs", 5, "New ResourceQuotas, and as many others,"),
  syncPeriod: Setting.make(Codecs.interval, {
    name: "resource-quota-sync-period",
    group: "tuning",
    description: "Time after which the usage of all ResourceQuotas is recounted",
    default: "5m"
  })
}

export type Options = Setting.Options<typeof settings>

const access = [
  Access.read(ResourceQuota),
  Access.update(ResourceQuota, "status"),
  Access.read(Resource.anything)
] as const

const name = "resourcequota"

// The triggers add up the usage that the syncs write.
export const make = (options: Options = {}) =>
  Controller.stateful({
    name,
    queue: "resourcequota_primary",
    metrics: families,
    component: "resourcequota-controller",
    for: ResourceQuota,
    access,
    // kube-controller-manager has two queues with this many workers each; here one queue gives keys of the second queue a higher priority.
    concurrency: 2 * Setting.orDefault(options.concurrency, settings.concurrency),
    // A sync waits until the cache holds its last write.
    readYourWritesLimit: "5 minutes",
    body: Effect.fnUntraced(function* ({ causes, client, queue, store }) {
      const clock = yield* Clock.Clock
      const now = () => clock.currentTimeMillisUnsafe()
      const quotas = store(ResourceQuota)
      const state = State.make()
      const triggers = Triggers.make({ quotas, queue, causes, now }, state)
      const monitors = yield* Monitors.make({
        cache: yield* Cache,
        discovery: yield* Discovery,
        wanted,
        isWhole,
        listener: ({ resource, store: objects }) => triggers.watch(resource, objects),
        onSynced: ({ resource }) => triggers.onSynced(resource),
        onStopped: triggers.onStopped
      })
      const period = Setting.orDefault(options.syncPeriod, settings.syncPeriod)
      const recount = Effect.schedule(Effect.sync(triggers.recountAll), Schedule.spaced(period))
      yield* (yield* Supervisor).fork(
        name,
        Effect.gen(function* () {
          yield* Monitors.first(monitors, "nothing is counted yet")
          triggers.begin()
          yield* Effect.all([Monitors.forever(monitors), recount], { concurrency: "unbounded", discard: true })
        })
      )
      return {
        sources: [Controller.watch(ResourceQuota, triggers.onQuota)],
        reconcile: Effect.fnUntraced(function* ({ key }) {
          const quota = quotas.get(key)
          if (quota === undefined) state.freeing.delete(key)
          if (quota === undefined || !state.hasBegun) return Reconcile.done
          const { namespace = "" } = quota.metadata
          if (state.stale.delete(namespace)) state.recount(namespace, now())
          const ledger = state.ledgers.get(namespace)
          for (const freed of ledger?.expire(now()) ?? []) {
            if (freed === key) state.freeing.add(key)
            else triggers.enqueue(freed)
          }
          const mayFree = state.freeing.delete(key)
          const due = ledger?.nextExpiry
          yield* Effect.onError(apply(client, Plan.plan({ quota, usedOf: state.usedOf(quota), mayFree })), () =>
            // The usage still has to be lowered.
            Effect.sync(() => (mayFree ? state.freeing.add(key) : undefined))
          )
          return due === undefined ? Reconcile.done : Reconcile.after(Math.max(0, due - now()))
        })
      }
    })
  })

/** Source: GetQuotableResources. */
const wanted: Monitors.Wanted = {
  verbs: ["create", "list", "watch", "delete"],
  ignored: Names.ignored,
  scope: "Namespaced",
  also: [Names.idOf(Names.deviceClasses)]
}

/** Whether usage depends on the content of objects of the kind, so that a metadata-only informer is not enough. */
const isWhole = (kind: Names.Counted): boolean => Usage.isMeasured(kind) || Names.isSame(kind, Names.deviceClasses)

type Client = Controller.Client<(typeof access)[number]>

const apply = Effect.fnUntraced(function* (client: Client, plan: Plan.Plan) {
  if (plan._tag === "Done") return
  const { quota, reasons } = plan
  yield* ApiError.unlessGone(client.subresource("status").update(ResourceQuota, quota))
  yield* Effect.forEach(reasons, (reason) => updates.add(1, { reason }), { discard: true })
  const { used = {} } = quota.status ?? {}
  yield* Effect.annotateLogs(Effect.logDebug("Wrote what is used of a quota"), {
    reasons: reasons.join(),
    used: Object.entries(used)
      .map(([name, amount]) => `${name}=${amount}`)
      .join()
  })
})

const updates = Family.counter(
  "resourcequota_controller_status_updates_total",
  "Status updates of ResourceQuotas, by reason; an update with several reasons counts for each",
  ["reason"]
)

const families = [updates]
