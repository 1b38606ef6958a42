/** The EndpointSlice mirroring controller on the embedded API server, with Endpoints that a user writes. */
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Mirroring from "../../src/controllers/EndpointSliceMirroring.ts"
import { Endpoints, EndpointSlice, Pod, Service } from "../../src/kube/resources.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as MirroringHarness from "./endpointslicemirroring/harness.ts"
import * as Harness from "./shared/services/harness.ts"

const lines = (calls: ReadonlyArray<Parameters<typeof Harness.line>[0]>) => calls.map(Harness.line)

const slice = "endpointslices.discovery.k8s.io"

describe("Endpoints of a Service without a selector", () => {
  it.effect("have a slice with the same content, which they own", () =>
    MirroringHarness.scenario(
      Effect.gen(function* () {
        yield* MirroringHarness.createService()
        const targetRef = { kind: "Pod", namespace: "default", name: "a", uid: "a-uid" }
        const { metadata } = yield* MirroringHarness.createEndpoints(
          [
            {
              addresses: [{ ip: "10.0.0.1", hostname: "first", nodeName: "a", targetRef }],
              notReadyAddresses: [{ ip: "10.0.0.2" }],
              ports: [{ port: 80, appProtocol: "http" }]
            }
          ],
          {
            labels: { team: "a" },
            annotations: {
              note: "b",
              "endpoints.kubernetes.io/last-change-trigger-time": "1970-01-01T00:00:05Z",
              "kubectl.kubernetes.io/last-applied-configuration": "{}"
            }
          }
        )
        const [one, ...others] = yield* MirroringHarness.mirrored
        assert.lengthOf(others, 0)
        assert.deepStrictEqual(one?.endpoints, [
          { addresses: ["10.0.0.1"], conditions: { ready: true }, hostname: "first", nodeName: "a", targetRef },
          { addresses: ["10.0.0.2"], conditions: { ready: false } }
        ])
        assert.deepStrictEqual(one?.ports, [{ appProtocol: "http", name: "", port: 80, protocol: "TCP" }])
        assert.deepStrictEqual([one?.addressType, one?.metadata.generateName], ["IPv4", "web-"])
        assert.deepStrictEqual(one?.metadata.labels, {
          "endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io",
          "kubernetes.io/service-name": "web",
          team: "a"
        })
        assert.deepStrictEqual(one?.metadata.annotations, { note: "b" })
        assert.deepStrictEqual(one?.metadata.ownerReferences, [
          {
            apiVersion: "v1",
            kind: "Endpoints",
            name: "web",
            uid: metadata.uid ?? "",
            controller: true,
            blockOwnerDeletion: true
          }
        ])
        assert.deepStrictEqual(yield* Harness.events, [])
      })
    )
  )

  it.effect("are mirrored on create, update and delete, with one write each", () =>
    MirroringHarness.scenario(
      Effect.gen(function* () {
        yield* MirroringHarness.createService()
        const calls = yield* Harness.recording()
        yield* MirroringHarness.createEndpoints([MirroringHarness.of("10.1.2.3")])
        assert.deepStrictEqual(yield* MirroringHarness.shown, ["IPv4 http:8080 10.1.2.3"])
        yield* MirroringHarness.change({ subsets: [MirroringHarness.of("10.2.3.4")] })
        assert.deepStrictEqual(yield* MirroringHarness.shown, ["IPv4 http:8080 10.2.3.4"])
        yield* Harness.remove(Endpoints, "web")
        assert.deepStrictEqual(yield* MirroringHarness.shown, [])
        assert.deepStrictEqual(
          lines(calls).filter((line) => line.endsWith(slice)),
          [`create ${slice}`, `update ${slice}`, `delete ${slice}`]
        )
      })
    )
  )

  it.effect("have a slice for each set of ports and each family, and one for subsets with the same ports", () =>
    MirroringHarness.scenario(
      Effect.gen(function* () {
        yield* MirroringHarness.createService()
        const other = [{ name: "port81", port: 9090, protocol: "TCP" }]
        yield* MirroringHarness.createEndpoints([
          MirroringHarness.of("10.0.0.1", "fd00::1"),
          { ...MirroringHarness.of("10.0.0.1"), ports: other },
          MirroringHarness.of("10.0.0.2")
        ])
        assert.deepStrictEqual(yield* MirroringHarness.shown, [
          "IPv4 http:8080 10.0.0.1 10.0.0.2",
          "IPv4 port81:9090 10.0.0.1",
          "IPv6 http:8080 fd00::1"
        ])
        // A surplus slice is reused.
        const calls = yield* Harness.recording()
        const moved = [{ name: "http", port: 8081, protocol: "TCP" }]
        yield* MirroringHarness.change({
          subsets: [{ ...MirroringHarness.of("10.0.0.1", "10.0.0.2", "fd00::1"), ports: moved }]
        })
        assert.deepStrictEqual(yield* MirroringHarness.shown, [
          "IPv4 http:8081 10.0.0.1 10.0.0.2",
          "IPv6 http:8081 fd00::1"
        ])
        assert.deepStrictEqual(lines(calls).slice(1), [`update ${slice}`, `update ${slice}`, `delete ${slice}`])
      })
    )
  )

  it.effect("have no slice while they are empty, not even a placeholder", () =>
    MirroringHarness.scenario(
      Effect.gen(function* () {
        yield* MirroringHarness.createService()
        yield* MirroringHarness.createEndpoints([])
        assert.deepStrictEqual(yield* MirroringHarness.shown, [])
        yield* MirroringHarness.change({
          subsets: [{ notReadyAddresses: [{ ip: "10.0.0.1" }], ports: MirroringHarness.http }]
        })
        assert.deepStrictEqual(yield* MirroringHarness.shown, ["IPv4 http:8080 (10.0.0.1)"])
        yield* MirroringHarness.change({ subsets: [MirroringHarness.of("10.0.0.1")] })
        assert.deepStrictEqual(yield* MirroringHarness.shown, ["IPv4 http:8080 10.0.0.1"])
        yield* MirroringHarness.change({ subsets: null })
        assert.deepStrictEqual(yield* MirroringHarness.shown, [])
      })
    )
  )

  it.effect(
    "lead to a write when labels or annotations alone differ, on either side, and not for those that are not mirrored",
    () =>
      MirroringHarness.scenario(
        Effect.gen(function* () {
          yield* MirroringHarness.createService()
          yield* MirroringHarness.createEndpoints([MirroringHarness.of("10.0.0.1")])
          yield* MirroringHarness.change({ metadata: { labels: { team: "a" } } })
          const marks = Effect.map(MirroringHarness.mirrored, ([one]) => [
            one?.metadata.labels?.["team"],
            one?.metadata.annotations?.["note"]
          ])
          assert.deepStrictEqual(yield* marks, ["a", undefined])
          yield* MirroringHarness.change({ metadata: { annotations: { note: "b" } } })
          assert.deepStrictEqual(yield* marks, ["a", "b"])
          yield* MirroringHarness.patchSlice({ metadata: { labels: { team: "x" }, annotations: { note: null } } })
          assert.deepStrictEqual(yield* marks, ["a", "b"])
          const calls = yield* Harness.recording()
          yield* MirroringHarness.change({
            metadata: {
              annotations: {
                "kubectl.kubernetes.io/last-applied-configuration": "{}",
                "endpoints.kubernetes.io/last-change-trigger-time": "1970-01-01T00:00:05Z"
              }
            }
          })
          assert.deepStrictEqual(lines(calls), ["patch endpoints"])
        })
      )
  )
})

