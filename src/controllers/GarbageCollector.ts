/**
 * Deletes objects without an existing owner, and completes deletions with foreground or orphan propagation. One graph
 * of all objects is fed by an informer for each resource that discovery lists; its findings go to two queues, whose
 * workers check the objects on the server and delete with preconditions. No worker starts before the graph is complete.
 * Source: pkg/controller/garbagecollector: GarbageCollector.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Access from "../kube/Access.ts"
import * as ApiError from "../kube/ApiError.ts"
import type { KubeObject } from "../kube/Meta.ts"
import * as Resource from "../kube/Resource.ts"
import { Cache } from "../layers/Cache.ts"
import type { Descriptor } from "../layers/Controller.ts"
import { Defaults } from "../layers/controller/defaults.ts"
import * as Log from "../layers/controller/log.ts"
import { registerStallCheck } from "../layers/controller/loop.ts"
import { Discovery } from "../layers/Discovery.ts"
import { Inspection } from "../layers/Inspection.ts"
import { KubeClient } from "../layers/KubeClient.ts"
import { type EventSink, Recorder } from "../layers/Recorder.ts"
import * as Shutdown from "../layers/Shutdown.ts"
import { Supervisor } from "../layers/Supervisor.ts"
import * as Setting from "../layers/Setting.ts"
import type { Delta } from "../streams/store/Store.ts"
import * as KeyedQueue from "../streams/queue/KeyedQueue.ts"
import * as TokenBucket from "../streams/queue/tokenBucket.ts"
import * as LoopMetrics from "../streams/reconcile/loopMetrics.ts"
import * as Family from "../streams/reconcile/metricFamily.ts"
import * as Reconcile from "../streams/reconcile/Reconcile.ts"
import * as AttemptToDelete from "./garbagecollector/attemptToDelete.ts"
import * as AttemptToOrphan from "./garbagecollector/attemptToOrphan.ts"
import * as Dot from "./garbagecollector/dot.ts"
import * as Graph from "./garbagecollector/graph.ts"
import * as Identity from "./garbagecollector/identity.ts"
import * as Objects from "./garbagecollector/objects.ts"
import * as Monitors from "./shared/kinds/monitors.ts"

export const settings = {
  concurrency: Setting.concurrency("concurrent-gc-syncs", 20, "Objects that the garbage collector has")
}

export type Options = Setting.Options<typeof settings>

const access = [
  Access.read(Resource.anything),
  Access.get(Resource.anything),
  Access.patch(Resource.anything),
  Access.remove(Resource.anything),
  Access.record
] as const

const name = "garbagecollector"
const component = "garbage-collector-controller"

/** Source: pkg/controller/garbagecollector: NewDependencyGraphBuilder. */
const queueNames = {
  toDelete: "garbage_collector_attempt_to_delete",
  toOrphan: "garbage_collector_attempt_to_orphan"
} as const

// No form of `Controller`: two queues share one graph, and the kinds to watch are known only after discovery.
export const make = (options: Options = {}): Descriptor<Discovery> => ({
  name,
  access,
  // Unknown before discovery; the informers start with the controller.
  reads: [],
  needsLeader: true,
  queues: Object.values(queueNames),
  metrics: [syncErrors],
  debug: {
    graph: "the graph of owner references in the DOT language; ?uid= limits it to the objects connected with one"
  },
  layer: layer(options)
})

/** Source: pkg/controller/garbagecollector: absentOwnerCache. */
const absentOwnersKept = 500

/**
 * Source: pkg/controller/garbagecollector: GetDeletableResources; DefaultIgnoredResources: no owner reference names an
 * event.
 */
const wanted: Monitors.Wanted = {
  verbs: ["delete", "list", "watch"],
  ignored: ["events", "events.events.k8s.io"],
  scope: "Any"
}

