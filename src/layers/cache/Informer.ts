/**
 * A shared informer and its parts: `prepare`, which is applied to each object once, the reflector that runs a watch, the store that it
 * fills, and the processor that passes the deltas of the store to the listeners. Order for each chunk of changes: store, listeners, `synced`,
 * version waits, all in one synchronous section, so a listener that is added between two chunks misses nothing and receives nothing twice.
 * No failure ends an informer. `Registry.ts` makes informers, `informer/PerNamespaceWatch.ts` is the alternative to `singleWatch`.
 * Source: client-go's tools/cache: sharedIndexInformer, sharedProcessor, Reflector.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { KubeObject } from "../../kube/Meta.ts"
import * as Resource from "../../kube/Resource.ts"
import * as Backoff from "../../streams/queue/backoff.ts"
import type { Delta } from "../../streams/store/Store.ts"
import * as Store from "../../streams/store/Store.ts"
import { trim } from "../../streams/watch/decode.ts"
import type { Change } from "../../streams/watch/protocol.ts"
import type { InformerFailure } from "./informer/report.ts"
import * as Report from "./informer/report.ts"
import * as VersionWaits from "./VersionWaits.ts"

export type { InformerFailure } from "./informer/report.ts"

/** Which objects of a kind: those of one namespace, or with these labels or fields. Empty: all. */
export interface Selection {
  /** Absent: all namespaces, or a cluster-scoped kind. */
  readonly namespace?: string | undefined
  /** The query form, `app=web,tier!=cache`. */
  readonly labelSelector?: string | undefined
  /** The query form, `spec.nodeName=a`. */
  readonly fieldSelector?: string | undefined
}

/** A shared informer as subscribers see it; valid for the scope of the subscription. */
export interface Informer<out A extends KubeObject> {
  /** The kind. */
  readonly resource: Resource.Resource<A>
  /** Which of its objects. */
  readonly selection: Selection
  /** The present state, synchronously; empty until the first sync. */
  readonly store: Store.Readable<A>
  /** Waits for the first sync: the store is full, and every listener has received it. Interrupts if the informer is closed. */
  readonly synced: Effect.Effect<void>
  /** Every present object as `Created` with `initial`, then the deltas, merged by key while the subscriber is slow. */
  readonly changes: Stream.Stream<Delta<A>>
  /**
   * A synchronous callback, once for each chunk until the scope closes, first with the present objects. For work that is quick and cannot
   * accumulate, such as adding keys to a queue. An exception is counted in the status, logged, and stops nothing.
   */
  readonly onDeltas: (listener: Listener<A>) => Effect.Effect<void, never, Scope.Scope>
  /** One entry for each of its watches; while it has none, one entry without a watch. */
  readonly status: Effect.Effect<ReadonlyArray<InformerStatus>>
}

/** The state of one watch of an informer, for operators and readiness probes. */
export interface InformerStatus {
  /** `pods`, `deployments.apps`. */
  readonly resource: string
  /** The id of the resource, which differs between projections of one kind. */
  readonly id: string
  /** The selection of the watch, with its namespace if each namespace has a watch. */
  readonly selection: Selection
  /** True once it has read its full state. */
  readonly synced: boolean
  /** How many objects it holds. */
  readonly objects: number
  /** Estimated size of all objects as JSON, in bytes; measured at each call. */
  readonly bytesUnsafe: () => number
  /** The version that the watch has reached; undefined before the first sync. */
  readonly resourceVersion: string | undefined
  /** When the watch was started. Wall clock, milliseconds. */
  readonly startedAt: number
  /** Failures in a row; 0 while it works. */
  readonly attempts: number
  /** Failures since `startedAt`. */
  readonly failures: number
  /** How often the full state was read again since `startedAt`. */
  readonly relists: number
  /** The last failure; it stays after the watch works again. */
  readonly lastError: InformerFailure | undefined
  /** When the last event or bookmark arrived. Wall clock, milliseconds. */
  readonly lastEventAt: number | undefined
  /** Defects of this process after which the watch was started again. */
  readonly defects: number
  /** Number of exceptions that listeners and callbacks of version waits have thrown. */
  readonly listenerErrors: number
  /** The last of these exceptions. */
  readonly lastListenerError: unknown
  /** Open subscriptions. */
  readonly subscribers: number
}

/** Called in the informer's fiber, once for each chunk, after the store has changed. Must not block. */
export type Listener<in A> = (deltas: ReadonlyArray<Delta<A>>) => void

/** Calls all listeners of one informer with the same deltas in the same order, synchronously. A listener that throws affects no other. */
export interface SharedProcessor<A extends KubeObject> {
  readonly distribute: (deltas: ReadonlyArray<Delta<A>>) => void
  readonly onDeltas: (listener: Listener<A>) => Effect.Effect<void, never, Scope.Scope>
  /** Counts an exception of a listener or of a callback of a version wait. */
  readonly recordError: (error: unknown) => void
  /** Logs the errors recorded since the last call. */
  readonly logErrors: () => Effect.Effect<void>
  readonly state: () => { readonly listenerErrors: number; readonly lastListenerError: unknown }
}

