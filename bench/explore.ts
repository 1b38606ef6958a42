/**
 * How many runs an exploration makes in a minute of one core: all single perturbations of Memcached, in process. Its floor is a cluster that starts, on
 * which nothing runs, and whose clock advances as far.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import process from "node:process"
import * as Memcacheds from "../src/controllers/Memcached.ts"
import * as Crd from "../src/kube/crd/Crd.ts"
import { ClusterTest } from "../src/testing/ClusterTest.ts"
import { explore } from "../src/testing/explore/explore.ts"
import type { Figure } from "./figure.ts"

const memcached = (name: string, size: number) => ({
  apiVersion: "cache.example.com/v1alpha1",
  kind: "Memcached",
  metadata: { namespace: "default", name },
  spec: { size }
})

const exploration = explore("memcached", {
  controllers: [Memcacheds.make()],
  scenario: (cluster) =>
    Effect.gen(function* () {
      const target = { namespace: "default", name: "a" }
      yield* cluster.apply([memcached("a", 2)])
      yield* cluster.advance("1 minute")
      yield* cluster.edit(Memcacheds.Memcached, target, { spec: { size: 3 } })
      yield* cluster.advance("1 minute")
      yield* cluster.apply([memcached("b", 1)])
      yield* cluster.advance("1 minute")
      yield* cluster.delete(Memcacheds.Memcached, target)
    })
})

const definition = Result.getOrThrow(Crd.make(Memcacheds.Memcached))

/** A cluster that exists for as long as a run takes in virtual time. */
const idle = Effect.flatMap(ClusterTest, ({ advance }) => advance("13 minutes")).pipe(
  Effect.provide(
    ClusterTest.layer({ crds: [definition] }).pipe(
      Layer.provideMerge(Logger.layer([])),
      Layer.provideMerge(TestClock.layer({ warningDelay: "1 hour" }))
    )
  ),
  Effect.orDie
)

/** Seconds of the processor. */
const cost = async (work: () => Promise<unknown>): Promise<number> => {
  const before = process.cpuUsage()
  await work()
  const { system, user } = process.cpuUsage(before)
  return (system + user) / 1e6
}

export const run = async (): Promise<Array<Figure>> => {
  const explored = () => Effect.runPromise(exploration.run())
  const { failures, problem, runs } = await explored()
  const seconds = await cost(explored)
  const idleRuns = 100
  const idleSeconds = await cost(async () => {
    for (let i = 0; i < idleRuns; i++) await Effect.runPromise(idle)
  })
  const perMinute = (60 * runs) / seconds
  const most = (60 * idleRuns) / idleSeconds
  return [
    {
      name: "explore: perturbed runs of Memcached in a minute of one core",
      value: perMinute,
      unit: "runs",
      floor: most,
      ratio: most / perMinute,
      bar: "≥ 2,000",
      ok: perMinute >= 2000
    },
    {
      name: "explore: failures of Memcached",
      value: failures.length,
      unit: "failures",
      bar: "none",
      ok: failures.length === 0 && problem === undefined
    }
  ]
}
