/** The console's figures of informers and elections: they are the counters of `/metrics`, and what is not known is not a zero. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { TestClock } from "effect/testing"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import { on } from "../../../src/apiserver/faults.ts"
import { ConfigMap, Pod, Secret } from "../../../src/kube/resources.ts"
import { Cache } from "../../../src/layers/Cache.ts"
import * as Fence from "../../../src/layers/fence.ts"
import * as Inspection from "../../../src/layers/Inspection.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { Leadership, noTerms, type Terms } from "../../../src/layers/Leadership.ts"
import * as Figures from "../../../src/manager/console/figures.ts"
import type * as Protocol from "../../../src/manager/console/protocol.ts"
import { States, makeUnsafe } from "../../../src/manager/runnables/states.ts"
import { informerStatus } from "../../support/informerStatus.ts"
import * as Cluster from "../../support/cluster.ts"

const alone = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(
    Effect.provide(Cluster.layer),
    Effect.provideService(Inspection.Inspection, Inspection.makeUnsafe()),
    Effect.provideService(States, makeUnsafe()),
    Effect.provideService(Metric.MetricRegistry, new Map()),
    Effect.scoped
  )

type Body<T extends Protocol.Message["type"]> = Omit<Extract<Protocol.Message, { readonly type: T }>, "type" | "at">

const bodyOf = <T extends "controllers" | "informers" | "leadership">(
  sample: Effect.Effect<Figures.Sample>,
  type: T
): Effect.Effect<Body<T>> =>
  Effect.andThen(
    TestClock.adjust("1 second"),
    Effect.map(sample, ({ bodies }) => JSON.parse(bodies[type]))
  )

/** The values of a counter by the values of its labels. */
const counted = (name: string) =>
  Effect.map(Metric.snapshot, (all) =>
    Object.fromEntries(
      all
        .filter(({ id }) => id === name)
        .map(({ attributes, state }) => [Object.values(attributes ?? {}).join(), (state as { count: number }).count])
    )
  )

const groupOf = (controllers: ReadonlyArray<string>, terms: Terms) =>
  Effect.map(Effect.provide(Leadership, Leadership.layerAlways), (always): Inspection.Group => ({
    controllers,
    leadership: Leadership.of({ ...always, lease: { namespace: "a", name: "b" }, terms: Effect.succeed(terms) })
  }))

describe("the console's figures of informers", () => {
  it.effect("count the failures and the relists of each kind as the metrics do", () =>
    alone(
      Effect.gen(function* () {
        const server = yield* ApiServer
        const cache = yield* Cache
        yield* (yield* Inspection.Inspection).informers.show(cache.status)
        server.faults.set([
          { match: on({ resource: "secrets" }), fault: { _tag: "Status", code: 503 } },
          { match: on({ verb: "watch", resource: "pods" }), fault: { _tag: "Gone", after: 0 }, times: 3 }
        ])
        yield* cache.subscribe(Pod)
        yield* cache.subscribe(Secret)
        yield* cache.subscribe(ConfigMap)
        yield* Cluster.settle
        yield* TestClock.adjust("5 minutes")
        yield* Cluster.settle
        const sample = yield* Figures.make({ controllers: [], disabled: [] })
        const { informers } = yield* bodyOf(sample, "informers")
        const of = (kind: string) => informers.find((one) => one.kind === kind)
        assert.isAbove(of("secrets")?.failures ?? 0, 3)
        assert.isAbove(of("pods")?.relists ?? 0, 0)
        assert.deepInclude(of("configmaps"), { failures: 0, relists: 0 })
        assert.deepStrictEqual(
          Object.fromEntries(informers.map(({ failures, kind }) => [kind, failures])),
          yield* counted("informer_failures_total")
        )
        const relists = Object.values(yield* counted("informer_relists_total"))
        assert.strictEqual(
          informers.reduce((sum, { relists }) => sum + relists, 0),
          relists.reduce((sum, count) => sum + count, 0)
        )
      })
    )
  )

  it.effect("have no size before it is measured, which a few are in each sample", () =>
    alone(
      Effect.gen(function* () {
        const all = Array.from({ length: 20 }, (_, index) =>
          informerStatus({ resource: `kind${index}`, id: `v1/kind${index}`, bytesUnsafe: () => 0 })
        )
        yield* (yield* Inspection.Inspection).informers.show(Effect.succeed(all))
        const sample = yield* Figures.make({ controllers: [], disabled: [] })
        const sizes = Effect.map(bodyOf(sample, "informers"), ({ informers }) =>
          informers.map(({ bytes }) => bytes).sort((a, b) => Number(a === null) - Number(b === null))
        )
        assert.deepStrictEqual(yield* sizes, [...Array(16).fill(0), ...Array(4).fill(null)])
        assert.deepStrictEqual(yield* sizes, Array(20).fill(0))
      })
    )
  )
})