describe("Endpoints are not mirrored", () => {
  for (const [title, on, off] of [
    [
      "while they are labelled so",
      { metadata: { labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } } },
      { metadata: { labels: { "endpointslice.kubernetes.io/skip-mirror": "false" } } }
    ],
    [
      "while they are the lock of an election",
      { metadata: { annotations: { "control-plane.alpha.kubernetes.io/leader": "{}" } } },
      { metadata: { annotations: { "control-plane.alpha.kubernetes.io/leader": null } } }
    ]
  ] as const) {
    it.effect(title, () =>
      MirroringHarness.scenario(
        Effect.gen(function* () {
          yield* MirroringHarness.createService()
          yield* MirroringHarness.createEndpoints([MirroringHarness.of("10.0.0.1")], on.metadata)
          assert.deepStrictEqual(yield* MirroringHarness.shown, [])
          yield* MirroringHarness.change(off)
          assert.deepStrictEqual(yield* MirroringHarness.shown, ["IPv4 http:8080 10.0.0.1"])
          yield* MirroringHarness.change(on)
          assert.deepStrictEqual(yield* MirroringHarness.shown, [])
        })
      )
    )
  }

  it.effect("while their Service has a selector", () =>
    MirroringHarness.scenario(
      Effect.gen(function* () {
        yield* MirroringHarness.createService()
        yield* MirroringHarness.createEndpoints([MirroringHarness.of("10.0.0.1")])
        yield* MirroringHarness.select(Harness.labels)
        assert.deepStrictEqual(yield* MirroringHarness.shown, [])
        yield* MirroringHarness.select(null)
        assert.deepStrictEqual(yield* MirroringHarness.shown, ["IPv4 http:8080 10.0.0.1"])
      })
    )
  )

  it.effect("while there is no Service of their name, which may be created later and deleted", () =>
    MirroringHarness.scenario(
      Effect.gen(function* () {
        yield* MirroringHarness.createEndpoints([MirroringHarness.of("10.0.0.1")])
        assert.deepStrictEqual(yield* MirroringHarness.shown, [])
        yield* MirroringHarness.createService()
        assert.deepStrictEqual(yield* MirroringHarness.shown, ["IPv4 http:8080 10.0.0.1"])
        yield* Harness.remove(Service, "web")
        assert.deepStrictEqual(yield* MirroringHarness.shown, [])
      })
    )
  )

  it.effect("and slices left from before are deleted at the start", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        const first = yield* MirroringHarness.mirrorAtStart
        assert.lengthOf(yield* MirroringHarness.mirrored, 1)
        yield* first.stop()
        yield* Harness.remove(Endpoints, "web")
        yield* Harness.start([Mirroring.make()])
        yield* Harness.settle
        assert.deepStrictEqual(yield* MirroringHarness.shown, [])
      }),
      { controllers: [] }
    )
  )
})

