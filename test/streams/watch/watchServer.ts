/**
 * A server for watches, in memory and in virtual time: it has objects, versions and a log of events, serves pages and watches from them, and
 * can be made to fail. It counts its activity, so that tests can wait until nothing happens.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as ApiError from "../../../src/kube/ApiError.ts"
import * as Key from "../../../src/kube/Key.ts"
import type { KubeList, KubeObject } from "../../../src/kube/Meta.ts"
import * as Status from "../../../src/kube/Status.ts"
import type { Change } from "../../../src/streams/watch/protocol.ts"
import type { Delta } from "../../../src/streams/store/Store.ts"
import * as Store from "../../../src/streams/store/Store.ts"
import * as Watch from "../../../src/streams/watch/watch.ts"

export const context: ApiError.Context = { verb: "watch", path: "/api/v1/pods", resource: "pods" }

export const status = (code: number, reason: string, extra: { message?: string; retryAfterSeconds?: number } = {}) =>
  ApiError.fromStatus({
    context,
    status: code,
    body: Status.failure({
      code,
      reason,
      message: extra.message ?? reason,
      ...(extra.retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds: extra.retryAfterSeconds } })
    })
  })

export const gone = () => status(410, "Expired")
export const tooLarge = () => status(504, "Timeout", { message: "Too large resource version: 99, current: 1" })
export const refused = () =>
  ApiError.network(context, Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }))
export const reset = () => ApiError.network(context, new Error("read ECONNRESET"))

export interface Recorded {
  readonly at: number
  readonly kind: "list" | "watch"
  readonly options: Partial<Watch.ListRequest> & Partial<Watch.WatchRequest>
}

type Listing = Effect.Effect<KubeList<KubeObject>, ApiError.ApiError>
type Watching = Stream.Stream<Watch.WatchEvent, ApiError.ApiError>
type Connection = Queue.Queue<Watch.WatchEvent, ApiError.ApiError | Cause.Done>

export class Server {
  version = 10
  /** Watches from an older version, and older continue tokens, get a 410. */
  compacted = 0
  streaming = false
  /** Counts everything that happens; it never decreases. */
  activity = 0
  readonly objects = new Map<string, KubeObject>()
  readonly log: Array<{ readonly version: number; readonly event: Watch.WatchEvent }> = []
  readonly requests: Array<Recorded> = []
  readonly live = new Set<Connection>()
  /** The number of open connections, including silent ones. */
  open = 0
  /** Called first; undefined for the normal response. */
  onList: ((request: Watch.ListRequest, n: number) => Listing | undefined) | undefined
  onWatch: ((request: Watch.WatchRequest, n: number) => Watching | undefined) | undefined
  private readonly snapshots = new Map<number, ReadonlyArray<KubeObject>>()
  private lists = 0
  private watches = 0

  put(name: string, fields: { uid?: string; labels?: Record<string, string> } = {}): KubeObject {
    const previous = this.objects.get(Key.make("ns", name))
    const object: KubeObject = {
      metadata: {
        name,
        namespace: "ns",
        uid: fields.uid ?? previous?.metadata.uid ?? `uid-${name}`,
        resourceVersion: String(++this.version),
        ...(fields.labels === undefined ? {} : { labels: fields.labels })
      }
    }
    this.objects.set(Key.of(object), object)
    this.publish({ type: previous === undefined ? "ADDED" : "MODIFIED", object })
    return object
  }

  remove(name: string): void {
    const key = Key.make("ns", name)
    const object = this.objects.get(key)
    if (object === undefined) return
    this.objects.delete(key)
    const metadata = { ...object.metadata, resourceVersion: String(++this.version) }
    this.publish({ type: "DELETED", object: { ...object, metadata } })
  }

  bookmark(): void {
    this.send(bookmark(++this.version))
  }

  /** Compacts the log; a watch that is behind must list again. */
  compact(): void {
    this.compacted = this.version
  }

  send(event: Watch.WatchEvent, connections: ReadonlyArray<Connection> = Array.from(this.live)): void {
    for (const connection of connections) Queue.offerUnsafe(connection, event)
  }

  private publish(event: Watch.WatchEvent): void {
    this.activity++
    this.log.push({ version: this.version, event })
    this.send(event)
  }

  /** Ends connections, cleanly or with a failure. Default: all that are not silent. */
  close(error?: ApiError.ApiError, connections = this.silence()): void {
    for (const connection of connections) {
      if (error === undefined) Queue.endUnsafe(connection)
      else Queue.failCauseUnsafe(connection, Cause.fail(error))
    }
  }

  /** Makes connections silent: they stay open, and nothing arrives on them. */
  silence(): ReadonlyArray<Connection> {
    const silent = Array.from(this.live)
    this.live.clear()
    return silent
  }

  readonly source: Watch.ListWatch<KubeObject> = {
    list: (request) =>
      Effect.flatMap(this.record("list", request), () => this.onList?.(request, ++this.lists) ?? this.list(request)),
    watch: (request) =>
      Stream.unwrap(
        Effect.map(this.record("watch", request), () =>
          this.counted(this.onWatch?.(request, ++this.watches) ?? this.watch(request))
        )
      )
  }

  private record(kind: Recorded["kind"], options: Recorded["options"]): Effect.Effect<void> {
    return Effect.map(Clock.currentTimeMillis, (at) => {
      this.activity++
      this.requests.push({ at, kind, options })
    })
  }

  private counted(stream: Watching): Watching {
    const count = (by: number) =>
      Effect.sync(() => {
        this.activity++
        this.open += by
      })
    return Stream.unwrap(
      Effect.as(
        Effect.acquireRelease(count(1), () => count(-1)),
        stream
      )
    )
  }

  private list(request: Watch.ListRequest): Listing {
    return Effect.suspend((): Listing => {
      const [version = this.version, offset = 0] = request.continue?.split(":").map(Number) ?? []
      if (request.continue !== undefined && version < this.compacted) return Effect.fail(gone())
      const all = this.snapshots.get(version) ?? Array.from(this.objects.values())
      this.snapshots.set(version, all)
      const end = offset + request.limit
      const more = end < all.length ? { continue: `${version}:${end}` } : {}
      return Effect.succeed({
        metadata: { resourceVersion: String(version), ...more },
        items: all.slice(offset, end)
      })
    })
  }

  private watch(request: Watch.WatchRequest): Watching {
    if (request.sendInitialEvents === true && !this.streaming) return Stream.fail(status(422, "Invalid"))
    const from = Number(request.resourceVersion)
    if (request.sendInitialEvents !== true && from < this.compacted) return Stream.fail(gone())
    return Stream.unwrap(
      Effect.gen({ self: this }, function* () {
        const queue = yield* Queue.unbounded<Watch.WatchEvent, ApiError.ApiError | Cause.Done>()
        if (request.sendInitialEvents === true) {
          for (const object of this.objects.values()) Queue.offerUnsafe(queue, { type: "ADDED", object })
          Queue.offerUnsafe(queue, bookmark(this.version, true))
        } else {
          for (const entry of this.log) if (entry.version > from) Queue.offerUnsafe(queue, entry.event)
        }
        this.live.add(queue)
        yield* Effect.addFinalizer(() => Effect.sync(() => this.live.delete(queue)))
        return Stream.fromQueue(queue)
      })
    )
  }
}