describe("the console's figures of elections", () => {
  it.effect("count the writes that were refused without leadership as the metric does", () =>
    alone(
      Effect.gen(function* () {
        const sample = yield* Figures.make({ controllers: [], disabled: [] })
        assert.strictEqual((yield* bodyOf(sample, "leadership")).fencedWrites, 0)
        const client = Fence.client(
          yield* KubeClient,
          Effect.succeed({ lost: Effect.never, isValidUnsafe: () => false })
        )
        for (const name of ["a", "b"]) {
          yield* Effect.flip(client.create(ConfigMap, { metadata: { name, namespace: "default" } }))
        }
        assert.strictEqual((yield* bodyOf(sample, "leadership")).fencedWrites, 2)
        assert.deepStrictEqual(yield* counted("leader_fenced_writes_total"), { "": 2 })
      })
    )
  )

  it.effect("have the terms and the renewals of each group; an error without line breaks and credentials", () =>
    alone(
      Effect.gen(function* () {
        const failed = { at: 3000, took: 5000, isRenewed: false }
        const renewals = [{ at: 1000.4, took: 12.345, isRenewed: true }, failed]
        const message = "Authorization: Bearer abcdefghijklmnop\nno"
        const lastError = { message, at: 8000 }
        const group = yield* groupOf(["worker"], { count: 2, since: 900, transitions: 7, renewals, lastError })
        yield* (yield* Inspection.Inspection).groups.show(group)
        const sample = yield* Figures.make({ controllers: [], disabled: [] })
        const [found] = (yield* bodyOf(sample, "leadership")).groups
        assert.deepInclude(found, { lease: "a/b", leads: true, terms: 2, since: 900, transitions: 7 })
        assert.deepStrictEqual(found?.renewals, [{ at: 1000, took: 12.3, isRenewed: true }, failed])
        assert.strictEqual(found?.lastError?.at, 8000)
        assert.notMatch(found?.lastError?.message ?? "", /abcdefgh|\n/)
      })
    )
  )
})

describe("the console's controllers", () => {
  it.effect("come in the order in which they start, each with the one of its group that it waits for", () =>
    alone(
      Effect.gen(function* () {
        const { lacks, set } = yield* States
        const controller = (name: string, startFirst?: boolean, needsLeader = true) => ({
          name,
          reads: [],
          needsLeader,
          startFirst
        })
        yield* (yield* Inspection.Inspection).groups.show(yield* groupOf(["a", "absent", "b", "token"], noTerms))
        lacks("absent", ["widgets.example.test"], true)
        set("token", { _tag: "Started" })
        const sample = yield* Figures.make({
          controllers: [
            controller("a"),
            controller("absent"),
            controller("everywhere", undefined, false),
            controller("b"),
            controller("token", true)
          ],
          disabled: []
        })
        const { controllers } = yield* bodyOf(sample, "controllers")
        assert.deepStrictEqual(
          controllers.map(({ name, reason }) => [name, reason]),
          [
            ["token", "for its workers to begin"],
            ["a", "for its turn to start, after token"],
            ["absent", "for the server to serve widgets.example.test"],
            ["everywhere", "for its turn to start"],
            ["b", "for its turn to start, after a"]
          ]
        )
      })
    )
  )
})
