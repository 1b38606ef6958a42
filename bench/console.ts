/**
 * Processor time of the console's stream with 20,000 pods, of which 200 change every second, and the figures of 40 controllers: with one page, with
 * sixteen, and with sixteen that do not read. What the changes themselves take is measured without a page, and subtracted. The lower bound is the
 * same changes of pods as JSON, once for all pages, five times a second.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Stream from "effect/Stream"
import type { KubeObject } from "../src/kube/Meta.ts"
import { Pod } from "../src/kube/resources.ts"
import type { Cache } from "../src/layers/Cache.ts"
import * as Informer from "../src/layers/cache/Informer.ts"
import * as Inspection from "../src/layers/Inspection.ts"
import { podOf } from "../src/manager/console/cluster.ts"
import * as Figures from "../src/manager/console/figures.ts"
import * as ConsoleStream from "../src/manager/console/stream.ts"
import * as LoopMetrics from "../src/streams/reconcile/loopMetrics.ts"
import * as Store from "../src/streams/store/Store.ts"
import type { Figure } from "./figure.ts"

const [pods, perSecond, controllers] = [20_000, 200, 40]
const batches = 20
const seconds = 5

const podAt = (at: number, version: number): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    namespace: "shop",
    name: `web-${at}`,
    uid: `uid-${at}`,
    resourceVersion: `${version}`,
    ownerReferences: [
      { apiVersion: "apps/v1", kind: "ReplicaSet", name: `web-${at % 1000}`, uid: "u", controller: true }
    ]
  },
  spec: { nodeName: `worker-${at % 200}`, containers: [{ name: "main", image: "example.test/main:1" }] },
  status: {
    phase: "Running",
    conditions: [{ type: "Ready", status: version % 2 === 0 ? "True" : "False" }],
    containerStatuses: [
      { name: "main", image: "example.test/main:1", imageID: "", ready: true, restartCount: 0, state: { running: {} } }
    ]
  }
})

/** An informer's store with the objects, and what distributes their changes. */
const makeInformer = <A extends KubeObject>(objects: ReadonlyArray<A>) => {
  const store = Store.make<A>()
  store.apply({ _tag: "Restarted" })
  store.apply({ _tag: "Listed", objects })
  store.apply({ _tag: "Synced", resourceVersion: "1" })
  return { store, ...Informer.makeProcessor("a kind", store) }
}

const program = { name: "bench", version: "1", server: "https://127.0.0.1:1", isEmbedded: true, startedAt: 0 }
const names = Array.from({ length: controllers }, (_, at) => `controller-${at}`)

const cpu = (): number => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1000
}

interface Pages {
  readonly count: number
  readonly read: boolean
}

interface Cost {
  /** Milliseconds of the processor until the pages have the whole, and for each second after it. */
  readonly whole: number
  readonly perSecond: number
  /** Kilobytes a second that one page gets. */
  readonly kilobytes: number
}

const measure = ({ count, read }: Pages) =>
  Effect.gen(function* () {
    const informer = makeInformer(Array.from({ length: pods }, (_, at) => podAt(at, 0)))
    const nodes = makeInformer<KubeObject>([])
    const cluster = {
      subscribe: (resource: unknown) => Effect.succeed(resource === Pod ? informer : nodes)
    } as unknown as Cache["Service"]
    const figures = yield* Figures.make({
      controllers: names.map((name) => ({ name, reads: [Pod], needsLeader: false })),
      disabled: []
    })
    const queues = yield* Effect.forEach(names, (name) =>
      Effect.map(LoopMetrics.of(name), (metrics) => metrics.queue(name))
    )
    let bytes = 0
    const page = ConsoleStream.make({ program, figures, cluster, closing: Effect.never })
    const before = cpu()
    const readers = yield* Effect.forEach(Array.from({ length: count }), () => Stream.toPull(page))
    // A page that does not read has got the beginning.
    if (!read) yield* Effect.forEach(readers, (pull) => pull, { discard: true })
    const reading = read ? readers : []
    yield* Effect.forEach(
      reading,
      (pull) =>
        Effect.gen(function* () {
          for (;;) for (const part of yield* pull) bytes += part.length
        }).pipe(Effect.ignore, Effect.forkScoped),
      { discard: true }
    )
    yield* Effect.sleep(1000)
    const whole = cpu() - before
    const [began, bytesBefore] = [cpu(), bytes]
    for (let batch = 0; batch < seconds * batches; batch++) {
      const events = Array.from({ length: perSecond / batches }, (_, at) => ({
        type: "MODIFIED" as const,
        object: podAt((batch * 7919 + at * 104_729) % pods, batch + 2)
      }))
      informer.distribute(informer.store.apply({ _tag: "Changed", events, resourceVersion: `${batch + 2}` }))
      if (batch % batches === 0) for (const queue of queues) queue.ended(5)
      yield* Effect.sleep(1000 / batches)
    }
    return {
      whole,
      perSecond: (cpu() - began) / seconds,
      kilobytes: (bytes - bytesBefore) / 1000 / seconds / Math.max(1, count)
    } satisfies Cost
  }).pipe(
    Effect.provideService(Inspection.Inspection, Inspection.makeUnsafe()),
    Effect.provideService(Metric.MetricRegistry, new Map()),
    Effect.scoped
  )

/** The changes of a second as JSON. */
const floor = (): number => {
  const rounds = 200
  const before = cpu()
  let length = 0
  for (let round = 0; round < rounds; round++) {
    for (let look = 0; look < 5; look++) {
      const changed = Array.from({ length: perSecond / 5 }, (_, at) => podOf(podAt(at, round)))
      length += JSON.stringify({ changed }).length
    }
  }
  if (length === 0) throw new Error("nothing was written")
  return (cpu() - before) / rounds
}

export const run = (): Promise<Array<Figure>> =>
  Effect.runPromise(
    Effect.gen(function* () {
      // The first round compiles.
      yield* measure({ count: 1, read: true })
      const none = yield* measure({ count: 0, read: true })
      const one = yield* measure({ count: 1, read: true })
      const many = yield* measure({ count: 16, read: true })
      const asleep = yield* measure({ count: 16, read: false })
      const least = floor()
      const figure = (name: string, cost: Cost, most: number): Figure => {
        const value = cost.perSecond - none.perSecond
        return {
          name: `${name} with ${perSecond} changes a second of ${pods} pods: ${cost.kilobytes.toFixed(0)} kB/s each`,
          value,
          unit: "ms/s",
          floor: least,
          ratio: value / least,
          bar: `≤ ${most} ms/s`,
          ok: value <= most
        }
      }
      return [
        { name: "the changes without a page", value: none.perSecond, unit: "ms/s", bar: "none", ok: true },
        figure("a page", one, 15),
        figure("16 pages", many, 80),
        figure("16 pages that do not read", asleep, 5),
        {
          name: `the whole of ${pods} pods for one of 16 pages`,
          value: (many.whole - none.whole) / 16,
          unit: "ms",
          bar: "≤ 150 ms",
          ok: (many.whole - none.whole) / 16 <= 150
        }
      ]
    })
  )
