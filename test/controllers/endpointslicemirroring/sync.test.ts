/** Invalid addresses, which current servers reject and older ones stored, are skipped with an event. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Deps } from "../../../src/controllers/endpointslicemirroring/deps.ts"
import * as Sync from "../../../src/controllers/endpointslicemirroring/sync.ts"
import * as Totals from "../../../src/controllers/shared/services/totals.ts"
import * as Key from "../../../src/kube/Key.ts"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import type { Endpoints, EndpointSlice, Service } from "../../../src/kube/resources.ts"
import type * as Store from "../../../src/streams/store/Store.ts"

const metadata = { namespace: "ns", name: "web", uid: "uid" }

/** A cache of one object, or of none. */
const holding = <A extends KubeObject>(object?: A) =>
  ({ get: () => object, byIndex: () => (object === undefined ? [] : [object]) }) as unknown as Store.Readable<A>

const synced = (subsets: Endpoints["subsets"], limit: number) =>
  Effect.gen(function* () {
    const calls: Array<string> = []
    const made: Array<string> = []
    const deps: Deps = {
      services: holding<Service>({ metadata, spec: {} }),
      endpoints: holding<Endpoints>({ metadata, ...(subsets === undefined ? {} : { subsets }) }),
      slices: holding<EndpointSlice>(),
      create: (draft) =>
        Effect.sync(() => {
          made.push(...(draft.endpoints ?? []).flatMap(({ addresses }) => addresses))
          return { ...draft, metadata: { ...draft.metadata, name: "web-1" } }
        }),
      update: () => Effect.die("there is nothing to update"),
      remove: () => Effect.die("there is nothing to delete"),
      events: {
        normal: () => Effect.die("nothing is normal"),
        warning: (_: KubeObject, reason: string, message: string) =>
          Effect.sync(() => void calls.push(`${reason} ${message}`))
      } as unknown as Deps["events"]
    }
    yield* Sync.sync(deps, Totals.make(), limit)(Key.make("ns", "web"))
    return { calls, made }
  })

const of = (...ips: ReadonlyArray<string>) => ips.map((ip) => ({ ip }))

describe("invalid addresses", () => {
  it.effect("are skipped and counted in one event", () =>
    Effect.gen(function* () {
      const subsets = [{ addresses: of("web", "010.0.0.1", "1::2::3"), notReadyAddresses: of("300.0.0.1") }]
      assert.deepStrictEqual(yield* synced(subsets, 1000), {
        calls: ["InvalidIPAddress Skipped 3 invalid IP addresses when mirroring to EndpointSlices"],
        made: ["10.0.0.1"]
      })
    })
  )

  it.effect("do not take the place of others, and are counted apart from surplus ones", () =>
    Effect.gen(function* () {
      const subsets = [{ addresses: of("0", "10.0.0.1", "10.0.0.2", "10.0.0.3") }]
      assert.deepStrictEqual(yield* synced(subsets, 2), {
        calls: [
          "InvalidIPAddress Skipped 1 invalid IP addresses when mirroring to EndpointSlices",
          "TooManyAddressesToMirror A max of 2 addresses can be mirrored to EndpointSlices per Endpoints subset. 2 addresses were skipped"
        ],
        made: ["10.0.0.1", "10.0.0.2"]
      })
    })
  )

  it.effect("do not exist and lead to no event", () =>
    Effect.map(synced([{ addresses: of("fd00::1") }], 1), ({ calls }) => assert.deepStrictEqual(calls, []))
  )
})