const layer = (options: Options) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      // Both queues and their workers are one controller in the loop metrics.
      const metrics = yield* LoopMetrics.of(name)
      const counted = { toDelete: metrics.queue(queueNames.toDelete), toOrphan: metrics.queue(queueNames.toOrphan) }
      const queues = {
        toDelete: yield* queue(queueNames.toDelete, counted.toDelete),
        toOrphan: yield* queue(queueNames.toOrphan, counted.toOrphan)
      }
      yield* registerStallCheck(name, metrics, undefined)
      const graphBuilder = yield* makeGraphBuilder(queues)
      yield* (yield* Inspection).pages.show({
        controller: name,
        name: "graph",
        contentType: "text/vnd.graphviz; charset=utf-8",
        read: (query) => Effect.sync(() => Dot.render(graphBuilder.graph, query.getAll("uid")))
      })
      const monitors = counting(
        yield* Monitors.make({
          cache: yield* Cache,
          discovery: yield* Discovery,
          wanted,
          listener:
            ({ resource }) =>
            (deltas) =>
              graphBuilder.processEvents(deltas.map(eventOf(resource))),
          onStopped: (resource) =>
            graphBuilder.processEvents([
              { _tag: "Unwatched", apiVersion: Resource.apiVersion(resource), kind: resource.kind }
            ])
        })
      )
      const drain = yield* Shutdown.enlist({
        name,
        metrics,
        stop: Effect.andThen(queues.toDelete.shutdown, queues.toOrphan.shutdown),
        idle: Effect.andThen(queues.toDelete.idle, queues.toOrphan.idle)
      })
      const work = yield* workers(queues, graphBuilder, {
        concurrency: Setting.orDefault(options.concurrency, settings.concurrency),
        counted
      })
      yield* (yield* Supervisor).fork(
        name,
        Effect.gen(function* () {
          yield* Monitors.first(monitors, "nothing is collected yet")
          yield* graphBuilder.begin
          yield* Effect.all([...work, Monitors.forever(monitors)], {
            concurrency: "unbounded",
            discard: true
          })
        })
      )
      // Finalizers run in reverse order: workers finish their objects before their fiber is interrupted.
      yield* Effect.addFinalizer(drain)
    }).pipe(Effect.annotateLogs({ controller: name }))
  )

/** Source: pkg/controller/garbagecollector: Sync. */
const counting = (monitors: Monitors.Monitors): Monitors.Monitors => ({
  ...monitors,
  refresh: monitors.refresh.pipe(
    Effect.tapError(() => syncErrors.add(1)),
    Effect.tap(({ listed, unsynced }) => (listed === 0 || unsynced.length > 0 ? syncErrors.add(1) : Effect.void))
  )
})

const eventOf = (resource: Resource.Any) => {
  const apiVersion = Resource.apiVersion(resource)
  return (delta: Delta<KubeObject>): Graph.Event => {
    const identity = Identity.of(apiVersion, resource.kind, delta.object)
    return delta._tag === "Deleted"
      ? { _tag: "Deleted", uid: identity.uid, watched: !delta.stateUnknown }
      : { _tag: "Observed", identity, metadata: delta.object.metadata }
  }
}

const queue = (name: string, metrics: LoopMetrics.QueueMetrics) =>
  KeyedQueue.make({ name, bucket: TokenBucket.clientGo, metrics })

interface Queues {
  readonly toDelete: KeyedQueue.KeyedQueue
  readonly toOrphan: KeyedQueue.KeyedQueue
}

/**
 * Applies events to the graph, synchronously in the caller, and enqueues the findings. Source:
 * pkg/controller/garbagecollector: GraphBuilder.
 */
const makeGraphBuilder = Effect.fnUntraced(function* (queues: Queues) {
  const graph = Graph.make()
  const absentOwners = AttemptToDelete.absentOwners(absentOwnersKept)
  const events = (yield* Recorder).named(component)
  const run = Effect.runForkWith(yield* Effect.context())
  /** Until the first sync: owners that references name and no informer has observed yet. Most of them are observed by its end. */
  let unseen: Set<Identity.Uid> | undefined = new Set()

  const processEvents = (graphEvents: ReadonlyArray<Graph.Event>): void => {
    const found = graph.apply(graphEvents)
    for (const identity of found.absent) absentOwners.add(identity)
    queues.toDelete.addAllUnsafe(found.toDelete)
    queues.toOrphan.addAllUnsafe(found.toOrphan)
    if (unseen === undefined) queues.toDelete.addAllUnsafe(found.toVerify)
    else for (const uid of found.toVerify) unseen.add(uid)
    for (const one of found.misplaced) run(reportMisplaced(events, one))
  }

  const begin = Effect.sync(() => {
    for (const uid of unseen ?? []) if (graph.get(uid)?.observed === false) queues.toDelete.addUnsafe(uid)
    unseen = undefined
  })
  return { graph, absentOwners, processEvents, begin }
})

