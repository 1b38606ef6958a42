/**
 * Metrics, logs and events of the DaemonSet controller, the burst limit of 250 pods, a terminating namespace, and a
 * selector that selects every pod.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as References from "effect/References"
import * as DaemonLoop from "../../../src/controllers/DaemonSet.ts"
import { DaemonSet, Event, type ControllerRevision, Namespace, Node, Pod } from "../../../src/kube/resources.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { Recorder } from "../../../src/layers/Recorder.ts"
import { logged } from "../../support/logged.ts"
import { storeOf } from "../../support/stores.ts"
import * as Harness from "./harness.ts"

const decisions = /Creating and deleting daemon pods/

/** The logged decisions, as the numbers of pods to create and delete. */
const decided = () => {
  const all: Array<readonly [made: unknown, deleted: unknown]> = []
  const logger = Logger.make(({ fiber, message }) => {
    const { created, deleted } = fiber.getRef(References.CurrentLogAnnotations)
    if (decisions.test(String(message))) all.push([created, deleted])
  })
  const layer = Layer.merge(Logger.layer([logger]), Layer.succeed(References.MinimumLogLevel, "Debug"))
  return { all, layer }
}

const counted = Effect.map(Metric.snapshot, (all) =>
  all.flatMap(({ attributes, id, state }) =>
    id === "daemonset_controller_pods_total"
      ? `${Object.values(attributes ?? {}).join(" ")} ${(state as { count?: number }).count}`
      : []
  )
)

const inOwnRegistry = Effect.provideService(Metric.MetricRegistry, new Map())

describe("a DaemonSet", () => {
  it.effect("counts the pods that it creates and deletes, by reason; each decision is one log line", () => {
    const { all, layer } = decided()
    return Effect.gen(function* () {
      yield* Harness.start
      yield* Harness.create(DaemonSet, Harness.daemonSet())
      yield* Harness.advance("1 minute")
      assert.deepStrictEqual(all, [[2, 0]])
      const before = yield* counted
      assert.deepStrictEqual(before.length, 1)
      assert.match(before[0] ?? "", /^create \w+ 2$/)
      yield* Harness.useImage("log:2")
      yield* Harness.advance("2 minutes")
      assert.deepStrictEqual(all.slice(1), [
        [0, 1],
        [1, 0],
        [0, 1],
        [1, 0]
      ])
      const after = yield* counted
      assert.isTrue(
        after.some((line) => /^delete \w+ 2$/.test(line)),
        after.join("\n")
      )
    }).pipe(Effect.scoped, Effect.provide([ClusterTest.layer({ nodes: 3 }), layer]), inOwnRegistry)
  })

  it.effect("creates at most 250 pods at a time, and the rest when the cache shows these", () => {
    const { all, layer } = decided()
    return Effect.gen(function* () {
      const client = yield* KubeClient
      for (let number = 0; number < 260; number++) yield* client.create(Node, { metadata: { name: `node-${number}` } })
      yield* Harness.start
      const calls = yield* Harness.recording()
      yield* Harness.create(DaemonSet, Harness.daemonSet())
      yield* Harness.advance("1 minute")
      assert.deepStrictEqual(all, [
        [250, 0],
        [10, 0]
      ])
      assert.strictEqual(calls.filter(({ context }) => context.verb === "create").length, 260 + 1, "and one revision")
      assert.strictEqual(new Set(yield* Harness.places).size, 260)
      assert.strictEqual((yield* Harness.status)?.currentNumberScheduled, 260)
    }).pipe(Effect.scoped, Effect.provide([ClusterTest.layer(), layer]))
  })

  it.effect("creates nothing in a terminating namespace, without an event", () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      const namespace = "going"
      yield* Harness.start
      yield* client.create(Namespace, { metadata: { name: namespace } })
      yield* client.create(DaemonSet, Harness.daemonSet({}, { namespace }))
      yield* Harness.advance("1 minute")
      const before = (yield* client.list(Pod, { namespace })).items
      assert.strictEqual(before.length, 1)
      // No namespace controller runs, so it stays.
      yield* client.delete(Namespace, { name: namespace })
      const calls = yield* Harness.recording()
      yield* client.delete(Pod, { namespace, name: before[0]?.metadata.name ?? "" }, { gracePeriodSeconds: 0 })
      yield* Harness.advance("10 seconds")
      assert.deepStrictEqual((yield* client.list(Pod, { namespace })).items, [])
      assert.strictEqual(calls.filter(({ context }) => context.verb === "create").length, 1, "it tried once")
      yield* (yield* Recorder).drained
      const delivered = (yield* client.list(Event, { namespace })).items.map(({ reason }) => reason)
      assert.notInclude(delivered, "FailedCreate")
      const { status } = yield* client.get(DaemonSet, { namespace, name: "log" })
      assert.deepInclude(status, { desiredNumberScheduled: 1, currentNumberScheduled: 0 })
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ nodes: 2 })))
  )

  it.effect("with a selector for every pod gets an event and no pods; current servers reject it", () => {
    const { lines, logger } = logged()
    return Effect.gen(function* () {
      const log: Array<string> = []
      const never = () => Effect.die("unexpected call")
      const set = Harness.daemonSet({ selector: {} }, { uid: "u", resourceVersion: "1" }) as DaemonSet
      const loop = DaemonLoop.loopOf({
        sets: storeOf([set]),
        pods: storeOf<Pod>([]),
        nodes: storeOf<Node>([]),
        revisions: storeOf<ControllerRevision>([]),
        live: never,
        livePods: never,
        updateStatus: never,
        patch: never,
        create: never,
        remove: never,
        createRevision: never,
        liveRevision: never,
        updateRevision: never,
        patchRevision: never,
        removeRevision: never,
        events: {
          event: () => Effect.void,
          normal: () => Effect.void,
          warning: (_, reason, message) => Effect.sync(() => void log.push(`${reason} ${message}`))
        },
        queue: { addWithUnsafe: () => undefined }
      })
      yield* loop.reconcile({ key: "default/log" })
      assert.deepStrictEqual(log, [
        "SelectingAll This daemon set is selecting all pods. A non-empty selector is required."
      ])
      assert.deepStrictEqual(lines(decisions), [])
    }).pipe(Effect.provide(logger))
  })
})
