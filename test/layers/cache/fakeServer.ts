/**
 * A minimal server for informers: objects with versions, a log of events that watches replay and follow, and switches for failures. It
 * supports namespaces but no selectors, and only reads. Every response is newly parsed JSON, as from a connection. It differs from the
 * embedded API server in that a test controls exactly what happens and when.
 */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import * as ApiError from "../../../src/kube/ApiError.ts"
import * as Key from "../../../src/kube/Key.ts"
import type { KubeList, KubeObject } from "../../../src/kube/Meta.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { Pod } from "../../../src/kube/resources.ts"
import * as Status from "../../../src/kube/Status.ts"
import { Cache } from "../../../src/layers/Cache.ts"
import { KubeClient, type ListOptions, type WatchOptions } from "../../../src/layers/KubeClient.ts"
import type { WatchEvent } from "../../../src/layers/Transport.ts"
import type { Delta } from "../../../src/streams/store/Store.ts"

interface Logged {
  readonly version: number
  readonly namespace: string | undefined
  readonly type: WatchEvent["type"]
  readonly text: string
}

interface Connection {
  readonly namespace: string | undefined
  readonly queue: Queue.Queue<WatchEvent, ApiError.ApiError | Cause.Done>
}

/** The objects of one kind on the server. */
export class FakeKind {
  readonly objects = new Map<Key.Key, string>()
  readonly log: Array<Logged> = []
  readonly connections = new Set<Connection>()
  compacted = 0
  /** Requests since the start. */
  lists = 0
  watches = 0
  /** Every namespace that was requested; undefined for requests of all namespaces. */
  readonly requestedNamespaces = new Set<string | undefined>()
  /** While set, every request fails with it. */
  failure: ApiError.ApiError | undefined
  /** While set, every streaming list fails with it. */
  streamingFailure: ApiError.ApiError | undefined
  /** Requests of streaming lists. */
  streams = 0
  /** Awaited before the response of a list. */
  beforeList: Effect.Effect<void> = Effect.void

  readonly server: FakeServer
  readonly resource: Resource.Any

  constructor(server: FakeServer, resource: Resource.Any) {
    this.server = server
    this.resource = resource
  }

  /** Creates or updates an object; returns the new version. */
  put(object: KubeObject): string {
    const key = Key.of(object)
    const version = ++this.server.version
    const text = JSON.stringify({ ...object, metadata: { ...object.metadata, resourceVersion: String(version) } })
    const type = this.objects.has(key) ? "MODIFIED" : "ADDED"
    this.objects.set(key, text)
    this.#tell({ version, namespace: object.metadata.namespace, type, text })
    return String(version)
  }

  remove(key: Key.Key): string {
    const object = JSON.parse(this.objects.get(key) ?? "null") as KubeObject
    const version = ++this.server.version
    this.objects.delete(key)
    const text = JSON.stringify({ ...object, metadata: { ...object.metadata, resourceVersion: String(version) } })
    this.#tell({ version, namespace: object.metadata.namespace, type: "DELETED", text })
    return String(version)
  }

  bookmark(version = ++this.server.version): string {
    for (const { queue } of this.connections) Queue.offerUnsafe(queue, { type: "BOOKMARK", object: bookmark(version) })
    return String(version)
  }

  /** Closes the connections before the latest events are delivered, and compacts the log: a watch that resumes gets a 410. */
  expire(): void {
    this.compacted = this.server.version
    this.cut(unreachable(this.resource))
  }

  /** Ends all watches, with an error if given; events that were not delivered yet are lost. */
  cut(error?: ApiError.ApiError): void {
    for (const { queue } of this.connections) {
      for (let left = Queue.takeUnsafe(queue); left !== undefined; left = Queue.takeUnsafe(queue)) continue
      if (error === undefined) Queue.endUnsafe(queue)
      else Queue.failCauseUnsafe(queue, Cause.fail(error))
    }
    this.connections.clear()
  }

