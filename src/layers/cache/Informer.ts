/**
 * One shared informer: a fiber that keeps a store in step with one selection on the server and tells whoever listens. It
 * lives in the scope it is made in. Order within each chunk of changes: store, listeners, sync, version waits; all of it in
 * one synchronous section, so a listener that joins between two chunks misses nothing and sees nothing twice. No failure
 * ends it: those of the server are the watch's to retry, and a defect is reported and starts the watch anew after a wait.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as ApiError from "../../kube/ApiError.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import * as Resource from "../../kube/Resource.ts"
import * as Backoff from "../../streams/backoff.ts"
import type { Change } from "../../streams/Change.ts"
import type { Delta } from "../../streams/Delta.ts"
import * as Store from "../../streams/Store.ts"
import * as Watch from "../../streams/watch.ts"
import * as Buffer from "./Buffer.ts"
import type { CacheMetrics } from "./metrics.ts"
import type { Outstanding } from "./Outstanding.ts"
import * as VersionWaits from "./VersionWaits.ts"

/** Which objects of a kind: those of one namespace, or with these labels or fields; all, where nothing is said. */
export interface Selection {
  readonly namespace?: string | undefined
  /** The query form, `app=web,tier!=cache`. */
  readonly labelSelector?: string | undefined
  /** The query form, `spec.nodeName=a`. */
  readonly fieldSelector?: string | undefined
}

/** Called in the informer's fiber, once a chunk, after the store has changed. Must not block. */
export type Listener<in A> = (deltas: ReadonlyArray<Delta<A>>) => void

/** A subscription's view of the shared informer; valid for the scope of the subscription. */
export interface Informer<out A extends KubeObject> {
  readonly resource: Resource.Resource<A>
  readonly selection: Selection
  /** The present state, synchronously; empty until the first sync. */
  readonly store: Store.Readable<A>
  /** Waits for the first sync: the store is full, and every listener has been told. Interrupts if the informer is closed. */
  readonly synced: Effect.Effect<void>
  /** Every present object as `Created` with `initial`, then what happens, merged by key while the subscriber is slow. */
  readonly changes: Stream.Stream<Delta<A>>
  /**
   * The cheap way: a synchronous callback a chunk, until the scope closes; called at once with what is present. For work
   * that cannot pile up, like adding keys to a queue. An exception is reported in the status and stops nothing.
   */
  readonly onDeltas: (listener: Listener<A>) => Effect.Effect<void, never, Scope.Scope>
  readonly status: Effect.Effect<InformerStatus>
}

/** The last thing that went wrong. */
export interface InformerFailure {
  /** One line that names verb and resource: `list pods: pods is forbidden: …`. */
  readonly message: string
  readonly verb: string
  readonly reason: ApiError.ReasonTag | "Defect"
  /** HTTP status, if there was one: 403 means a permission is missing, 404 that the server does not know the kind. */
  readonly status: number | undefined
  /** Wall clock, milliseconds. */
  readonly at: number
  /** Milliseconds until the next try, counted from `at`. */
  readonly retryIn: number
}

/** What a human or a readiness probe wants to know of one informer. */
export interface InformerStatus {
  /** `pods`, `deployments.apps`. */
  readonly resource: string
  readonly id: string
  readonly selection: Selection
  readonly synced: boolean
  readonly objects: number
  readonly resourceVersion: string | undefined
  /** Failures in a row; 0 while it works. */
  readonly attempts: number
  /** Kept after recovery, so that it can still be read. */
  readonly lastError: InformerFailure | undefined
  /** When the server last told anything, a bookmark included. Wall clock, milliseconds. */
  readonly lastEventAt: number | undefined
  /** Faults in this process that the informer survived. */
  readonly defects: number
  /** Exceptions that listeners and callbacks of version waits have thrown, and the last one. */
  readonly listenerErrors: number
  readonly lastListenerError: unknown
  readonly subscribers: number
}