export const makeProcessor = <A extends KubeObject>(of: string, store: Store.Readable<A>): SharedProcessor<A> => {
  /** Replaced, never mutated: adding or removing a listener during a delivery does not affect that delivery. */
  let listeners: ReadonlyArray<Listener<A>> = []
  let listenerErrors = 0
  let lastListenerError: unknown
  let unlogged: Array<unknown> = []

  const recordError = (error: unknown): void => {
    listenerErrors += 1
    lastListenerError = error
    unlogged.push(error)
  }

  const call = (listener: Listener<A>, deltas: ReadonlyArray<Delta<A>>): void => {
    try {
      listener(deltas)
    } catch (error) {
      recordError(error)
    }
  }

  return {
    distribute: (deltas) => {
      if (deltas.length > 0) for (const listener of listeners) call(listener, deltas)
    },
    onDeltas: (listener) =>
      Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => {
            // A new closure each time, so that one function can be added twice.
            const own: Listener<A> = (deltas) => listener(deltas)
            if (store.size > 0) call(own, store.replay())
            listeners = [...listeners, own]
            return own
          }),
          (own) => Effect.sync(() => (listeners = listeners.filter((other) => other !== own)))
        )
      ),
    recordError,
    logErrors: () => {
      if (unlogged.length === 0) return Effect.void
      const errors = unlogged
      unlogged = []
      return Effect.forEach(errors, (error) => Effect.logError(`a listener of ${of} threw`, error), { discard: true })
    },
    state: () => ({ listenerErrors, lastListenerError })
  }
}

/** Settings of the watch or watches of an informer. */
export interface WatchOptions<A extends KubeObject> {
  readonly resource: Resource.Resource<A>
  /** The changes of one namespace, or of the whole selection. */
  readonly watch: (namespace: string | undefined) => Stream.Stream<Change<A>>
  readonly freeze: boolean
  readonly counters: Report.Counters
}

/** A store with its watch or watches: what `singleWatch` and `perNamespaceWatch` return. */
export interface InformerWatch<A extends KubeObject> {
  readonly store: Store.Readable<A> & Pick<Store.Store<A>, "addIndex">
  readonly processor: SharedProcessor<A>
  readonly gate: VersionWaits.Gate
  readonly watches: () => ReadonlyArray<WatchStatus>
}

export type WatchStatus = { readonly namespace: string | undefined } & Pick<
  InformerStatus,
  "synced" | "objects" | "resourceVersion"
> &
  ReturnType<Reflector["state"]>

export type Ready = Deferred.Deferred<void, void>

/** Ends version waits and reads that wait for the sync. Registered before the watches, so it runs after they have stopped. */
export const releasing = (gate: VersionWaits.Gate, ready: Ready) =>
  Effect.addFinalizer(() =>
    Effect.sync(() => {
      VersionWaits.closeUnsafe(gate)
      Deferred.doneUnsafe(ready, Effect.fail(undefined))
    })
  )

export interface ReflectorOptions<A> {
  readonly clock: Clock.Clock
  /** Names the watch in log lines: `pods in namespace a`. */
  readonly of: string
  readonly changes: Stream.Stream<Change<A>>
  /** Synchronous; called for each change of a chunk, without a yield in between. */
  readonly accept: (change: Change<A>) => void
  /** Run after each chunk. */
  readonly after: () => Effect.Effect<void>
  readonly counters: Report.Counters
}

export interface Reflector {
  readonly run: Effect.Effect<never>
  readonly state: Report.Report["state"]
}

/** Runs one watch, restarts it after a defect, reports each change and passes it on. */
export const makeReflector = <A>({ accept, after, changes, clock, counters, of }: ReflectorOptions<A>): Reflector => {
  const report = Report.make(clock, of, counters)
  /** Why the next full state is read: the last failure since the previous full state. */
  let reason = "Unknown"
  let isFirst = true
  const note = (change: Change<A>): void => {
    if (change._tag === "Failed") {
      reason = change.error.reason._tag
      return report.failed(change.error, change.attempt, Duration.toMillis(change.delay))
    }
    report.changed(change)
    if (change._tag === "Synced") reason = "Unknown"
    if (change._tag !== "Restarted") return
    if (!isFirst) report.relisted(reason)
    isFirst = false
  }
  const run = Effect.suspend(() =>
    Stream.runForEachArray(changes, (chunk) =>
      Effect.suspend(() => {
        for (const change of chunk) {
          note(change)
          accept(change)
        }
        const logs = report.flush()
        // Nearly always there is nothing to log, and then there is no second effect to run.
        return logs === Effect.void ? after() : Effect.andThen(logs, after())
      })
    )
  )
  return { run: restarting(run, report), state: report.state }
}

const backoff = Backoff.exponential({ base: "800 millis", max: "30 seconds" })

/** A run that lasted longer than this, in milliseconds, resets the backoff. */
const resetAfter = 120_000

/**
 * Runs forever. A watch never ends by itself, so each end is a defect: it is reported, and after a wait a new watch starts with a full
 * state, which replaces a partial one. An interruption from outside ends the loop, also during a wait.
 */