describe("addresses", () => {
  it.effect("beyond the limit of a subset are left out, ready ones last, with an event", () =>
    MirroringHarness.scenario(
      Effect.gen(function* () {
        yield* MirroringHarness.createService()
        yield* MirroringHarness.createEndpoints([
          {
            ...MirroringHarness.of("10.0.0.1", "10.0.0.2"),
            notReadyAddresses: [{ ip: "10.0.0.3" }, { ip: "10.0.0.4" }]
          },
          { ...MirroringHarness.of("10.0.1.1"), ports: [{ name: "other", port: 81 }] }
        ])
        assert.deepStrictEqual(yield* MirroringHarness.shown, [
          "IPv4 http:8080 (10.0.0.3) 10.0.0.1 10.0.0.2",
          "IPv4 other:81 10.0.1.1"
        ])
        assert.deepStrictEqual(yield* Harness.events, [
          "endpoint-slice-mirroring-controller: Warning TooManyAddressesToMirror A max of 3 addresses can be mirrored to EndpointSlices per Endpoints subset. 1 addresses were skipped"
        ])
      }),
      { maxEndpointsPerSubset: 3 }
    )
  )

  it.effect("up to a thousand are one slice", () =>
    MirroringHarness.scenario(
      Effect.gen(function* () {
        yield* MirroringHarness.createService()
        const ips = Array.from({ length: 1001 }, (_, i) => `10.0.${i >> 8}.${i & 255}`)
        yield* MirroringHarness.createEndpoints([MirroringHarness.of(...ips)])
        assert.deepStrictEqual(yield* Harness.sizes, [1000])
        const [event] = yield* Harness.events
        assert.include(
          event,
          "A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. 1 addresses"
        )
      })
    )
  )
})