/** The owner's view. */
export interface Shared<out A extends KubeObject> extends Informer<A> {
  readonly addIndex: Store.Store<A>["addIndex"]
  readonly gate: VersionWaits.Gate
  /** Like `synced`; fails when the informer stops before. */
  readonly ready: Effect.Effect<void, void>
  readonly statusUnsafe: () => InformerStatus
  /** Subscriptions that are open; the registry counts. */
  subscribers: number
}

export interface Options<A extends KubeObject> {
  readonly resource: Resource.Resource<A>
  readonly selection: Selection
  readonly source: Watch.Source<A>
  readonly watch: Watch.Options<A>
  readonly freeze: boolean
  readonly outstanding: Outstanding
  readonly metrics: Pick<CacheMetrics, "relisted">
}

export const make = Effect.fnUntraced(function* <A extends KubeObject>(
  options: Options<A>
): Effect.fn.Return<Shared<A>, never, Scope.Scope> {
  const clock = yield* Clock.Clock
  const store = Store.make<A>({ freeze: options.freeze })
  const ready = Deferred.makeUnsafe<void, void>()
  const report = reporter(clock, Resource.qualifiedName(options.resource))
  /** Replaced, never changed: a listener that joins or leaves during a delivery does not disturb it. */
  let listeners: ReadonlyArray<Listener<A>> = []
  const gate: VersionWaits.Gate = {
    waits: new Set(),
    hasPassed: (key, version) =>
      VersionWaits.hasPassed(store.resourceVersion, store.get(key)?.metadata.resourceVersion, version),
    threw: report.listenerFailed
  }

  const tell = (listener: Listener<A>, deltas: ReadonlyArray<Delta<A>>): void => {
    try {
      listener(deltas)
    } catch (error) {
      report.listenerFailed(error)
    }
  }

  /** Why the full state is being read, where that is not for the first time: the failure since it was complete. */
  let reason = "Unknown"
  let isFirst = true
  const count = (change: Change<A>): void => {
    if (change._tag === "Failed") reason = change.error.reason._tag
    if (change._tag === "Synced") reason = "Unknown"
    if (change._tag !== "Restarted") return
    if (!isFirst) options.metrics.relisted(reason)
    isFirst = false
  }

  const accept = (change: Change<A>): void => {
    const deltas = store.apply(change)
    if (deltas.length > 0) for (const listener of listeners) tell(listener, deltas)
    count(change)
    if (change._tag === "Failed") report.failed(change.error, change.attempt, Duration.toMillis(change.delay))
    else report.heard(change)
    if (change._tag === "Synced") Deferred.doneUnsafe(ready, Effect.void)
    if (gate.waits.size > 0) VersionWaits.passUnsafe(gate)
  }

  const run = Effect.suspend(() =>
    Stream.runForEachArray(Watch.watch(options.source, options.watch), (changes) =>
      Effect.suspend(() => {
        for (const change of changes) accept(change)
        return report.flush()
      })
    )
  )

  const onDeltas = (listener: Listener<A>) =>
    Effect.asVoid(
      Effect.acquireRelease(
        Effect.sync(() => {
          // Its own closure, so that one function may listen twice.
          const own: Listener<A> = (deltas) => listener(deltas)
          if (store.size > 0) tell(own, store.replay())
          listeners = [...listeners, own]
          return own
        }),
        (own) => Effect.sync(() => (listeners = listeners.filter((other) => other !== own)))
      )
    )

  const changes = Stream.unwrap(
    Effect.gen(function* () {
      const buffer = Buffer.make<A>(options.outstanding)
      yield* Effect.addFinalizer(() => Effect.sync(buffer.closeUnsafe))
      yield* onDeltas(buffer.offerUnsafe)
      return Stream.fromPull(Effect.succeed(buffer.pull))
    })
  )

  const statusUnsafe = (): InformerStatus => ({
    resource: Resource.qualifiedName(options.resource),
    id: options.resource.id,
    selection: options.selection,
    synced: store.synced,
    objects: store.size,
    resourceVersion: store.resourceVersion,
    ...report.state(),
    subscribers: self.subscribers
  })

  const self: Shared<A> = {
    resource: options.resource,
    selection: options.selection,
    store,
    ready: Deferred.await(ready),
    synced: Deferred.await(ready).pipe(Effect.catch(() => Effect.interrupt)),
    changes,
    onDeltas,
    addIndex: (name, of) => store.addIndex(name, of),
    gate,
    subscribers: 0,
    statusUnsafe,
    status: Effect.sync(statusUnsafe)
  }
  // Closed in reverse: the fiber first, so that nothing is told after the waits and readers have been released.
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      VersionWaits.closeUnsafe(gate)
      Deferred.doneUnsafe(ready, Effect.fail(undefined))
    })
  )
  yield* Effect.forkScoped(restarting(run, report))
  return self
})

