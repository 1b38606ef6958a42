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
import * as Key from "../kube/Key.ts"
import type { KubeObject } from "../kube/Meta.ts"
import * as Resource from "../kube/Resource.ts"
import { Cache } from "../layers/Cache.ts"
import type { Descriptor } from "../layers/Controller.ts"
import { Defaults } from "../layers/controller/defaults.ts"
import * as CausedQueue from "../layers/controller/causedQueue.ts"
import { CurrentRun } from "../layers/controller/currentRun.ts"
import * as Log from "../layers/controller/log.ts"
import { registerStallCheck } from "../layers/controller/loop.ts"
import { Discovery } from "../layers/Discovery.ts"
import { Inspection } from "../layers/Inspection.ts"
import { KubeClient } from "../layers/KubeClient.ts"
import { type EventSink, Recorder } from "../layers/Recorder.ts"
import * as Shutdown from "../layers/Shutdown.ts"
import { Supervisor } from "../layers/Supervisor.ts"
import * as Setting from "../layers/Setting.ts"
import { Timeline } from "../layers/Timeline.ts"
import { because, type Cause } from "../streams/reconcile/cause.ts"
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
      const timeline = yield* Timeline
      const caused = {
        toDelete: CausedQueue.make(yield* queue(queueNames.toDelete, counted.toDelete), undefined, timeline),
        toOrphan: CausedQueue.make(yield* queue(queueNames.toOrphan, counted.toOrphan), undefined, timeline)
      }
      const queues = { toDelete: caused.toDelete.queue, toOrphan: caused.toOrphan.queue }
      /** The kinds that are watched or were, by their names in references. */
      const resources = new Map<string, Resource.Any>()
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
          listener: ({ resource }) => {
            const apiVersion = Resource.apiVersion(resource)
            const toEvent = eventOf(apiVersion, resource.kind)
            resources.set(`${apiVersion} ${resource.kind}`, resource)
            return (deltas) => {
              try {
                for (const delta of deltas) {
                  const { metadata } = delta.object
                  if (delta._tag === "Updated" && graphBuilder.graph.refresh(apiVersion, metadata)) continue
                  caused.toDelete.begin(resource, delta)
                  caused.toOrphan.begin(resource, delta)
                  graphBuilder.processEvent(toEvent(delta))
                }
              } finally {
                caused.toDelete.end()
                caused.toOrphan.end()
              }
            }
          },
          onStopped: (resource) =>
            graphBuilder.processEvent(
              { _tag: "Unwatched", apiVersion: Resource.apiVersion(resource), kind: resource.kind },
              because(`${resource.kind} is not watched any more`)
            )
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
        counted,
        timeline,
        resourceOf: ({ apiVersion, kind }) => resources.get(`${apiVersion} ${kind}`)
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

const eventOf =
  (apiVersion: string, kind: string) =>
  (delta: Delta<KubeObject>): Graph.Event => {
    const identity = Identity.of(apiVersion, kind, delta.object)
    return delta._tag === "Deleted"
      ? { _tag: "Deleted", uid: identity.uid, watched: !delta.stateUnknown }
      : { _tag: "Observed", identity, metadata: delta.object.metadata }
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

  const processEvent = (event: Graph.Event, cause?: Cause): void => {
    const found = graph.apply([event])
    for (const identity of found.absent) absentOwners.add(identity)
    // Most changes add no key, and then need no cause.
    if (found.toDelete.size > 0) queues.toDelete.addAllUnsafe(found.toDelete, 0, cause)
    if (found.toOrphan.size > 0) queues.toOrphan.addAllUnsafe(found.toOrphan, 0, cause)
    if (unseen !== undefined) for (const uid of found.toVerify) unseen.add(uid)
    else if (found.toVerify.size > 0) queues.toDelete.addAllUnsafe(found.toVerify, 0, cause)
    for (const one of found.misplaced) run(reportMisplaced(events, one))
  }

  const begin = Effect.sync(() => {
    for (const uid of unseen ?? []) if (Graph.isVirtual(graph.get(uid))) queues.toDelete.addUnsafe(uid, 0, named)
    unseen = undefined
  })
  return { graph, absentOwners, processEvent, begin }
})

const named = because("a dependent of the first lists names it, and no list has it")

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
  readonly timeline: Timeline | undefined
  /** Undefined for a kind that was never watched. */
  readonly resourceOf: (identity: Identity.Identity) => Resource.Any | undefined
}

const workers = Effect.fnUntraced(function* (
  queues: Queues,
  graphBuilder: GraphBuilder,
  { concurrency, counted, resourceOf, timeline }: Working
) {
  const { absentOwners, graph } = graphBuilder
  const objects = Objects.make(yield* KubeClient, yield* Discovery)
  const remove = AttemptToDelete.attempt({
    graph,
    absentOwners,
    objects,
    processEvent: (event) => graphBuilder.processEvent(event),
    examine: (uids) => queues.toDelete.addAllUnsafe(uids)
  })
  const orphan = AttemptToOrphan.attempt({ graph, objects })
  // One for each queue: a key may be in both.
  const logs = {
    toDelete: yield* Log.make(undefined, timeline, name),
    toOrphan: yield* Log.make(undefined, timeline, name)
  }
  const { recoversDefects } = yield* Defaults

  const work = (from: keyof Queues, attempt: (node: Graph.Node) => Effect.Effect<void, CollectError["cause"]>) =>
    Reconcile.run(queues[from], {
      concurrency,
      metrics: counted[from],
      recoverDefects: recoversDefects,
      timeout: "none",
      observe: (event: Reconcile.RunEvent<Identity.Uid, CollectError>) => logs[from].observe(event, isLogged(event)),
      reconcile: (uid, causes) => {
        const node = graph.get(uid)
        if (node === undefined) return Effect.void
        const { identity } = node
        const about = { resource: resourceOf(identity), key: Key.make(identity.namespace, identity.name) }
        return Effect.provideService(
          Effect.mapError(attempt(node), (cause) => new CollectError({ identity, cause })),
          CurrentRun,
          logs[from].begin(uid, causes, about)
        )
      }
    })

  const removeOrRetry = (node: Graph.Node): Effect.Effect<void, Objects.Failure | Unobserved> =>
    Effect.matchEffect(remove(node), {
      onSuccess: () => (Graph.isVirtual(graph.get(node.identity.uid)) ? Effect.fail(new Unobserved()) : Effect.void),
      onFailure: (error) =>
        error._tag === "MisplacedOwner"
          ? Effect.logDebug(`${Identity.show(node.identity)}: ${error.message}`)
          : Effect.fail(error)
    })
  return [work("toDelete", removeOrRetry), work("toOrphan", orphan)]
})

/** Failures that another actor resolves are logged once or not at all, all others as in any controller. */
const isLogged = (event: Reconcile.RunEvent<Identity.Uid, CollectError>): boolean =>
  event._tag !== "Failed" || !isWaiting(event.error.cause, event.attempt)

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
