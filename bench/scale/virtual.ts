/**
 * What virtual time answers, with the real storage, cache and client over the embedded API server: requests of replicas at rest, how long the objects of a
 * replica that dies, or stops, are without one, and how many events the life of a pod is.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import { ConfigMap, Pod } from "../../src/kube/resources.ts"
import { Cache } from "../../src/layers/Cache.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Transport } from "../../src/layers/Transport.ts"
import * as Fleet from "../../test/manager/shards/fleet.ts"
import * as Replicas from "../../test/manager/shards/replicas.ts"
import * as Machine from "../../src/simulation/Machine.ts"
import * as Nodes from "../../src/simulation/Nodes.ts"

/** The defaults of the program. */
export const shards = 64
export const expiration = Duration.seconds(15)

const objects = 400

/** Starts the replicas, and waits until the shards are divided and every object was reconciled. */
const start = (size: number, world: Replicas.World) =>
  Effect.gen(function* () {
    const client = yield* KubeClient
    for (let i = 0; i < objects; i++)
      yield* client.create(ConfigMap, { metadata: { namespace: "default", name: `settings-${i}` } })
    const names = Array.from({ length: size }, (_, index) => `replica-${index}`)
    // One after the other, so that they do not renew and look at each other at the same moments.
    const replicas = yield* Effect.forEach(names, (name) =>
      Effect.tap(Replicas.start(name, world), Replicas.advance(0.5))
    )
    yield* Replicas.advance(40)
    const held = replicas.reduce((sum, replica) => sum + replica.held.size, 0)
    if (held !== shards) return yield* Effect.die(new Error(`${held} of ${shards} shards are held`))
    return replicas
  })

const world = (): Replicas.World => Replicas.world({ shards, expiration, shardBy: "key" })

/** Requests a second of all replicas together, over two minutes. */
const atRest = (size: number) =>
  Effect.gen(function* () {
    let requests = 0
    const inner = yield* Transport
    const counted: Transport["Service"] = {
      ...inner,
      send: (request) => Effect.suspend(() => (requests++, inner.send(request))),
      watch: (request) => (requests++, inner.watch(request))
    }
    yield* Effect.provideService(start(size, world()), Transport, counted)
    requests = 0
    yield* Replicas.advance(120)
    return requests / 120
  })

/** Seconds from the end of a replica until each of its objects was reconciled by another one. `phase`: seconds of its interval of renewals that have passed. */
const handoff = (size: number, phase: number, isOrderly: boolean) =>
  Effect.gen(function* () {
    const all = world()
    const [first] = yield* start(size, all)
    if (first === undefined) return yield* Effect.die(new Error("no replica"))
    yield* Replicas.advance(phase)
    const own = new Set(all.runs.flatMap(({ key, replica }) => (replica === first.replica ? key : [])))
    for (const { key, replica } of all.runs) if (replica !== first.replica) own.delete(key)
    const began = yield* Replicas.now
    all.runs.length = 0
    if (isOrderly) yield* Effect.forkScoped(first.stop)
    else first.gate.isCut = true
    yield* Replicas.advance(40)
    const later = new Map<string, number>()
    for (const { from, key, replica } of all.runs)
      if (replica !== first.replica && own.has(key)) later.set(key, Math.min(from, later.get(key) ?? Infinity))
    if (later.size !== own.size) return yield* Effect.die(new Error(`${later.size} of ${own.size} objects`))
    return (Math.max(...later.values()) - began) / 1000
  })

const inVirtualTime = <A, E>(effect: Effect.Effect<A, E, Effect.Services<ReturnType<typeof handoff>>>): Promise<A> =>
  Effect.runPromise(
    effect.pipe(
      Effect.scoped,
      Effect.provide(Layer.provideMerge(Fleet.server, TestClock.layer({ warningDelay: "1 hour" }))),
      // A replica that dies reports that it cannot renew its Lease.
      Effect.provideService(References.MinimumLogLevel, "None")
    ) as Effect.Effect<A>
  )

/** Of a number of replicas. */
export interface Virtual {
  readonly size: number
  /** A second at rest, of all together. */
  readonly requests: number
  /** Seconds, for kills at several moments between two renewals. */
  readonly killed: ReadonlyArray<number>
  readonly stopped: number
}

export const measure = async (size: number): Promise<Virtual> => {
  const requests = await inVirtualTime(atRest(size))
  if (size === 1) return { size, requests, killed: [], stopped: 0 }
  const killed: Array<number> = []
  for (const phase of [0, 1.5, 3, 4.5]) killed.push(await inVirtualTime(handoff(size, phase, false)))
  return { size, requests, killed, stopped: await inVirtualTime(handoff(size, 0, true)) }
}

const pods = 20

/** Events of a pod from its creation to its deletion ten minutes later, on a simulated node. */
export const eventsOfPod = (): Promise<number> =>
  inVirtualTime(
    Effect.gen(function* () {
      const client = yield* KubeClient
      let events = 0
      yield* client.watch(Pod, { namespace: "default" }).pipe(
        Stream.runForEach(() => Effect.sync(() => void events++)),
        Effect.forkScoped
      )
      const names = Array.from({ length: pods }, (_, index) => `web-${index}`)
      const spec = { containers: [{ name: "main", image: "example.test/main:1" }] }
      for (const name of names) yield* client.create(Pod, { metadata: { namespace: "default", name }, spec })
      yield* Replicas.advance(600)
      for (const name of names) yield* client.delete(Pod, { namespace: "default", name })
      yield* Replicas.advance(60)
      return events / pods
    }).pipe(
      Effect.provide(
        Nodes.layer({ machines: [Machine.make("worker-1", 1, "worker")] }).pipe(Layer.provideMerge(Cache.layer()))
      )
    )
  )