export const bookmark = (version: number, initialEventsEnd = false): Watch.WatchEvent => ({
  type: "BOOKMARK",
  object: {
    metadata: {
      resourceVersion: String(version),
      ...(initialEventsEnd ? { annotations: { "k8s.io/initial-events-end": "true" } } : {})
    }
  }
})

/** A running watch with its store, and every change that it has emitted. */
export interface Watcher {
  readonly store: Store.Store<KubeObject>
  readonly changes: Array<Change<KubeObject>>
  readonly deltas: Array<Delta<KubeObject>>
  /** Waits until neither the server nor the watch does anything before time passes. */
  readonly settle: Effect.Effect<void>
  readonly stop: Effect.Effect<void>
}

export const start = (
  server: Server,
  options: Watch.Options<KubeObject> = {},
  watch: typeof Watch.watch = Watch.watch
): Effect.Effect<Watcher, never, Scope.Scope> =>
  Effect.gen(function* () {
    const store = Store.make<KubeObject>()
    const changes: Array<Change<KubeObject>> = []
    const deltas: Array<Delta<KubeObject>> = []
    const fiber = yield* Stream.runForEach(watch(server.source, { context, ...options }), (change) =>
      Effect.sync(() => {
        changes.push(change)
        deltas.push(...store.apply(change))
      })
    ).pipe(Effect.forkScoped)
    const settle = Effect.gen(function* () {
      let before = -1
      for (let still = 0; still < 20;) {
        const now = server.activity + changes.length
        still = now === before ? still + 1 : 0
        before = now
        yield* Effect.yieldNow
      }
    })
    yield* settle
    return { store, changes, deltas, settle, stop: Effect.asVoid(Fiber.interrupt(fiber)) }
  })

export const tags = (changes: ReadonlyArray<Change<KubeObject>>): ReadonlyArray<string> =>
  changes.map((change) => change._tag)

/** `Created ns/a`, `Deleted? ns/a` for a missed deletion. */
export const words = (deltas: ReadonlyArray<Delta<KubeObject>>): ReadonlyArray<string> =>
  deltas.map((delta) => {
    const mark = delta._tag === "Deleted" && delta.stateUnknown ? "?" : ""
    return `${delta._tag}${mark} ${Key.of(delta.object)}`
  })

export const failures = (changes: ReadonlyArray<Change<KubeObject>>) =>
  changes.flatMap((change) =>
    change._tag === "Failed"
      ? [{ reason: change.error.reason._tag, attempt: change.attempt, delay: Duration.toMillis(change.delay) }]
      : []
  )

/** Objects of a store or server in a comparable form. */
export const state = (objects: Iterable<KubeObject>): ReadonlyArray<string> =>
  Array.from(objects, (object) => `${Key.of(object)} ${object.metadata.uid} ${object.metadata.resourceVersion}`).sort()

/** For watches that list in pages. */
export const never = { streamingList: "never" } as const

/** A server with objects `o0…`, whose next version is known. */
export const serverWith = (count: number): Server => {
  const server = new Server()
  for (let i = 0; i < count; i++) server.put(`o${i}`)
  return server
}
