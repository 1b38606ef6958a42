/** The gauges of each set, which exist with the feature gate MaxUnavailableStatefulSet. Source: pkg/controller/statefulset: stateful_set_control.go. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as StatefulSetController from "../../../src/controllers/StatefulSet.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import * as Harness from "./harness.ts"

/** `max_unavailable web`: 2. */
const gauges = Effect.map(Metric.snapshot, (all) =>
  Object.fromEntries(
    all.flatMap(({ attributes, id, state }) => {
      const [, name] = /^statefulset_controller_statefulset_(.*)$/.exec(id) ?? []
      if (name === undefined || !("value" in state)) return []
      const { pod_management_policy, statefulset_name, statefulset_namespace } = { ...attributes } as Record<
        string,
        string
      >
      return [[`${name} ${statefulset_namespace}/${statefulset_name} ${pod_management_policy}`, state.value]]
    })
  )
)

const rolling = { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "50%" } }

const alone = <E, R>(body: Effect.Effect<void, E, R>) => Effect.provideService(body, Metric.MetricRegistry, new Map())

Harness.without(
  "the gauges of a set have the allowed and the current number of unavailable replicas, and are removed with the set",
  alone(
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.run(StatefulSetController.make({ maxUnavailable: true }))
      yield* Harness.running(
        Harness.statefulSet({ replicas: 5, podManagementPolicy: "Parallel", updateStrategy: rolling })
      )
      const name = "default/web Parallel"
      assert.deepStrictEqual(yield* gauges, { [`max_unavailable ${name}`]: 2, [`unavailable_replicas ${name}`]: 0 })
      yield* Harness.unready("web-1")
      assert.deepInclude(yield* gauges, { [`unavailable_replicas ${name}`]: 1 })
      yield* Harness.scale(8)
      assert.deepInclude(yield* gauges, { [`max_unavailable ${name}`]: 4 })
      yield* Harness.remove(Harness.StatefulSet, "web")
      yield* Harness.settle
      assert.deepStrictEqual(yield* gauges, {})
    })
  )
)

Harness.without(
  "an ordered set that waits for a replica does not set the unavailable gauge",
  alone(
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.run(StatefulSetController.make({ maxUnavailable: true }))
      yield* Harness.create(Harness.StatefulSet, Harness.statefulSet())
      yield* Harness.settle
      assert.deepStrictEqual(yield* gauges, { "max_unavailable default/web OrderedReady": 1 })
      yield* Harness.advance("1 minute")
      assert.deepInclude(yield* gauges, { "unavailable_replicas default/web OrderedReady": 0 })
    })
  )
)

Harness.without(
  "a set has no gauges without the feature gate",
  alone(
    Effect.gen(function* () {
      yield* (yield* ClusterTest).run(StatefulSetController.make())
      yield* Harness.running()
      assert.deepStrictEqual(yield* gauges, {})
    })
  )
)
