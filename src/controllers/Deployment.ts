/**
 * deployment: rolls out pod templates. Each template gets a ReplicaSet; the controller moves replicas from the old
 * ReplicaSets to the new one within the bounds of the strategy and reports progress. It never writes pods.
 * `deployment/` decides and applies; this file holds the watches, the permissions and the API calls. Source:
 * pkg/controller/deployment: syncDeployment.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Access from "../kube/Access.ts"
import * as ApiError from "../kube/ApiError.ts"
import * as Key from "../kube/Key.ts"
import { Deployment, Pod, ReplicaSet } from "../kube/resources.ts"
import * as Selector from "../kube/Selector.ts"
import * as Controller from "../layers/Controller.ts"
import * as Reconcile from "../streams/reconcile/Reconcile.ts"
import * as Trigger from "../streams/store/trigger.ts"
import * as Path from "./deployment/plan/plan.ts"
import type { Deps } from "./deployment/deps.ts"
import * as Sync from "./deployment/sync.ts"
import * as Triggers from "./deployment/triggers.ts"
import * as Adopt from "./shared/workload/adopt.ts"
import * as Indexes from "./shared/workload/indexes.ts"
import * as KeptField from "./shared/workload/statusWriter.ts"

export interface Options {
  /** How many Deployments are synced at once. Default: 5. */
  readonly concurrency?: number | undefined
}

export const make = (options: Options = {}) =>
  Controller.stateful({
    name: "deployment",
    component: "deployment-controller",
    for: Deployment,
    access,
    concurrency: options.concurrency ?? 5,
    // A decision on a stale cache is wrong, so a sync waits until the cache shows the last sync's writes, at most as
    // long as expectations live.
    readYourWritesLimit: "5 minutes",
    retries: 15,
    body: (tools) =>
      Effect.sync(() => {
        const stores: Triggers.Stores = {
          deployments: tools.store(Deployment),
          sets: tools.store(ReplicaSet),
          pods: tools.store(Pod)
        }
        return {
          sources: [
            Controller.watch(Deployment, Trigger.self),
            Controller.watch(ReplicaSet, Triggers.replicaSets(stores), { indexes: Indexes.both }),
            Controller.watch(Pod, Triggers.pods(stores), { indexes: [Indexes.byController] })
          ],
          reconcile: reconcile(stores, tools)
        }
      })
  })

const access = [
  Access.read(Deployment),
  Access.own(Deployment),
  Access.get(Deployment),
  Access.update(Deployment),
  Access.update(Deployment, "status"),
  Access.read(ReplicaSet),
  Access.get(ReplicaSet),
  Access.create(ReplicaSet),
  Access.update(ReplicaSet),
  Access.patch(ReplicaSet),
  Access.remove(ReplicaSet),
  Access.read(Pod),
  Access.record
]

type Tools = Controller.BodyContext<(typeof access)[number]>

const reconcile = (stores: Triggers.Stores, tools: Tools) => {
  const deps = depsOf(tools)
  return Effect.fnUntraced(function* ({ key }: Controller.Request) {
    const deployment = stores.deployments.get(key)
    if (deployment === undefined) return Reconcile.done
    if (Path.selectsEverything(deployment)) {
      yield* Sync.refuse(deps, deployment)
      return Reconcile.done
    }
    const owned = yield* claim(stores, tools, deployment)
    const again = yield* Sync.run(deps, { deployment, owned, podsOf: (set) => Triggers.podsOf(stores, set) })
    if (again === undefined) return Reconcile.done
    if (again._tag === "After") return Reconcile.after(again.millis)
    tools.queue.addWithUnsafe(key, { rateLimited: true })
    return Reconcile.done
  }, forgetInTerminatingNamespace)
}

/** Nothing can be created in a terminating namespace, and the Deployment will be deleted too. */
const forgetInTerminatingNamespace = <E, R>(
  sync: Effect.Effect<Reconcile.Outcome, E, R>
): Effect.Effect<Reconcile.Outcome, E, R> =>
  Effect.catchIf(
    sync,
    (error) => ApiError.isApiError(error) && ApiError.isNamespaceTerminating(error),
    () => Effect.succeed(Reconcile.done)
  )

/** The ReplicaSets of the Deployment, after adoptions and releases. */
const claim = (stores: Triggers.Stores, { client }: Tools, deployment: Deployment) =>
  Effect.gen(function* () {
    const selector = yield* Effect.fromResult(
      Result.mapError(
        Selector.fromSpec(deployment.spec?.selector ?? {}),
        (why) => new Sync.InvalidSelector({ deployment: Key.of(deployment), why })
      )
    )
    return yield* Adopt.claim(
      {
        owner: deployment,
        resource: Deployment,
        matches: (set: ReplicaSet) => Selector.matchesLabels(selector, set.metadata.labels),
        live: client.get(Deployment, deployment.metadata),
        patch: (set, patch) => client.patch(ReplicaSet, set.metadata, patch)
      },
      [
        ...stores.sets.byIndex(Indexes.byController.name, deployment.metadata.uid ?? ""),
        ...stores.sets.byIndex(Indexes.orphans.name, deployment.metadata.namespace ?? "")
      ]
    )
  })

const depsOf = ({ client, events }: Tools): Deps => ({
  events,
  update: (deployment) => client.update(Deployment, deployment),
  updateStatus: (deployment) => client.subresource("status").update(Deployment, deployment),
  createSet: (draft) => client.create(ReplicaSet, draft),
  updateSet: (set) => client.update(ReplicaSet, set),
  removeSet: (set) => client.delete(ReplicaSet, set.metadata),
  liveSet: ({ metadata: { namespace } }, name) => client.get(ReplicaSet, { namespace, name }),
  terminatingReplicas: KeptField.make()
})