describe("a mirrored slice", () => {
  it.effect("is restored when another client changes it, deletes it, or changes its owner", () =>
    MirroringHarness.scenario(
      Effect.gen(function* () {
        yield* MirroringHarness.createService()
        yield* MirroringHarness.createEndpoints([MirroringHarness.of("10.0.0.1")])
        const wanted = ["IPv4 http:8080 10.0.0.1"]
        yield* MirroringHarness.patchSlice({ endpoints: [] })
        assert.deepStrictEqual(yield* MirroringHarness.shown, wanted)
        yield* MirroringHarness.patchSlice({ ports: null })
        assert.deepStrictEqual(yield* MirroringHarness.shown, wanted)
        yield* MirroringHarness.patchSlice({ metadata: { ownerReferences: null } })
        assert.strictEqual((yield* MirroringHarness.mirrored)[0]?.metadata.ownerReferences?.[0]?.kind, "Endpoints")
        yield* MirroringHarness.deleteSlice
        assert.deepStrictEqual(yield* MirroringHarness.shown, wanted)
        yield* MirroringHarness.patchSlice({ metadata: { labels: { "endpointslice.kubernetes.io/managed-by": "me" } } })
        assert.deepStrictEqual(yield* MirroringHarness.shown, wanted)
        yield* MirroringHarness.patchSlice({ metadata: { labels: { "kubernetes.io/service-name": "other" } } })
        assert.deepStrictEqual(yield* MirroringHarness.shown, wanted)
        assert.lengthOf(yield* Harness.slices("other"), 0)
        // The slice with another owner belongs to that owner's controller.
        assert.lengthOf(yield* Harness.slices(), 2)
      })
    )
  )

  it.effect("is restored after the batch period, if there is one; a change of the Endpoints is mirrored at once", () =>
    MirroringHarness.scenario(
      Effect.gen(function* () {
        yield* MirroringHarness.createService()
        yield* MirroringHarness.createEndpoints([MirroringHarness.of("10.0.0.1")])
        assert.deepStrictEqual(yield* MirroringHarness.shown, ["IPv4 http:8080 10.0.0.1"])
        yield* Harness.advance("10 seconds")
        yield* MirroringHarness.patchSlice({ endpoints: [] })
        yield* Harness.advance("4999 millis")
        assert.deepStrictEqual(yield* MirroringHarness.shown, ["IPv4 http:8080"])
        yield* Harness.advance("1 millis")
        assert.deepStrictEqual(yield* MirroringHarness.shown, ["IPv4 http:8080 10.0.0.1"])
        yield* MirroringHarness.change({ subsets: [MirroringHarness.of("10.0.0.2")] })
        assert.deepStrictEqual(yield* MirroringHarness.shown, ["IPv4 http:8080 10.0.0.2"])
      }),
      { batchPeriod: Duration.seconds(5) }
    )
  )

  it.effect("is reused by recreated Endpoints of the same name", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        const first = yield* MirroringHarness.mirrorAtStart
        const [old] = yield* MirroringHarness.mirrored
        yield* first.stop()
        yield* Harness.remove(Endpoints, "web")
        const { metadata } = yield* MirroringHarness.createEndpoints([MirroringHarness.of("10.0.0.1")])
        yield* Harness.start([Mirroring.make()])
        yield* Harness.settle
        const [slice, ...others] = yield* MirroringHarness.mirrored
        assert.lengthOf(others, 0)
        assert.strictEqual(slice?.metadata.uid, old?.metadata.uid)
        assert.deepStrictEqual(
          slice?.metadata.ownerReferences?.map(({ uid }) => uid),
          [metadata.uid ?? ""]
        )
      }),
      { controllers: [] }
    )
  )

  it.effect("is not written and causes no requests while nothing changes", () =>
    MirroringHarness.scenario(
      Effect.gen(function* () {
        yield* MirroringHarness.createService()
        yield* MirroringHarness.createEndpoints([MirroringHarness.of("10.0.0.1", "fd00::1")])
        const calls = yield* Harness.recording()
        yield* Harness.advance("1 day")
        assert.deepStrictEqual(lines(calls), [])
      })
    )
  )
})

describe("beside the controllers of Services with selectors", () => {
  it.effect("no controller writes another controller's slices", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.expose({}, { name: "pods" })
        yield* Harness.running("web-0", "10.1.0.1")
        yield* MirroringHarness.createService()
        yield* MirroringHarness.createEndpoints([MirroringHarness.of("10.0.0.1")])
        // A slice that a user writes for the Service.
        yield* Effect.flatMap(KubeClient, (client) =>
          client.create(EndpointSlice, {
            metadata: { namespace: "default", name: "web-own", labels: { "kubernetes.io/service-name": "web" } },
            addressType: "IPv4",
            endpoints: [{ addresses: ["10.9.9.9"] }],
            ports: MirroringHarness.http
          })
        )
        yield* Harness.settle
        const calls = yield* Harness.recording()
        yield* MirroringHarness.change({ subsets: [MirroringHarness.of("10.0.0.2")] })
        yield* Harness.remove(Pod, "web-0", { gracePeriodSeconds: 0 })
        yield* Harness.advance("1 minute")
        assert.deepStrictEqual(yield* MirroringHarness.shown, ["IPv4 http:8080 10.0.0.2"])
        const managers = (name: string) =>
          Effect.map(Harness.slices(name), (all) =>
            all
              .map(({ metadata }) => metadata.labels?.["endpointslice.kubernetes.io/managed-by"] ?? "nobody")
              .toSorted()
          )
        assert.deepStrictEqual(yield* managers("pods"), ["endpointslice-controller.k8s.io"])
        assert.deepStrictEqual(yield* managers("web"), [MirroringHarness.manager, "nobody"])
        assert.deepStrictEqual(lines(calls).toSorted(), [
          "patch endpoints",
          "update endpoints",
          `update ${slice}`,
          `update ${slice}`
        ])
        yield* Harness.advance("1 hour")
        assert.lengthOf(calls, 4)
      }),
      { controllers: [...Harness.loops, Mirroring.make()] }
    )
  )
})