const reportMisplaced = (events: EventSink, { dependent, reference }: Graph.Misplaced) => {
  const { apiVersion, kind, name, namespace, uid } = dependent
  const owner = Identity.show(Identity.named(reference, namespace))
  return events.warning(
    { apiVersion, kind, metadata: { name, uid, ...(namespace === "" ? {} : { namespace }) } },
    "OwnerRefInvalidNamespace",
    `ownerRef ${owner} does not exist in namespace ${JSON.stringify(namespace)}`
  )
}

/** A virtual node is still virtual after the check: it is retried until it is observed or proven absent. */
class Unobserved extends Data.TaggedError("Unobserved")<{}> {
  override readonly message = "no informer has observed the owner yet"
}

/** The object that could not be processed, and why. */
class CollectError extends Data.TaggedError("CollectError")<{
  readonly identity: Identity.Identity
  readonly cause: Objects.Failure | AttemptToOrphan.NotReleased | Unobserved
}> {
  override get message(): string {
    return `${Identity.show(this.identity)}: ${this.cause.message}`
  }
}

type GraphBuilder = Effect.Success<ReturnType<typeof makeGraphBuilder>>

interface Working {
  /** Per queue. */
  readonly concurrency: number
  readonly counted: Readonly<Record<keyof Queues, LoopMetrics.QueueMetrics>>
}

const workers = Effect.fnUntraced(function* (
  queues: Queues,
  graphBuilder: GraphBuilder,
  { concurrency, counted }: Working
) {
  const { absentOwners, graph } = graphBuilder
  const objects = Objects.make(yield* KubeClient, yield* Discovery)
  const remove = AttemptToDelete.attempt({
    graph,
    absentOwners,
    objects,
    processEvent: (event) => graphBuilder.processEvents([event]),
    examine: (uids) => queues.toDelete.addAllUnsafe(uids)
  })
  const orphan = AttemptToOrphan.attempt({ graph, objects })
  const observe = yield* observer
  const { recoversDefects } = yield* Defaults

  const work = (from: keyof Queues, attempt: (node: Graph.Node) => Effect.Effect<void, CollectError["cause"]>) =>
    Reconcile.run(queues[from], {
      concurrency,
      metrics: counted[from],
      recoverDefects: recoversDefects,
      timeout: "none",
      observe,
      reconcile: (uid) => {
        const node = graph.get(uid)
        if (node === undefined) return Effect.void
        const { identity } = node
        return Effect.mapError(attempt(node), (cause) => new CollectError({ identity, cause }))
      }
    })

  const removeOrRetry = (node: Graph.Node) =>
    remove(node).pipe(
      Effect.andThen(
        Effect.suspend(() =>
          graph.get(node.identity.uid)?.observed === false ? Effect.fail(new Unobserved()) : Effect.void
        )
      ),
      Effect.catchTag("MisplacedOwner", (error) => Effect.logDebug(`${Identity.show(node.identity)}: ${error.message}`))
    )
  return [work("toDelete", removeOrRetry), work("toOrphan", orphan)]
})

/** Failures that another actor resolves are logged once or not at all, all others as in any controller. */
const observer = Effect.map(Log.observer, (log) => (event: Reconcile.RunEvent<Identity.Uid, CollectError>) => {
  if (event._tag !== "Failed" || !isWaiting(event.error.cause, event.attempt)) log(event)
})

const isWaiting = (cause: CollectError["cause"], attempt: number): boolean => {
  switch (cause._tag) {
    case "Unobserved":
      return true
    case "NotServed":
      return attempt > 1
    case "ApiError":
      return attempt <= 3 && ApiError.hasReason(cause, "Conflict")
    default:
      return false
  }
}

const syncErrors = Family.counter(
  "garbagecollector_controller_resources_sync_error_total",
  "Refreshes of the watched resources that failed, found no resource, or found one whose cache did not sync in time"
)
