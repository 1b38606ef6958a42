/**
 * endpoint: keeps all ready addresses behind a Service in one object of its name, at most a thousand, for those who do not read slices. What a
 * sync does is decided in `endpoints/`, what it shares with `endpointslice` is in `services/`; here is what it reads and may do. Source:
 * spec F.2.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Access from "../kube/Access.ts"
import * as Key from "../kube/Key.ts"
import { Endpoints, Pod, Service } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import * as Reconcile from "../streams/reconcile/Reconcile.ts"
import type * as Trigger from "../streams/store/trigger.ts"
import * as Plan from "./endpoints/plan.ts"
import * as Sync from "./endpoints/sync.ts"
import * as Selection from "./shared/services/selection.ts"
import * as Watching from "./shared/services/triggers.ts"

export interface Options {
  /** How many Services are synced at once; 5 unless said otherwise. */
  readonly concurrency?: number | undefined
  /** How long changes of pods are gathered before they are written; none unless said otherwise. */
  readonly batchPeriod?: Duration.Duration | undefined
}

export const make = (options: Options = {}) =>
  Controller.stateful({
    name: "endpoint",
    metrics: Sync.families,
    component: "endpoint-controller",
    for: Service,
    access: [
      Access.read(Service),
      Access.read(Pod),
      Access.read(Endpoints),
      Access.create(Endpoints),
      Access.update(Endpoints),
      Access.remove(Endpoints),
      Access.record
    ],
    concurrency: options.concurrency ?? 5,
    retries: 15,
    // A decision on a stale cache is a wrong one: a sync waits for what the last one wrote.
    ownWritesLimit: "5 minutes",
    body: ({ client, events, queue, store }) =>
      Effect.sync(() => {
        const deps: Sync.Deps = {
          services: store(Service),
          pods: store(Pod),
          endpoints: store(Endpoints),
          create: (draft) => client.create(Endpoints, draft),
          update: (endpoints) => client.update(Endpoints, endpoints),
          remove: (endpoints) => client.delete(Endpoints, endpoints.metadata, sameObject(endpoints)),
          events
        }
        const table = Selection.makeTable()
        const sync = Sync.sync(deps, { table, times: new Map() })
        return {
          sources: [
            Controller.watch(Service, Watching.services(table)),
            Controller.watch(Pod, Watching.batched(Watching.pods(table), queue, options.batchPeriod), {
              indexes: [Selection.byLabel]
            }),
            Controller.watch(Endpoints, leftOver)
          ],
          reconcile: ({ key }) => Effect.as(sync(key), Reconcile.done)
        }
      })
  })

/** Of the object that is meant, and of no namesake. */
const sameObject = ({ metadata: { uid } }: Endpoints) => (uid === undefined ? {} : { preconditions: { uid } })

/**
 * Endpoints that were there before us may have lost their Service while nobody looked; those that somebody deletes are made anew. What others make or
 * change meanwhile is left to them.
 */
const leftOver: Trigger.Trigger<Endpoints> = (delta) => {
  const { object } = delta
  if (delta._tag === "Deleted") return [Key.of(object)]
  const wasThere = delta._tag === "Created" && delta.initial
  return wasThere && object.metadata.annotations?.[Plan.leader] === undefined ? [Key.of(object)] : none
}

const none: ReadonlyArray<Key.Key> = []