const restarting = (run: Effect.Effect<void>, report: Report.Report): Effect.Effect<never> => {
  let failures = 0
  const once = Effect.gen(function* () {
    const started = yield* Clock.monotonicTimeNanos
    const cause = yield* Effect.matchCause(run, {
      onFailure: (cause) => cause,
      onSuccess: () => Cause.die(new Error("the watch ended"))
    })
    if (Number((yield* Clock.monotonicTimeNanos) - started) / 1e6 > resetAfter) failures = 0
    const delay = Backoff.jitter(backoff(failures++), yield* Random.next)
    yield* report.died(cause, delay)
    yield* Effect.sleep(delay)
  })
  return Effect.forever(once)
}

/** A store that one watch of the whole selection fills. */
export const singleWatch = Effect.fnUntraced(function* <A extends KubeObject>(
  { counters, freeze, resource, watch }: WatchOptions<A>,
  ready: Ready,
  waits: VersionWaits.Gate["waits"]
): Effect.fn.Return<InformerWatch<A>, never, Scope.Scope> {
  const of = Resource.qualifiedName(resource)
  const store = Store.make<A>({ freeze })
  const processor = makeProcessor(of, store)
  const gate: VersionWaits.Gate = {
    waits,
    hasPassed: (key, version) =>
      VersionWaits.hasPassed(store.resourceVersion, store.get(key)?.metadata.resourceVersion, version),
    threw: processor.recordError
  }
  const accept = (change: Change<A>): void => {
    processor.distribute(store.apply(change))
    if (change._tag === "Synced") Deferred.doneUnsafe(ready, Effect.void)
    if (waits.size > 0) VersionWaits.passUnsafe(gate)
  }
  const clock = yield* Clock.Clock
  const reflector = makeReflector({
    clock,
    of,
    changes: watch(undefined),
    accept,
    after: processor.logErrors,
    counters
  })
  yield* releasing(gate, ready)
  yield* Effect.forkScoped(reflector.run)
  return {
    store,
    processor,
    gate,
    watches: () => [
      {
        namespace: undefined,
        synced: store.synced,
        objects: store.size,
        resourceVersion: store.resourceVersion,
        ...reflector.state()
      }
    ]
  }
})

/** Called once for each object before it is stored. It may write to the object. */
export type Prepare = (object: KubeObject) => KubeObject

/** Trims an object, applies the transform of its kind, and interns its strings. Source: client-go's cache.TransformFunc. */
export const prepare = (
  resource: Resource.Any,
  settings: { readonly keepManagedFields?: boolean | undefined; readonly transform?: Prepare | undefined }
): Prepare => {
  const trimmed = trim(resource, settings.keepManagedFields)
  const interned = interning()
  const { transform } = settings
  return transform === undefined
    ? (object) => interned(trimmed(object))
    : (object) => interned(transform(trimmed(object)))
}

/** Size of the table of interned strings; a power of two. */
const slots = 4096

/** V8 shares shorter strings while parsing; longer ones seldom repeat. */
const shortest = 11
const longest = 64

export type Intern = <A extends KubeObject>(object: A) => A

/**
 * Makes equal strings of different objects share memory, in place: a JSON parser allocates the repeated names and uids of owners, label
 * values, nodes and timestamps once for each object. It runs for every object, so only the metadata and the first level of spec and
 * status are interned: before the store shared equal parts of objects, a tenth of the heap of a cache of pods for a twentieth of their parsing time. The
 * table has a fixed size and forgets; a miss costs memory, never correctness. One table for each kind, because strings seldom repeat across kinds.
 */
export const interning = (): Intern => {
  // Most kinds of a cluster have few objects or none.
  let table: Array<string | undefined> | undefined
  const share = (text: string): string => {
    if (text.length < shortest || text.length > longest) return text
    table ??= Array.from<string | undefined>({ length: slots })
    const slot = hash(text) & (slots - 1)
    const found = table[slot]
    if (found === text) return found
    table[slot] = text
    return text
  }
  /** The strings directly in a record, not nested ones. */
  const shareIn = (record: unknown): void => {
    if (typeof record !== "object" || record === null || Array.isArray(record)) return
    const texts = record as Record<string, unknown>
    for (const key in texts) {
      const text = texts[key]
      if (typeof text === "string" && text.length >= shortest) texts[key] = share(text)
    }
  }
  return (object) => {
    const { metadata, spec, status } = object as KubeObject & { readonly spec?: unknown; readonly status?: unknown }
    const own = metadata as Mutable<typeof metadata>
    if (typeof own.namespace === "string") own.namespace = share(own.namespace)
    if (typeof own.generateName === "string") own.generateName = share(own.generateName)
    if (typeof own.creationTimestamp === "string") own.creationTimestamp = share(own.creationTimestamp)
    shareIn(own.labels)
    if (Array.isArray(own.ownerReferences)) own.ownerReferences.forEach(shareIn)
    shareIn(spec)
    shareIn(status)
    return object
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

const hash = (text: string): number => {
  let h = text.length
  for (let i = 0; i < text.length; i++) h = (Math.imul(h, 31) + text.charCodeAt(i)) | 0
  return h ^ (h >>> 15)
}
