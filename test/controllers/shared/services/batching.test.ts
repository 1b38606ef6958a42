/** `--endpoint-updates-batch-period` and `--endpointslice-updates-batch-period`: changes of pods are batched, changes of Services are not. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { tableOf } from "../../../support/controllers.ts"
import { EndpointSlice, Pod, Service } from "../../../../src/kube/resources.ts"
import type { Descriptor } from "../../../../src/layers/Controller.ts"
import * as Harness from "./harness.ts"

const period = "5s"

/** The controllers with the settings of the program. */
const loops = tableOf({ "endpoint-updates-batch-period": period, "endpointslice-updates-batch-period": period })

const loop = (name: string): Descriptor => {
  const entry = loops.find(({ controller }) => controller.name === name)
  return entry!.controller as Descriptor
}

const addresses = Effect.map(Harness.endpoints(), (one) =>
  (one?.subsets ?? []).flatMap(({ addresses = [] }) => addresses.map(({ ip }) => ip))
)

for (const [title, controller, shown, resource] of [
  ["Endpoints", loop("endpoint"), addresses, "endpoints"],
  [
    "EndpointSlices",
    loop("endpointslice"),
    Effect.map(Harness.behind, (all) => all.map((line) => line.split(" ")[1] ?? "")),
    "endpointslices.discovery.k8s.io"
  ]
] as const) {
  describe(`${title} with a batch period`, () => {
    it.effect("write the changes of several pods at once, one period after the first", () =>
      Harness.withLoop(
        Effect.gen(function* () {
          yield* Harness.expose()
          const calls = yield* Harness.recording()
          yield* Harness.running("web-0", "10.1.0.1")
          yield* Harness.advance("3 seconds")
          yield* Harness.running("web-1", "10.1.0.2")
          yield* Harness.advance("1999 millis")
          assert.deepStrictEqual([yield* shown, calls.length], [[], 0])
          yield* Harness.advance("1 millis")
          assert.deepStrictEqual(yield* shown, ["10.1.0.1", "10.1.0.2"])
          assert.deepStrictEqual(calls.map(Harness.line), [`update ${resource}`])
          yield* Harness.remove(Pod, "web-0", { gracePeriodSeconds: 0 })
          assert.deepStrictEqual(yield* shown, ["10.1.0.1", "10.1.0.2"])
          yield* Harness.advance("5 seconds")
          assert.deepStrictEqual(yield* shown, ["10.1.0.2"])
        }),
        { controllers: [controller] }
      )
    )

    it.effect("write a change of the Service immediately", () =>
      Harness.withLoop(
        Effect.gen(function* () {
          yield* Harness.running("web-0", "10.1.0.1")
          yield* Harness.expose()
          assert.deepStrictEqual(yield* shown, ["10.1.0.1"])
          yield* Harness.patch(Service, "web", { spec: { selector: { app: "other" } } })
          assert.deepStrictEqual(yield* shown, [])
        }),
        { controllers: [controller] }
      )
    )
  })
}

describe("EndpointSlices that another client changes", () => {
  it.effect("are restored after the batch period if that is longer than a second", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.running("web-0", "10.1.0.1")
        yield* Harness.expose()
        yield* Harness.advance("1 minute")
        yield* Harness.remove(EndpointSlice, (yield* Harness.slices())[0]?.metadata.name ?? "")
        yield* Harness.advance("4999 millis")
        assert.lengthOf(yield* Harness.slices(), 0)
        yield* Harness.advance("1 millis")
        assert.lengthOf(yield* Harness.slices(), 1)
      }),
      { controllers: [loop("endpointslice")] }
    )
  )
})
