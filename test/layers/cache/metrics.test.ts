import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { TestClock } from "effect/testing"
import { Node, Pod } from "../../../src/kube/resources.ts"
import type { InformerStatus } from "../../../src/layers/Cache.ts"
import * as CacheMetrics from "../../../src/layers/cache/metrics.ts"
import { informerStatus } from "../../support/informerStatus.ts"

const fresh = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.provideService(effect, Metric.MetricRegistry, new Map())

const values = (name: string) =>
  Effect.map(Metric.snapshot, (all) =>
    Object.fromEntries(
      all
        .filter((one) => one.id === name)
        .map((one) => {
          const state = one.state as { count?: number; value?: number }
          return [Object.values(one.attributes ?? {}).join(","), state.count ?? state.value]
        })
    )
  )

describe("the metrics of a cache", () => {
  it.effect("add up the informers of a kind that have subscribers", () =>
    fresh(
      Effect.gen(function* () {
        const status: Array<InformerStatus> = []
        const metrics = yield* CacheMetrics.make(() => status)
        for (const kind of [Pod, Node, Pod]) metrics.track(kind)
        yield* TestClock.adjust("20 seconds")
        const now = yield* Clock.currentTimeMillis
        status.push(
          informerStatus({ objects: 3, lastEventAt: now - 4000, resourceVersion: "1234567890123456789" }),
          informerStatus({
            objects: 2,
            lastEventAt: now - 9000,
            synced: false,
            resourceVersion: "1234567890123456780"
          }),
          informerStatus({ objects: 50, lastEventAt: 0, synced: false, subscribers: 0, resourceVersion: "1" }),
          informerStatus({ resource: "nodes", objects: 1 })
        )
        assert.deepStrictEqual(yield* values("informer_synced"), { pods: 0, nodes: 1 })
        assert.deepStrictEqual(yield* values("informer_objects"), { pods: 5, nodes: 1 })
        assert.deepStrictEqual(yield* values("informer_store_resource_version"), {
          "effect-controller-manager,,v1,pods": 567890123456780,
          "effect-controller-manager,,v1,nodes": 0
        })
        // No event of a node has arrived since the first list.
        assert.deepStrictEqual(yield* values("informer_last_event_age_seconds"), { pods: 9, nodes: 20 })
      })
    )
  )

  it.effect("count failures by kind, for all informers of the kind together, from zero", () =>
    fresh(
      Effect.gen(function* () {
        const metrics = yield* CacheMetrics.make(() => [])
        for (const kind of [Pod, Node]) metrics.track(kind)
        assert.deepStrictEqual(yield* values("informer_failures_total"), { pods: 0, nodes: 0 })
        for (const informer of [metrics.countersOf(Pod), metrics.countersOf(Pod)]) informer.failed()
        assert.deepStrictEqual(yield* values("informer_failures_total"), { pods: 2, nodes: 0 })
      })
    )
  )

  it.effect("count relists by reason and waits by duration, from zero", () =>
    fresh(
      Effect.gen(function* () {
        const metrics = yield* CacheMetrics.make(() => [])
        const pods = metrics.countersOf(Pod)
        assert.strictEqual((yield* values("informer_relists_total"))["Gone"], 0)
        pods.relisted("Gone")
        pods.relisted("Decode")
        metrics.countersOf(Node).relisted("Gone")
        const { Decode, Gone, Timeout } = yield* values("informer_relists_total")
        assert.deepStrictEqual([Gone, Decode, Timeout], [2, 1, 0])
        const answers: Array<boolean> = []
        const done = metrics.waiting((reached) => answers.push(reached))
        yield* TestClock.adjust("300 millis")
        done(true)
        assert.deepStrictEqual(answers, [true])
        const waits = (yield* Metric.snapshot).find((one) => one.id === "cache_read_wait_seconds")
        const state = waits?.state as Metric.HistogramState
        assert.deepStrictEqual([state.count, state.buckets[2], state.buckets[4]], [1, [0.1, 0], [0.5, 1]])
      })
    )
  )
})