  #tell(event: Logged): void {
    this.log.push(event)
    for (const { namespace, queue } of this.connections) {
      if (isIn(namespace, event.namespace)) Queue.offerUnsafe(queue, parse(event))
    }
  }

  list<A extends KubeObject>(options: ListOptions): Effect.Effect<KubeList<A>, ApiError.ApiError> {
    return Effect.suspend(() => {
      this.lists++
      this.requestedNamespaces.add(options.namespace)
      if (this.failure !== undefined) return Effect.fail(this.failure)
      return Effect.map(this.beforeList, () => {
        const items = Array.from(this.objects.values(), (text) => JSON.parse(text) as A).filter((item) =>
          isIn(options.namespace, item.metadata.namespace)
        )
        const start = Number(options.continue ?? "0")
        const end = start + (options.limit ?? items.length)
        const metadata = { resourceVersion: String(this.server.version) }
        return {
          metadata: end < items.length ? { ...metadata, continue: String(end) } : metadata,
          items: items.slice(start, end)
        }
      })
    })
  }

  watch(options: WatchOptions): Stream.Stream<WatchEvent, ApiError.ApiError> {
    return Stream.unwrap(
      Effect.gen({ self: this }, function* () {
        this.watches++
        this.requestedNamespaces.add(options.namespace)
        if (options.sendInitialEvents === true) this.streams++
        if (this.failure !== undefined) return Stream.fail(this.failure)
        if (options.sendInitialEvents === true && this.streamingFailure !== undefined)
          return Stream.fail(this.streamingFailure)
        const since = Number(options.resourceVersion)
        if (since < this.compacted) return Stream.fail(gone(this.resource))
        const queue = yield* Queue.unbounded<WatchEvent, ApiError.ApiError | Cause.Done>()
        const connection = { namespace: options.namespace, queue }
        for (const event of this.log) {
          if (event.version > since && isIn(options.namespace, event.namespace)) Queue.offerUnsafe(queue, parse(event))
        }
        this.connections.add(connection)
        yield* Effect.addFinalizer(() => Effect.sync(() => this.connections.delete(connection)))
        return Stream.fromQueue(queue)
      })
    )
  }
}

export class FakeServer {
  version = 100
  readonly #kinds = new Map<string, FakeKind>()

  kind(resource: Resource.Any): FakeKind {
    const found = this.#kinds.get(resource.plural) ?? new FakeKind(this, resource)
    this.#kinds.set(resource.plural, found)
    return found
  }

  /** Requests of all kinds since the start. */
  get requests(): number {
    let count = 0
    for (const kind of this.#kinds.values()) count += kind.lists + kind.watches
    return count
  }

  readonly layer: Layer.Layer<KubeClient> = Layer.mock(KubeClient, {
    listPage: <A extends KubeObject>(resource: Resource.Resource<A>, options: ListOptions = {}) =>
      this.kind(resource).list<A>(options),
    watch: (resource, options) => this.kind(resource).watch(options),
    through: () => {
      throw new Error("there is no transport to put anything in front of")
    }
  })
}

const isIn = (wanted: string | undefined, namespace: string | undefined): boolean =>
  wanted === undefined || wanted === namespace

const parse = ({ text, type }: Logged): WatchEvent => ({ type, object: JSON.parse(text) })

const bookmark = (version: number) => ({
  kind: "Pod",
  apiVersion: "v1",
  metadata: { resourceVersion: String(version) }
})

export const context = (resource: Resource.Any, verb = "watch"): ApiError.Context => ({
  verb,
  path: Resource.path(resource),
  resource: Resource.qualifiedName(resource)
})

const gone = (resource: Resource.Any): ApiError.ApiError =>
  ApiError.fromStatus({
    context: context(resource),
    status: 410,
    body: Status.failure({ code: 410, reason: "Expired", message: "too old resource version" })
  })

export const forbidden = (resource: Resource.Any): ApiError.ApiError =>
  ApiError.fromStatus({
    context: context(resource, "list"),
    status: 403,
    body: Status.failure({
      code: 403,
      reason: "Forbidden",
      message: `${Resource.qualifiedName(resource)} is forbidden: User "x" cannot list resource`
    })
  })

/** The response of an API server 1.36 on etcd 3.4 to a streaming list. */
export const progressUnsupported = (resource: Resource.Any): ApiError.ApiError =>
  ApiError.fromWatchError(
    context(resource),
    Status.failure({
      code: 500,
      reason: "InternalError",
      message:
        "a watch stream was requested by the client but the required storage feature RequestWatchProgress is disabled"
    })
  )

export const unreachable = (resource: Resource.Any): ApiError.ApiError =>
  ApiError.network(context(resource), new Error("connection reset"))

export const pod = (name: string, extra: Partial<Pod["metadata"]> = {}): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { namespace: "default", name, uid: `uid-${name}`, ...extra }
})

/** `Created*` for an object of the first list, `Deleted?` for a missed deletion. */
export const tagOf = (delta: Delta<KubeObject>): string =>
  delta._tag === "Created" && delta.initial
    ? "Created*"
    : delta._tag === "Deleted" && delta.stateUnknown
      ? "Deleted?"
      : delta._tag

/** A server with one pod, `a`. */
export const serverWithPod = (): { readonly server: FakeServer; readonly pods: FakeKind } => {
  const server = new FakeServer()
  const pods = server.kind(Pod)
  pods.put(pod("a"))
  return { server, pods }
}

/** Waits until the informers of the kind have passed the version; false when the limit is over first. */
export const passed = (resource: Resource.Any, version: string, limit: Duration.Input = "1 hour") =>
  Effect.gen(function* () {
    const answer = Deferred.makeUnsafe<boolean>()
    const done = (reached: boolean) => Deferred.doneUnsafe(answer, Effect.succeed(reached))
    yield* (yield* Cache).onVersion(resource, "default/none", version, done, limit)
    return yield* Deferred.await(answer)
  })
