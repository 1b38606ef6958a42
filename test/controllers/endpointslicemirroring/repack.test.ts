/**
 * Subsets are repacked into canonical form before they are mirrored. Source: pkg/controller/endpointslicemirroring:
 * reconcile.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Endpoints } from "../../../src/kube/resources.ts"
import * as MirroringHarness from "./harness.ts"
import * as Harness from "../shared/services/harness.ts"

const metrics = [{ name: "metrics", port: 9090, protocol: "TCP" }]

/** One subset that is not ready. */
const unready = (...ips: ReadonlyArray<string>) => ({
  notReadyAddresses: ips.map((ip) => ({ ip })),
  ports: MirroringHarness.http
})

describe("the slices of Endpoints with overlapping subsets", () => {
  it.effect("combine the ports of equal addresses, however the subsets divide them", () =>
    MirroringHarness.scenario(
      Effect.gen(function* () {
        yield* MirroringHarness.createService()
        yield* MirroringHarness.createEndpoints([
          MirroringHarness.of("10.0.0.1", "10.0.0.2"),
          { ...MirroringHarness.of("10.0.0.2", "10.0.0.1"), ports: metrics }
        ])
        assert.deepStrictEqual(yield* MirroringHarness.shown, ["IPv4 http:8080 metrics:9090 10.0.0.1 10.0.0.2"])
        yield* MirroringHarness.change({
          subsets: [MirroringHarness.of("10.0.0.1"), { ...MirroringHarness.of("10.0.0.2"), ports: metrics }]
        })
        assert.deepStrictEqual(yield* MirroringHarness.shown, ["IPv4 http:8080 10.0.0.1", "IPv4 metrics:9090 10.0.0.2"])
        // A subset without ports adds nothing to one with the same addresses.
        yield* MirroringHarness.change({
          subsets: [{ ...MirroringHarness.of("10.0.0.1"), ports: [] }, MirroringHarness.of("10.0.0.1")]
        })
        assert.deepStrictEqual(yield* MirroringHarness.shown, ["IPv4 http:8080 10.0.0.1"])
      })
    )
  )

  it.effect("separate ports of the same name, which a server would reject in one slice", () =>
    MirroringHarness.scenario(
      Effect.gen(function* () {
        yield* MirroringHarness.createService()
        const other = [{ name: "http", port: 9090, protocol: "TCP" }]
        yield* MirroringHarness.createEndpoints([
          MirroringHarness.of("10.0.0.1"),
          { ...MirroringHarness.of("10.0.0.1"), ports: other }
        ])
        assert.deepStrictEqual(yield* MirroringHarness.shown, ["IPv4 http:8080 10.0.0.1", "IPv4 http:9090 10.0.0.1"])
      })
    )
  )

  it.effect("have an address as not ready if any subset has it as not ready", () =>
    MirroringHarness.scenario(
      Effect.gen(function* () {
        yield* MirroringHarness.createService()
        yield* MirroringHarness.createEndpoints([unready("10.0.0.1"), MirroringHarness.of("10.0.0.1", "10.0.0.2")])
        assert.deepStrictEqual(yield* MirroringHarness.shown, ["IPv4 http:8080 (10.0.0.1) 10.0.0.2"])
      })
    )
  )

  it.effect("have no more addresses than one subset may have, ready ones first, with an event", () =>
    MirroringHarness.scenario(
      Effect.gen(function* () {
        yield* MirroringHarness.createService()
        yield* MirroringHarness.createEndpoints([
          MirroringHarness.of("10.0.0.4"),
          unready("10.0.0.1"),
          MirroringHarness.of("10.0.0.3")
        ])
        assert.deepStrictEqual(yield* MirroringHarness.shown, ["IPv4 http:8080 10.0.0.3 10.0.0.4"])
        assert.deepStrictEqual(yield* Harness.events, [
          "endpoint-slice-mirroring-controller: Warning TooManyAddressesToMirror A max of 2 addresses can be mirrored to EndpointSlices per Endpoints subset. 1 addresses were skipped"
        ])
      }),
      { maxEndpointsPerSubset: 2 }
    )
  )

  it.effect("keep the first host name of an address", () =>
    MirroringHarness.scenario(
      Effect.gen(function* () {
        yield* MirroringHarness.createService()
        const named = (hostname: string) => ({
          addresses: [{ ip: "10.0.0.1", hostname }],
          ports: MirroringHarness.http
        })
        yield* MirroringHarness.createEndpoints([named("first"), named("second")])
        const [slice] = yield* MirroringHarness.mirrored
        assert.deepStrictEqual(
          slice?.endpoints?.map(({ hostname }) => hostname),
          ["first"]
        )
      })
    )
  )
})

describe("the slices of deleted Endpoints", () => {
  it.effect("are all deleted, although the server refuses one of them", () =>
    MirroringHarness.scenario(
      Effect.gen(function* () {
        yield* MirroringHarness.createService()
        yield* MirroringHarness.createEndpoints([MirroringHarness.of("10.0.0.1", "fd00::1")])
        // Slices are deleted in the order of their names.
        const [name, ...others] = (yield* MirroringHarness.mirrored).map(({ metadata }) => metadata.name).toSorted()
        assert.lengthOf(others, 1)
        yield* Harness.recording([
          {
            match: ({ context }) => context.verb === "delete" && context.name === name,
            fault: { _tag: "Status", code: 403, message: "not this one" }
          }
        ])
        yield* Harness.remove(Endpoints, "web")
        assert.deepStrictEqual(
          (yield* MirroringHarness.mirrored).map(({ metadata }) => metadata.name),
          [name]
        )
        yield* Harness.recording()
        yield* Harness.advance("10 seconds")
        assert.lengthOf(yield* MirroringHarness.mirrored, 0)
      })
    )
  )
})
