/**
 * Records what controllers do as Kubernetes events. Recording never fails and never waits: an event is logged, put into a
 * bounded queue and sent by one supervised fiber, which correlates it first (`recorder/correlator`, `recorder/series`).
 * Events are best effort: what does not fit, what the server refuses and what cannot be sent in time is dropped with a log line.
 * Source: client-go tools/record and tools/events.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import type { KubeObject } from "../kube/Meta.ts"
import { Timeline } from "./Timeline.ts"
import { KubeClient } from "./KubeClient.ts"
import * as Correlator from "./recorder/correlator.ts"
import * as Delivery from "./recorder/delivery.ts"
import * as Occurrence from "./recorder/occurrence.ts"
import * as Series from "./recorder/series.ts"
import * as Writes from "./recorder/writes.ts"
import * as Shutdown from "./Shutdown.ts"

/** Records the events of one component. No method fails or waits. */
export interface EventSink {
  /** Records an event about an object. Events that cannot be sent are dropped and counted. */
  readonly event: (
    object: KubeObject,
    type: Occurrence.EventType,
    reason: string,
    message: string,
    details?: EventDetails
  ) => Effect.Effect<void>
  /** `event` with type Normal. */
  readonly normal: (object: KubeObject, reason: string, message: string, details?: EventDetails) => Effect.Effect<void>
  /** `event` with type Warning. */
  readonly warning: (object: KubeObject, reason: string, message: string, details?: EventDetails) => Effect.Effect<void>
}

/** Further fields of an event. */
export interface EventDetails {
  /** What was done, in one word. Default: the reason. `events.k8s.io` only. */
  readonly action?: string | undefined
  /** The part of the object that the event is about, `spec.containers{web}`. */
  readonly fieldPath?: string | undefined
}

/** Settings of a sink. */
export interface SinkOptions {
  /** The API of its events: `v1` (default) with counts, or `events.k8s.io` with series. */
  readonly api?: Writes.Api | undefined
}

/** Settings of the layer. */
export interface Options {
  /** The name of this process among its replicas: host or pod name. Default: empty. */
  readonly instance?: string | undefined
  /** How long the finalizer waits for queued events. Default 5 s, and at most the time that the shutdown has left. */
  readonly flushLimit?: Duration.Input | undefined
}

/** Records events. Equal events are counted, many similar ones are combined, and their rate is limited. Source: client-go's EventCorrelator. */
export class Recorder extends Context.Service<
  Recorder,
  {
    /** The sink of one component, for instance `pod_controller`. */
    readonly named: (component: string, options?: SinkOptions) => EventSink
    /** Writes series whose count has changed since they were written, then waits until nothing is outstanding. */
    readonly flush: Effect.Effect<void>
    /** The number of events that are recorded and neither sent nor dropped. */
    readonly outstanding: Effect.Effect<number>
    /** Waits until nothing is outstanding. */
    readonly drained: Effect.Effect<void>
  }
>()("effect-controller-manager/Recorder") {
  /** Drops every event; for tests of code that records events. */
  static readonly layerNoop = Layer.sync(Recorder, () => {
    const nothing = () => Effect.void
    return Recorder.of({
      named: () => ({ event: nothing, normal: nothing, warning: nothing }),
      flush: Effect.void,
      outstanding: Effect.succeed(0),
      drained: Effect.void
    })
  })

  /** With settings. */
  static readonly layerWith = (options: Options): Layer.Layer<Recorder, never, KubeClient> =>
    Layer.effect(
      Recorder,
      Effect.suspend(() => make(options))
    )

  /** Sends what is queued when its scope closes, within five seconds. */
  static readonly layer: Layer.Layer<Recorder, never, KubeClient> = Recorder.layerWith({})
}

/** Events that wait for the sender. Source: client-go maxQueuedEvents. */
const capacity = 1000

type Item =
  | {
      readonly _tag: "Event"
      readonly api: Writes.Api
      readonly occurrence: Occurrence.Occurrence
      readonly at: number
    }
  | { readonly _tag: "Sweep"; readonly all: boolean; readonly at: number }

interface State {
  readonly queue: Queue.Queue<Item>
  readonly instance: string
  /** The number of items that were queued and are not finished. */
  outstanding: number
  /** Open exactly when nothing is outstanding. */
  readonly idle: Latch.Latch
  /** Open once the recorder is being closed: it accepts no more events, and does not wait for retries. */
  readonly closing: Latch.Latch
  /** Events dropped since the last one that was queued: a full queue is logged once, not for each event. */
  dropped: number
  /** Nanoseconds in the last event name, so that names are unique even when the clock does not advance. */
  lastNanos: bigint
}

