/**
 * Counts exactly what controllers do on the embedded server in virtual time: requests by verb and resource, bytes of bodies, reconciles, fibers, timers,
 * spans, and what they hold. The requests, fibers and timers of the test and of the server are not counted.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import type { Api } from "../../src/apiserver/Api.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import * as EmbeddedTransport from "../../src/apiserver/transport.ts"
import { Cache, type Options as CacheOptions } from "../../src/layers/Cache.ts"
import type { Descriptor } from "../../src/layers/Controller.ts"
import { Discovery } from "../../src/layers/Discovery.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Recorder } from "../../src/layers/Recorder.ts"
import { type Request, Transport } from "../../src/layers/Transport.ts"
import * as LoopMetrics from "../../src/streams/reconcile/loopMetrics.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import * as Collections from "./collections.ts"

export interface Options {
  readonly cache?: CacheOptions | undefined
  /** Whether the controllers have a tracer. */
  readonly isTraced: boolean
}

/** Numbers by what they count, one for each line of a record. */
export type Counts = ReadonlyMap<string, number>

/** The spans that are made without a tracer, of any code. */
let untraced = 0
const { span: nativeSpan } = Tracer.nativeTracer
Object.assign(Tracer.nativeTracer, {
  span: (options: Parameters<typeof nativeSpan>[0]) => {
    untraced++
    return nativeSpan.call(Tracer.nativeTracer, options)
  }
})

class Counters {
  /** Since the last `reset`. */
  requests: Array<Request> = []
  bytesSent = 0
  bytesReceived = 0
  fibersStarted = 0
  spans = new Map<string, number>()
  /** Since the beginning. */
  fibersEnded = 0
  fibersBefore = 0
  timers = 0

  reset(): void {
    this.requests = []
    this.bytesSent = this.bytesReceived = 0
    this.fibersBefore += this.fibersStarted
    this.fibersStarted = 0
    this.spans = new Map()
    untraced = 0
  }
}

export const increase = (counts: Map<string, number>, name: string, by = 1): void =>
  void counts.set(name, (counts.get(name) ?? 0) + by)

/** References for all fibers of the controllers. */
const references = (counters: Counters, clock: Clock.Clock, isTraced: boolean) => {
  const counting: Clock.Clock = Object.create(clock, {
    sleep: {
      value: (duration: Duration.Duration) =>
        Effect.acquireUseRelease(
          Effect.sync(() => counters.timers++),
          () => clock.sleep(duration),
          () => Effect.sync(() => counters.timers--)
        )
    }
  })
  const tracer = Tracer.make({
    span: (options) => {
      increase(counters.spans, options.name)
      return new Tracer.NativeSpan(options)
    }
  })
  return Context.make(Clock.Clock, counting).pipe(
    Context.add(Metric.FiberRuntimeMetrics, {
      recordFiberStart: () => void counters.fibersStarted++,
      recordFiberEnd: () => void counters.fibersEnded++
    }),
    Context.add(Metric.MetricRegistry, new Map()),
    isTraced ? Context.add(Tracer.Tracer, tracer) : (context) => context
  )
}

/** The in-process transport of the controllers. What the server does for them runs with the references of the test. */
const transport = (counters: Counters, server: ApiServer["Service"], clock: Clock.Clock): Transport["Service"] => {
  const own = Context.make(Clock.Clock, clock).pipe(Context.add(Metric.FiberRuntimeMetrics, undefined))
  const received = (text: string): void => void (counters.bytesReceived += Buffer.byteLength(text))
  const handle: Api["handle"] = (request) => {
    counters.bytesSent += Buffer.byteLength(request.body)
    return server.handle(request).pipe(
      Effect.provideContext(own),
      Effect.map((answer) => {
        if (answer._tag === "Answer") received(answer.body)
        if (answer._tag !== "Watch") return answer
        const lines = answer.lines.pipe(
          Stream.provideContext(own),
          Stream.mapArray((lines) => {
            for (const line of lines) received(line)
            return lines
          })
        )
        return { ...answer, lines }
      })
    )
  }
  const counted = (request: Request): Request => {
    counters.requests.push(request)
    return request
  }
  const inner = EmbeddedTransport.make({ ...server, handle }, server.faults, server.revision)
  return Transport.of({
    send: (request) => Effect.suspend(() => inner.send(counted(request))),
    watch: (request) => Stream.suspend(() => inner.watch(counted(request)))
  })
}

/** Runs the controllers on a `ClusterTest`, with services of their own. */
export const make = Effect.fnUntraced(function* <R>(controllers: ReadonlyArray<Descriptor<R>>, options: Options) {
  const cluster = yield* ClusterTest
  const server = yield* ApiServer
  const clock = yield* Clock.Clock
  const counters = new Counters()
  const services = Layer.mergeAll(Recorder.layer, Discovery.layer).pipe(
    Layer.provideMerge(Cache.layer(options.cache)),
    Layer.provideMerge(KubeClient.layer),
    Layer.provideMerge(Layer.succeed(Transport, transport(counters, server, clock))),
    Layer.provideMerge(Layer.succeedContext(references(counters, clock, options.isTraced)))
  )
  const context = yield* Layer.build(Layer.fresh(services))
  const within = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provideContext(effect, context)
  const loops = yield* within(Effect.forEach(controllers, ({ name }) => LoopMetrics.of(name)))
  const runs = () => loops.map((loop) => [loop.name, loop.runs()] as const)
  let runsBefore = new Map(runs())

  /** Controllers started in order. */
  const start = Effect.forEach(controllers, (controller) => within(cluster.run<R>(controller)), { discard: true })

  /** What the work costs, until nothing is left to do at its end. */
  const counted = Effect.fnUntraced(function* <E, R>(work: Effect.Effect<void, E, R>) {
    yield* cluster.settle
    runsBefore = new Map(runs())
    counters.reset()
    yield* work
    yield* cluster.settle
    const counts = new Map<string, number>()
    for (const { context } of counters.requests) {
      increase(counts, `requests: ${context.verb} ${context.resource ?? context.path}`)
    }
    counts.set("requests: all", counters.requests.length)
    counts.set("bytes of bodies sent", counters.bytesSent)
    counts.set("bytes of bodies received", counters.bytesReceived)
    for (const [name, count] of runs()) {
      const since = count - (runsBefore.get(name) ?? 0)
      if (since > 0) counts.set(`reconciles: ${name}`, since)
    }
    counts.set("fibers started", counters.fibersStarted)
    for (const [name, count] of counters.spans) counts.set(`spans: ${name}`, count)
    counts.set("spans without a tracer", untraced)
    return { counts, requests: counters.requests }
  })

  /** What the controllers hold. */
  const held = Effect.gen(function* () {
    yield* cluster.settle
    const counts = new Map<string, number>()
    for (const { objects, resource } of yield* Context.get(context, Cache).status) {
      if (objects > 0) increase(counts, `objects in the cache: ${resource}`, objects)
    }
    const queues = loops.flatMap((loop) => loop.look(0).queues)
    const keys = queues.map(({ failing, processing, ready, waiting }) => ready + waiting + processing + failing)
    counts.set(
      "keys in queues",
      keys.reduce((sum, count) => sum + count, 0)
    )
    counts.set("fibers alive", counters.fibersBefore + counters.fibersStarted - counters.fibersEnded)
    counts.set("timers", counters.timers)
    counts.set("series of metrics", Context.get(context, Metric.MetricRegistry).size)
    for (const [module, count] of yield* Effect.promise(Collections.held)) {
      counts.set(`entries of maps and sets: ${module}`, count)
    }
    return counts
  })

  return { start, counted, held }
})