type Report = ReturnType<typeof reporter>

/** What the status tells, and the log lines that go with it: a failure is logged when it begins or changes, not each time. */
const reporter = (clock: Clock.Clock, resource: string) => {
  let attempts = 0
  let lastError: InformerFailure | undefined
  let lastEventAt: number | undefined
  let defects = 0
  let listenerErrors = 0
  let lastListenerError: unknown
  let lines: Array<Effect.Effect<void>> = []

  const failure = (found: Omit<InformerFailure, "at">): void => {
    lastError = { ...found, at: clock.currentTimeMillisUnsafe() }
  }
  return {
    heard: (change: Change<unknown>): void => {
      if (change._tag !== "Restarted") lastEventAt = clock.currentTimeMillisUnsafe()
      if (change._tag !== "Synced" && change._tag !== "Changed") return
      if (attempts > 0) lines.push(Effect.logInfo(`informer of ${resource} works again after ${attempts} failures`))
      attempts = 0
    },
    failed: (error: ApiError.ApiError, attempt: number, retryIn: number): void => {
      const isNew = attempts === 0 || lastError?.reason !== error.reason._tag
      const { verb } = error.context
      if (attempt > 0) attempts += 1
      failure({ message: error.message, verb, reason: error.reason._tag, status: error.status, retryIn })
      const line = `${error.message}; trying again in ${Math.round(retryIn)} ms`
      lines.push(isNew && attempt > 0 ? Effect.logWarning(line) : Effect.logDebug(line))
    },
    died: (cause: Cause.Cause<unknown>, retryIn: number): Effect.Effect<void> => {
      defects += 1
      attempts += 1
      const message = `informer of ${resource}: ${String(Cause.squash(cause))}`
      failure({ message, verb: "watch", reason: "Defect", status: undefined, retryIn })
      return Effect.logError(`informer of ${resource} met a defect; starting anew in ${Math.round(retryIn)} ms`, cause)
    },
    listenerFailed: (error: unknown): void => {
      listenerErrors += 1
      lastListenerError = error
      lines.push(Effect.logError(`a listener of ${resource} threw`, error))
    },
    /** Writes what has been noted since the last time. */
    flush: (): Effect.Effect<void> => {
      if (lines.length === 0) return Effect.void
      const noted = lines
      lines = []
      return Effect.all(noted, { discard: true })
    },
    state: () => ({ attempts, lastError, lastEventAt, defects, listenerErrors, lastListenerError })
  }
}

const backoff = Backoff.exponential({ base: "800 millis", max: "30 seconds" })

/** A run that lasted longer than this, in milliseconds, starts the backoff over. */
const quiet = 120_000

/**
 * Runs for ever. A watch never ends by itself, so each end is a defect: it is reported, and a new watch, which begins with a
 * full state, puts right whatever the old one left half done. An interruption from outside passes through: the wait is the
 * first thing it stops.
 */
const restarting = (run: Effect.Effect<void>, report: Report): Effect.Effect<never> => {
  let failures = 0
  const once = Effect.gen(function* () {
    const started = yield* Clock.monotonicTimeNanos
    const cause = yield* Effect.matchCause(run, {
      onFailure: (cause) => cause,
      onSuccess: () => Cause.die(new Error("the watch ended"))
    })
    if (Number((yield* Clock.monotonicTimeNanos) - started) / 1e6 > quiet) failures = 0
    const delay = Backoff.jitter(backoff(failures++), yield* Random.next)
    yield* report.died(cause, delay)
    yield* Effect.sleep(delay)
  })
  return Effect.forever(once)
}