const make = Effect.fnUntraced(function* (options: Options) {
  const client = yield* KubeClient
  const timeline = yield* Timeline
  const state: State = {
    queue: yield* Queue.dropping<Item>(capacity),
    instance: options.instance ?? "",
    outstanding: 0,
    idle: yield* Latch.make(true),
    closing: yield* Latch.make(false),
    dropped: 0,
    lastNanos: 0n
  }
  const fibers = [
    yield* Effect.forkDetach(sending(state, client)),
    yield* Effect.forkDetach(Effect.forever(Effect.delay(offerSweep(state, false), Series.defaults.window)))
  ]
  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      yield* offerSweep(state, true)
      yield* state.closing.open
      const own = Duration.toMillis(options.flushLimit ?? "5 seconds")
      const limit = yield* Shutdown.atMost("flush", own)
      yield* Effect.timeoutOption(state.idle.await, limit)
      // Not awaited: a call that cannot be interrupted must not delay the shutdown.
      for (const fiber of fibers) fiber.interruptUnsafe()
      if (state.outstanding === 0) return
      yield* Effect.logWarning(`${state.outstanding} events were not sent before the end`)
      if (limit < own) yield* (yield* Shutdown.Shutdown).giveUp([`${state.outstanding} events`])
    })
  )
  return Recorder.of({
    named: (component, options) => sink(state, component, options?.api ?? "v1", timeline),
    flush: Effect.andThen(offerSweep(state, true), state.idle.await),
    outstanding: Effect.sync(() => state.outstanding),
    drained: state.idle.await
  })
})

const sink = (state: State, component: string, api: Writes.Api, timeline: Timeline | undefined): EventSink => {
  const event: EventSink["event"] = (object, type, reason, message, details) =>
    Effect.withFiber((fiber) => {
      timeline?.event(fiber, object, type, reason, message)
      return record(state, fiber.getRef(Clock.Clock), { api, component, object, type, reason, message, details })
    })
  return {
    event,
    normal: (object, reason, message, details) => event(object, "Normal", reason, message, details),
    warning: (object, reason, message, details) => event(object, "Warning", reason, message, details)
  }
}

interface Recorded {
  readonly api: Writes.Api
  readonly component: string
  readonly object: KubeObject
  readonly type: Occurrence.EventType
  readonly reason: string
  readonly message: string
  readonly details: EventDetails | undefined
}

/** Queues the event synchronously, then logs it. An event that cannot be queued is only logged. */
const record = (state: State, clock: Clock.Clock, given: Recorded): Effect.Effect<void> => {
  const { api, component, type, reason, message, details } = given
  const reference = Occurrence.referenceOf(given.object)
  if (reference === undefined) {
    return Effect.logWarning(
      `event ${reason} of ${component} is about an object without apiVersion, kind or name: ${message}`
    )
  }
  const nanos = clock.currentTimeNanosUnsafe()
  state.lastNanos = nanos > state.lastNanos ? nanos : state.lastNanos + 1n
  const occurrence: Occurrence.Occurrence = {
    object: details?.fieldPath === undefined ? reference : { ...reference, fieldPath: details.fieldPath },
    type,
    reason,
    message,
    action: details?.action ?? "",
    component,
    instance: state.instance,
    name: Occurrence.eventName(reference.name, state.lastNanos),
    time: clock.currentTimeMillisUnsafe()
  }
  const warning = offerUnsafe(state, { _tag: "Event", api, occurrence, at: millis(clock) })
  const where = reference.namespace === undefined ? reference.name : `${reference.namespace}/${reference.name}`
  const line = `event ${type} ${reason} on ${reference.kind} ${where} from ${component}: ${message}`
  const log = type === "Normal" ? Effect.logDebug(line) : Effect.logInfo(line)
  return warning === undefined ? log : Effect.andThen(Effect.logWarning(warning), log)
}

const millis = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

/** Queues an item, or drops it; returns a log line for the first of several that are dropped in a row. */
const offerUnsafe = (state: State, item: Item): string | undefined => {
  if (state.closing.isOpen()) return undefined
  if (Queue.offerUnsafe(state.queue, item)) {
    state.dropped = 0
    state.outstanding += 1
    state.idle.closeUnsafe()
    return undefined
  }
  state.dropped += 1
  return state.dropped === 1
    ? `the event queue is full (${capacity}): events are dropped until there is room`
    : undefined
}

const offerSweep = (state: State, all: boolean): Effect.Effect<void> =>
  Clock.clockWith((clock) => Effect.sync(() => void offerUnsafe(state, { _tag: "Sweep", all, at: millis(clock) })))

/** The only sender, which has the correlators. A defect loses one item and does not stop it. */
const sending = (state: State, client: KubeClient["Service"]): Effect.Effect<never> => {
  const legacy = Correlator.make()
  const series = Series.make()
  const writesOf = (item: Item): ReadonlyArray<Writes.Write> => {
    if (item._tag === "Sweep") {
      Correlator.sweep(legacy, item.at)
      const actions = item.all ? Series.finish(series, item.at) : Series.sweep(series, item.at)
      return actions.map((action) => Writes.modern(action.series, true))
    }
    if (item.api === "events.k8s.io") {
      const actions = Series.observe(series, item.occurrence, item.at)
      return actions.map((action) => Writes.modern(action.series, action._tag === "Patch"))
    }
    const action = Correlator.correlate(legacy, item.occurrence, item.at)
    return action._tag === "Drop" ? [] : [Writes.legacy(action.event, action._tag === "Patch")]
  }
  const finished = Effect.sync(() => {
    state.outstanding -= 1
    if (state.outstanding === 0) state.idle.openUnsafe()
  })
  const handle = (item: Item): Effect.Effect<void> =>
    Effect.suspend(() =>
      Effect.forEach(writesOf(item), (write) => Delivery.deliver(client, write, state.closing), { discard: true })
    ).pipe(
      Effect.catchDefect((defect) => Effect.logError("an event was lost to a defect", defect)),
      Effect.ensuring(finished)
    )
  return Effect.forever(Effect.flatMap(Queue.take(state.queue), handle))
}
