/**
 * A selection of objects on a server as an endless stream of changes: initial list, watch, resume, relist. The decisions
 * are those of `watchMachine.ts`, a pure function; this file makes its requests and waits, and limits how long a connection may be idle.
 * The stream never fails and never ends; failures are `Failed` changes. Interrupting it closes the connection, and no
 * request is made afterwards.
 */
import type * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Channel from "effect/Channel"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Pull from "effect/Pull"
import * as Random from "effect/Random"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as ApiError from "../../kube/ApiError.ts"
import type { KubeList, KubeObject } from "../../kube/Meta.ts"
import * as Machine from "./watchMachine.ts"
import type { Change, ListRequest, Request, WatchEvent, WatchRequest } from "./protocol.ts"
import type { Delta, Store } from "../store/Store.ts"

export type {
  Change,
  Changed,
  Failed,
  Listed,
  ListRequest,
  ObjectEvent,
  Restarted,
  Synced,
  WatchEvent,
  WatchRequest
} from "./protocol.ts"

/** How to list and watch one selection: `KubeClient` with a resource, namespace and selector. Source: client-go's cache.ListerWatcher. */
export interface ListWatch<A extends KubeObject> {
  /** One page. Without `resourceVersion` it requests the most recent state, with `"0"` any. */
  readonly list: (request: ListRequest) => Effect.Effect<KubeList<A>, ApiError.ApiError>
  /** Unchecked events in chunks. An empty `resourceVersion` (only with `sendInitialEvents`) requests the most recent state. */
  readonly watch: (request: WatchRequest) => Stream.Stream<WatchEvent, ApiError.ApiError>
}

/** Settings of a watch. */
export interface Options<A extends KubeObject> {
  /** `auto` (default) requests a streaming list first and falls back to pages where that fails. */
  readonly streamingList?: "auto" | "never" | undefined
  /** Shared by the watches of one server. Default: each watch keeps its own. */
  readonly streamingSupport?: StreamingSupport | undefined
  /** A connection on which nothing arrives for so long is closed. Default 70 s: servers send a bookmark about every minute. */
  readonly idleTimeout?: Duration.Input | undefined
  /** The most objects in a page. Default 500. */
  readonly pageSize?: number | undefined
  /** Applied once to every object, listed or watched; may write to it. An informer passes its `prepare`. */
  readonly transform?: ((object: A) => A) | undefined
  /** The context of errors that the watch itself finds: a malformed event, an idle connection. */
  readonly context?: ApiError.Context | undefined
}

/** Whether a server supports streaming lists. A server that does not for one kind does not for any. */
export interface StreamingSupport {
  /** No streaming list is requested before this time, in monotonic milliseconds. */
  readonly fromUnsafe: () => number
  /** Moves that time. */
  readonly defer: (until: number) => Effect.Effect<void>
}

/** For the watches of one server; `onFirst` runs once, at the first refusal of a streaming list for all kinds. */
export const streamingSupport = (onFirst: Effect.Effect<void>): StreamingSupport => {
  let from = -Infinity
  return {
    fromUnsafe: () => from,
    defer: (until) =>
      Effect.suspend(() => {
        const isFirst = from === -Infinity
        from = Math.max(from, until)
        return isFirst ? onFirst : Effect.void
      })
  }
}

/** Changes in the server's order. Each run of the stream starts with a full state. A slow consumer slows down the connection. */
export const watch = <A extends KubeObject>(source: ListWatch<A>, options: Options<A> = {}): Stream.Stream<Change<A>> =>
  Stream.fromChannel(
    Channel.fromTransform((_, scope) =>
      Effect.withFiber((fiber) =>
        Effect.succeed(
          interpret(source, options, scope, () => ({
            now: Number(fiber.getRef(Clock.Clock).monotonicTimeNanosUnsafe()) / 1e6,
            random: fiber.getRef(Random.Random).nextDoubleUnsafe(),
            streamingFrom: options.streamingSupport?.fromUnsafe() ?? -Infinity
          }))
        )
      )
    )
  )

type Changes<A> = Arr.NonEmptyReadonlyArray<Change<A>>
type Connection = Pull.Pull<Arr.NonEmptyReadonlyArray<WatchEvent>, ApiError.ApiError>

