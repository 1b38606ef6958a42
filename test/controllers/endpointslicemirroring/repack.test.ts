/** Subsets are brought into their canonical layout before they are mirrored. pkg/controller/endpointslicemirroring: reconcile. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Endpoints } from "../../../src/kube/resources.ts"
import * as By from "./harness.ts"
import * as Stand from "../shared/services/harness.ts"

const metrics = [{ name: "metrics", port: 9090, protocol: "TCP" }]

/** One subset that is not ready. */
const unready = (...ips: ReadonlyArray<string>) => ({ notReadyAddresses: ips.map((ip) => ({ ip })), ports: By.http })

describe("the slices of Endpoints whose subsets overlap", () => {
  it.effect("hold ports of equal addresses together, however the subsets divide them", () =>
    By.world(
      Effect.gen(function* () {
        yield* By.open()
        yield* By.point([By.of("10.0.0.1", "10.0.0.2"), { ...By.of("10.0.0.2", "10.0.0.1"), ports: metrics }])
        assert.deepStrictEqual(yield* By.shown, ["IPv4 http:8080 metrics:9090 10.0.0.1 10.0.0.2"])
        yield* By.change({ subsets: [By.of("10.0.0.1"), { ...By.of("10.0.0.2"), ports: metrics }] })
        assert.deepStrictEqual(yield* By.shown, ["IPv4 http:8080 10.0.0.1", "IPv4 metrics:9090 10.0.0.2"])
        // A subset without ports adds nothing to one with the same addresses.
        yield* By.change({ subsets: [{ ...By.of("10.0.0.1"), ports: [] }, By.of("10.0.0.1")] })
        assert.deepStrictEqual(yield* By.shown, ["IPv4 http:8080 10.0.0.1"])
      })
    )
  )

  it.effect("hold ports of the same name apart, which a server would refuse in one slice", () =>
    By.world(
      Effect.gen(function* () {
        yield* By.open()
        const other = [{ name: "http", port: 9090, protocol: "TCP" }]
        yield* By.point([By.of("10.0.0.1"), { ...By.of("10.0.0.1"), ports: other }])
        assert.deepStrictEqual(yield* By.shown, ["IPv4 http:8080 10.0.0.1", "IPv4 http:9090 10.0.0.1"])
      })
    )
  )

  it.effect("show an address as not ready that any subset has as not ready", () =>
    By.world(
      Effect.gen(function* () {
        yield* By.open()
        yield* By.point([unready("10.0.0.1"), By.of("10.0.0.1", "10.0.0.2")])
        assert.deepStrictEqual(yield* By.shown, ["IPv4 http:8080 (10.0.0.1) 10.0.0.2"])
      })
    )
  )

  it.effect("hold no more addresses than one subset may have, the ready ones first, which an event reports", () =>
    By.world(
      Effect.gen(function* () {
        yield* By.open()
        yield* By.point([By.of("10.0.0.4"), unready("10.0.0.1"), By.of("10.0.0.3")])
        assert.deepStrictEqual(yield* By.shown, ["IPv4 http:8080 10.0.0.3 10.0.0.4"])
        assert.deepStrictEqual(yield* Stand.events, [
          "endpoint-slice-mirroring-controller: Warning TooManyAddressesToMirror A max of 2 addresses can be mirrored to EndpointSlices per Endpoints subset. 1 addresses were skipped"
        ])
      }),
      { maxEndpointsPerSubset: 2 }
    )
  )

  it.effect("keep the first host name that the Endpoints give an address", () =>
    By.world(
      Effect.gen(function* () {
        yield* By.open()
        const named = (hostname: string) => ({ addresses: [{ ip: "10.0.0.1", hostname }], ports: By.http })
        yield* By.point([named("first"), named("second")])
        const [slice] = yield* By.mirrored
        assert.deepStrictEqual(
          slice?.endpoints?.map(({ hostname }) => hostname),
          ["first"]
        )
      })
    )
  )
})

describe("the slices of Endpoints that are gone", () => {
  it.effect("are all deleted, although the server refuses one of them", () =>
    By.world(
      Effect.gen(function* () {
        yield* By.open()
        yield* By.point([By.of("10.0.0.1", "fd00::1")])
        // Slices are deleted in the order of their names.
        const [name, ...others] = (yield* By.mirrored).map(({ metadata }) => metadata.name).toSorted()
        assert.lengthOf(others, 1)
        yield* Stand.recording([
          {
            match: ({ context }) => context.verb === "delete" && context.name === name,
            fault: { _tag: "Status", code: 403, message: "not this one" }
          }
        ])
        yield* Stand.remove(Endpoints, "web")
        assert.deepStrictEqual(
          (yield* By.mirrored).map(({ metadata }) => metadata.name),
          [name]
        )
        yield* Stand.recording()
        yield* Stand.advance("10 seconds")
        assert.lengthOf(yield* By.mirrored, 0)
      })
    )
  )
})
