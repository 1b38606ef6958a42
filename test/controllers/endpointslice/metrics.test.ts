/**
 * The metrics of the EndpointSlice controller, with the labels and timing of kube-controller-manager. Source:
 * k8s.io/endpointslice: reconciler.go.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as EndpointSliceController from "../../../src/controllers/EndpointSlice.ts"
import { Pod, Service } from "../../../src/kube/resources.ts"
import * as Faults from "../../../src/apiserver/faults.ts"
import * as Harness from "../shared/services/harness.ts"

const controllers = [EndpointSliceController.make()]

const scenario = (test: Parameters<typeof Harness.withLoop>[0], options: Parameters<typeof Harness.withLoop>[1] = {}) =>
  Harness.withLoop(test, { controllers, ...options }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))

/** The values of a metric by label values; for histograms count and sum. */
const of = (name: string) =>
  Effect.map(Metric.snapshot, (all) =>
    Object.fromEntries(
      all.flatMap(({ attributes, id, state }) => {
        if (id !== `endpoint_slice_controller_${name}`) return []
        const value =
          "sum" in state
            ? [state.count, state.sum]
            : "count" in state
              ? state.count
              : "value" in state
                ? state.value
                : 0
        return [[Object.values(attributes ?? {}).join(" "), value]]
      })
    )
  )

const dual = { ipFamilies: ["IPv4", "IPv6"], ipFamilyPolicy: "PreferDualStack", clusterIP: "None" }

describe("endpointslices_changed_per_sync", () => {
  it.effect("observes each family of a sync, even without a write", () =>
    scenario(
      Effect.gen(function* () {
        yield* Harness.expose(dual)
        assert.deepStrictEqual(yield* of("endpointslices_changed_per_sync"), { "Disabled ": [2, 2] })
        yield* Harness.running("web-0", "10.1.0.1")
        yield* Harness.settle
        // The slice of the first family was written; that of the other stays empty.
        const { "Disabled ": seen } = yield* of("endpointslices_changed_per_sync")
        const [count = 0, sum] = seen as ReadonlyArray<number>
        assert.isAtLeast(count, 4)
        assert.strictEqual(count % 2, 0)
        assert.strictEqual(sum, 3)
      })
    )
  )

  it.effect("omits a family whose writes failed", () =>
    scenario(
      Effect.gen(function* () {
        yield* Harness.recording([
          {
            match: (request) =>
              Faults.on({ verb: "create", resource: "endpointslices.discovery.k8s.io" })(request) &&
              JSON.stringify(request.body).includes('"IPv6"'),
            fault: { _tag: "Status", code: 403 }
          }
        ])
        yield* Harness.expose(dual)
        const { "Disabled ": seen } = yield* of("endpointslices_changed_per_sync")
        assert.deepStrictEqual(seen, [1, 1])
        // The success is that of the API server's own Service.
        assert.deepStrictEqual(yield* of("syncs"), { success: 1, error: 1 })
      })
    )
  )

  it.effect("has labels for hints and traffic distribution", () =>
    scenario(
      Effect.gen(function* () {
        yield* Harness.expose({ trafficDistribution: "PreferClose" }, { name: "close" })
        const annotations = { "service.kubernetes.io/topology-mode": "Auto" }
        yield* Harness.expose({ trafficDistribution: "PreferSameNode" }, { name: "auto", annotations })
        yield* Harness.expose({}, { name: "plain" })
        assert.deepStrictEqual(yield* of("endpointslices_changed_per_sync"), {
          "Disabled PreferClose": [1, 1],
          "Auto ": [1, 1],
          "Disabled ": [1, 1]
        })
      })
    )
  )
})

describe("endpoints_added_per_sync and endpoints_removed_per_sync", () => {
  it.effect("observe each family of a sync", () =>
    scenario(
      Effect.gen(function* () {
        yield* Harness.running("web-0", "10.1.0.1", "fd00::1")
        yield* Harness.running("web-1", "10.1.0.2")
        yield* Harness.expose(dual)
        assert.deepStrictEqual(yield* of("endpoints_added_per_sync"), { "": [2, 3] })
        assert.deepStrictEqual(yield* of("endpoints_removed_per_sync"), { "": [2, 0] })
        yield* Harness.remove(Pod, "web-0", { gracePeriodSeconds: 0 })
        yield* Harness.settle
        const { "": removed } = yield* of("endpoints_removed_per_sync")
        assert.strictEqual((removed as ReadonlyArray<number>)[1], 2)
      })
    )
  )
})

describe("services_count_by_traffic_distribution", () => {
  it.effect("counts Services by their current value", () =>
    scenario(
      Effect.gen(function* () {
        const count = of("services_count_by_traffic_distribution")
        yield* Harness.expose({ trafficDistribution: "PreferClose" }, { name: "a" })
        yield* Harness.expose({ trafficDistribution: "PreferClose" }, { name: "b" })
        yield* Harness.expose({}, { name: "c" })
        assert.deepStrictEqual(yield* count, { PreferClose: 2 })
        yield* Harness.patch(Service, "a", { spec: { trafficDistribution: "PreferSameNode" } })
        yield* Harness.settle
        assert.deepStrictEqual(yield* count, { PreferClose: 1, PreferSameNode: 1 })
        yield* Harness.patch(Service, "a", {
          metadata: { annotations: { "service.kubernetes.io/topology-mode": "Auto" } }
        })
        yield* Harness.remove(Service, "b")
        yield* Harness.settle
        assert.deepStrictEqual(yield* count, { PreferClose: 0, PreferSameNode: 0 })
      })
    )
  )
})

describe("syncs", () => {
  it.effect("are successes even if nothing is to be done", () =>
    scenario(
      Effect.gen(function* () {
        yield* Harness.expose({ selector: null })
        yield* Harness.remove(Service, "web")
        yield* Harness.settle
        // One is that of the API server's own Service.
        assert.deepStrictEqual(yield* of("syncs"), { success: 3 })
      })
    )
  )

  it.effect("are stale while they wait for slices that the last one wrote", () =>
    scenario(
      Effect.gen(function* () {
        yield* Harness.expose()
        yield* Harness.running("web-0", "10.1.0.1")
        yield* Harness.settle
        // One is that of the API server's own Service.
        assert.deepStrictEqual(yield* of("syncs"), { success: 2, stale: 1 })
      }),
      {
        // The cache receives the API server's slice and the end of the initial list, and no later slices.
        faults: [
          {
            match: Faults.on({ verb: "watch", resource: "endpointslices.discovery.k8s.io" }),
            fault: { _tag: "CutWatch", after: 2, how: "silence" }
          }
        ]
      }
    )
  )
})