/** One pull runs the machine until it emits changes. At most one connection is open, in its own scope. */
const interpret = <A extends KubeObject>(
  source: ListWatch<A>,
  options: Options<A>,
  scope: Scope.Scope,
  moment: () => Machine.Moment
): Effect.Effect<Changes<A>> => {
  const idleTimeout = Duration.fromInputUnsafe(options.idleTimeout ?? "70 seconds")
  const step = Machine.step<A>({
    pageSize: options.pageSize ?? 500,
    idleTimeout,
    transform: options.transform ?? ((object) => object),
    context: options.context ?? { verb: "watch", path: "" }
  })
  let state = Machine.initial(options.streamingList ?? "auto")
  let pending: Request | undefined
  let connection: { readonly events: Effect.Effect<Machine.Input<A>>; readonly scope: Scope.Closeable } | undefined

  const settle = (input: Machine.Input<A>): Effect.Effect<Changes<A>> => {
    const next = step(state, input, moment())
    state = next.state
    pending = next.request
    const emitted = isNonEmpty(next.output) ? Effect.succeed(next.output) : pull
    return next.streamingFrom === undefined || options.streamingSupport === undefined
      ? emitted
      : Effect.andThen(options.streamingSupport.defer(next.streamingFrom), emitted)
  }

  const open = (request: WatchRequest): Effect.Effect<Machine.Input<A>> =>
    Effect.suspend(() => {
      const opened = Scope.forkUnsafe(scope)
      return Effect.flatMap(Channel.toPullScoped(Stream.toChannel(source.watch(request)), opened), (events) => {
        connection = { events: read(events, idleTimeout), scope: opened }
        return connection.events
      })
    })

  const close: Effect.Effect<void> = Effect.suspend(() => {
    const closed = connection
    connection = undefined
    return closed === undefined ? Effect.void : Scope.close(closed.scope, Exit.void)
  })

  const perform = (request: Request): Effect.Effect<Machine.Input<A>> => {
    switch (request._tag) {
      case "List":
        return Effect.match(source.list(request.options), {
          onSuccess: (list) => ({ _tag: "Page", list }),
          onFailure: (error) => ({ _tag: "Failed", error })
        })
      case "Watch":
        return open(request.options)
      case "Sleep":
        return Effect.as(Effect.sleep(request.millis), woke)
    }
  }

  const pull: Effect.Effect<Changes<A>> = Effect.suspend(() => {
    const request = pending
    pending = undefined
    if (request !== undefined) return Effect.flatMap(Effect.andThen(close, perform(request)), settle)
    return connection === undefined ? settle(started) : Effect.flatMap(connection.events, settle)
  })
  return pull
}

const started = { _tag: "Started" } as const
const woke = { _tag: "Woke" } as const
const ended = { _tag: "Ended" } as const
const idle = { _tag: "Idle" } as const

/** The next chunk of a connection as an input of the machine; a defect stays a defect. */
const read = (connection: Connection, idleTimeout: Duration.Duration): Effect.Effect<Machine.Input<never>> =>
  Pull.matchEffect(Effect.timeoutOption(connection, idleTimeout), {
    onSuccess: (events) => Effect.succeed(Option.isNone(events) ? idle : { _tag: "Events", events: events.value }),
    onFailure: (cause) => {
      const error = Cause.findErrorOption(cause)
      return Option.isSome(error)
        ? Effect.succeed({ _tag: "Failed", error: error.value })
        : Effect.failCause(cause as Cause.Cause<never>)
    },
    onDone: () => Effect.succeed(ended)
  })

const isNonEmpty = <A>(changes: ReadonlyArray<Change<A>>): changes is Changes<A> => changes.length > 0

/**
 * Applies changes to a store and emits the deltas, one array for each chunk of changes. The store is updated before its deltas are emitted,
 * so a consumer that reads the store sees at least the state of its delta.
 */
export const reflect = <A extends KubeObject, E, R>(
  changes: Stream.Stream<Change<A>, E, R>,
  store: Store<A>
): Stream.Stream<Delta<A>, E, R> =>
  Stream.mapAccumArray(
    changes,
    () => undefined,
    (_, chunk) => {
      if (chunk.length === 1) return [undefined, store.apply(chunk[0])]
      const deltas: Array<Delta<A>> = []
      for (const change of chunk) for (const delta of store.apply(change)) deltas.push(delta)
      return [undefined, deltas]
    }
  )
