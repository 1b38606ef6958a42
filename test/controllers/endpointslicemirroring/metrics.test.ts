/**
 * The metrics of the mirroring controller. Source: pkg/controller/endpointslicemirroring: metrics/cache.go,
 * syncEndpoints.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { TestClock } from "effect/testing"
import { Endpoints } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import * as Faults from "../../../src/apiserver/faults.ts"
import * as Harness from "../shared/services/harness.ts"
import * as Mirroring from "./harness.ts"

/** By name; for histograms count and sum. */
const numbers = Effect.map(Metric.snapshot, (all) =>
  Object.fromEntries(
    all.flatMap(({ id, state }) => {
      const [, name] = /^endpoint_slice_mirroring_controller_(.*)$/.exec(id) ?? []
      if (name === undefined) return []
      return [[name, "sum" in state ? [state.count, state.sum] : "value" in state ? state.value : 0]]
    })
  )
)

const given = (test: Parameters<typeof Mirroring.scenario>[0]) =>
  Mirroring.scenario(test).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))

it.effect("the gauges are totals of all mirrored Endpoints, without deleted ones", () =>
  given(
    Effect.gen(function* () {
      yield* Mirroring.createService()
      yield* Mirroring.createEndpoints([
        Mirroring.of("10.0.0.1", "10.0.0.2"),
        { addresses: [{ ip: "fd00::1" }], ports: Mirroring.http }
      ])
      assert.deepInclude(yield* numbers, { endpoints_desired: 3, num_endpoint_slices: 2, desired_endpoint_slices: 2 })
      yield* Mirroring.change({ subsets: [Mirroring.of("10.0.0.1")] })
      assert.deepInclude(yield* numbers, { endpoints_desired: 1, num_endpoint_slices: 1, desired_endpoint_slices: 1 })
      yield* Mirroring.select({ app: "web" })
      yield* Harness.settle
      assert.deepInclude(yield* numbers, { endpoints_desired: 0, num_endpoint_slices: 0, desired_endpoint_slices: 0 })
    })
  )
)

it.effect("endpoints_sync_duration observes every sync, whatever its result", () =>
  given(
    Effect.gen(function* () {
      yield* Mirroring.createService()
      const { endpoints_sync_duration: before } = yield* numbers
      const [count = 0] = (before ?? []) as ReadonlyArray<number>
      const match = Faults.on({ verb: "create", resource: "endpointslices.discovery.k8s.io" })
      yield* (yield* ApiServer).setFaults([
        { match, fault: { _tag: "Delay", millis: 250 }, times: 1 },
        { match, fault: { _tag: "Status", code: 403 }, times: 1 }
      ])
      yield* Mirroring.createEndpoints([Mirroring.of("10.0.0.1")])
      yield* TestClock.adjust("500 millis")
      const { endpoints_sync_duration: failed } = yield* numbers
      assert.deepStrictEqual(failed, [count + 1, 0.25])
      yield* Harness.advance("1 minute")
      const { endpoints_sync_duration: after } = yield* numbers
      assert.isAbove((after as ReadonlyArray<number>)[0] ?? 0, count + 1)
      yield* Harness.remove(Endpoints, "web")
      yield* Harness.settle
      const { endpoints_sync_duration: last } = yield* numbers
      assert.isAbove((last as ReadonlyArray<number>)[0] ?? 0, (after as ReadonlyArray<number>)[0] ?? 0)
    })
  )
)
