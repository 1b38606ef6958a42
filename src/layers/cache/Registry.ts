/**
 * Which informers run: at most one for each kind and selection, started by the first reference, stopped when the last has been
 * released and an idle time has passed. It decides what means the same; counting and idling are `RcMap`'s. It answers
 * no reads.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Hash from "effect/Hash"
import * as RcMap from "effect/RcMap"
import type * as Scope from "effect/Scope"
import type { KubeObject } from "../../kube/Meta.ts"
import * as Resource from "../../kube/Resource.ts"
import { Namespace } from "../../kube/resources.ts"
import * as Selector from "../../kube/Selector.ts"
import type { Delta } from "../../streams/store/Delta.ts"
import { trim } from "../../streams/watch/trim.ts"
import * as Watch from "../../streams/watch/watch.ts"
import { KubeClient } from "../KubeClient.ts"
import type { Selection } from "./Informer.ts"
import * as Intern from "./intern.ts"
import * as Kinds from "./kinds.ts"
import * as CacheMetrics from "./metrics.ts"
import * as Namespaces from "./informer/Namespaces.ts"
import * as SharedInformer from "./informer/SharedInformer.ts"
import type { Outstanding } from "./Outstanding.ts"

/** Settings of the layer. */
export interface Options extends Kinds.Kinds {
  /** How long an informer outlives its last subscriber. Default 30 s. */
  readonly idleTimeToLive?: Duration.Input | undefined
  readonly streamingList?: "auto" | "never" | undefined
  readonly idleTimeout?: Duration.Input | undefined
  readonly pageSize?: number | undefined
  /**
   * Of namespaced kinds only these, each by a watch of its own; a subscription that names a namespace gets that one all the same.
   * With labels, those that carry them at any moment; the cache then watches namespaces. Default all.
   */
  readonly namespaces?: ReadonlyArray<string> | { readonly labels: Selector.LabelSelector } | undefined
  /** False: nobody waits for what they have written to show up here. Default true. */
  readonly readYourWrites?: boolean | undefined
}

export const identity = (resource: Resource.Any, { namespace, labelSelector, fieldSelector }: Selection): string =>
  namespace === undefined && labelSelector === undefined && fieldSelector === undefined
    ? resource.id
    : JSON.stringify([resource.id, namespace, labelSelector, fieldSelector])

/** What an informer is of. Two that mean the same are equal, by their identity alone. */
class Wanted implements Equal.Equal {
  readonly id: string
  readonly resource: Resource.Any
  readonly selection: Selection

  constructor(resource: Resource.Any, selection: Selection) {
    this.id = identity(resource, selection)
    this.resource = resource
    this.selection = selection
  }

  [Equal.symbol](that: unknown): boolean {
    return that instanceof Wanted && that.id === this.id
  }

  [Hash.symbol](): number {
    return Hash.string(this.id)
  }
}

/** Informers by identity: `shared` takes a reference for the caller's scope, `informers` is what runs at this moment. */
export const make = Effect.fnUntraced(function* (options: Options, outstanding: Outstanding, freeze: boolean) {
  const client = yield* KubeClient
  const informers = new Map<string, SharedInformer.Shared<KubeObject>>()
  const metrics = yield* CacheMetrics.make(() =>
    Array.from(informers.values()).flatMap((informer) => informer.statusUnsafe())
  )
  const namespaces = namespacesOf(options.namespaces)
  const streamingSupport = Watch.streamingSupport(
    Effect.logInfo(
      "The API server cannot stream lists, because its etcd does not report progress: kinds are listed instead, and it is asked again after an hour"
    )
  )

  const lookup = Effect.fnUntraced(function* ({ id, resource, selection }: Wanted) {
    const said = Kinds.of(options, resource)
    const prepared = transform(said, resource)
    const informer = yield* SharedInformer.make({
      resource,
      selection,
      watch: (namespace) => {
        const place = namespace === undefined ? selection : { ...selection, namespace }
        return Watch.watch(sourceOf(client, resource, place, said.keepManagedFields), {
          ...watchOptions(options, resource, place, prepared),
          streamingSupport
        })
      },
      namespaces: resource.scope === "Namespaced" && selection.namespace === undefined ? namespaces : undefined,
      resync: said.resync === "never" ? undefined : said.resync,
      freeze,
      outstanding,
      metrics
    })
    informers.set(id, informer)
    metrics.track(resource)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        // A successor may have been started already, while this one was closing.
        if (informers.get(id) === informer) informers.delete(id)
      })
    )
    return informer
  })

  const references = yield* RcMap.make({ lookup, idleTimeToLive: options.idleTimeToLive ?? "30 seconds" })
  const shared = <A extends KubeObject>(resource: Resource.Resource<A>, selection: Selection) =>
    // The identity determines the type of the objects.
    RcMap.get(references, new Wanted(resource, selection)) as Effect.Effect<
      SharedInformer.Shared<A>,
      never,
      Scope.Scope
    >
  if (namespaces !== undefined && options.namespaces !== undefined && "labels" in options.namespaces) {
    const labelSelector = Selector.formatLabels(options.namespaces.labels)
    const informer = yield* shared(Resource.metadataOnly(Namespace), { labelSelector })
    informer.subscribers++
    yield* informer.onDeltas((deltas) => namespaces.change(deltas.flatMap(stepOf)))
    yield* Effect.forkScoped(Effect.andThen(Effect.ignore(informer.ready), Effect.sync(namespaces.know)))
  }
  return { informers, shared, metrics }
})

const namespacesOf = (given: Options["namespaces"]): Namespaces.Namespaces | undefined => {
  if (given === undefined || ("length" in given && given.length === 0)) return undefined
  return "labels" in given ? Namespaces.make() : Namespaces.fixed(given)
}

/** One that ceases to match is told like one that is deleted. */
const stepOf = (delta: Delta<KubeObject>): ReadonlyArray<Namespaces.Step> =>
  delta._tag === "Updated" ? [] : [{ namespace: delta.object.metadata.name, isMeant: delta._tag === "Created" }]

const sourceOf = <A extends KubeObject>(
  client: KubeClient["Service"],
  resource: Resource.Resource<A>,
  selection: Selection,
  keepManagedFields: boolean | undefined
): Watch.Source<A> => ({
  list: (request) => client.listPage(resource, { ...selection, ...request }),
  watch: (request) =>
    client.watch(resource, { ...selection, ...request, omitManagedFields: keepManagedFields !== true })
})

const watchOptions = (
  options: Options,
  resource: Resource.Any,
  { namespace }: Selection,
  prepared: (object: KubeObject) => KubeObject
): Watch.Options<KubeObject> => ({
  streamingList: options.streamingList,
  idleTimeout: options.idleTimeout,
  pageSize: options.pageSize,
  transform: prepared,
  context: {
    verb: "watch",
    path: Resource.path(resource, { namespace }),
    resource: Resource.qualifiedName(resource),
    namespace
  }
})

const transform = (said: Kinds.Said, resource: Resource.Any): ((object: KubeObject) => KubeObject) => {
  const trimmed = trim<KubeObject>({
    apiVersion: Resource.apiVersion(resource),
    kind: resource.kind,
    keepManagedFields: said.keepManagedFields
  })
  const shared = Intern.make()
  const own = said.transform
  return own === undefined ? (object) => shared(trimmed(object)) : (object) => shared(own(trimmed(object)))
}
