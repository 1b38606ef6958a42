/** What a user sees of Endpoints that he writes himself: spec F.4, one row after the other. */
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Mirroring from "../../src/controllers/EndpointSliceMirroring.ts"
import { Endpoints, EndpointSlice, Pod, Service } from "../../src/kube/resources.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as By from "./endpointslicemirroring/harness.ts"
import * as Stand from "./shared/services/harness.ts"

const lines = (calls: ReadonlyArray<Parameters<typeof Stand.line>[0]>) => calls.map(Stand.line)

const slice = "endpointslices.discovery.k8s.io"

describe("Endpoints of a Service that selects nobody", () => {
  it.effect("have a slice that says what they say, and is theirs", () =>
    By.world(
      Effect.gen(function* () {
        yield* By.open()
        const targetRef = { kind: "Pod", namespace: "default", name: "a", uid: "a-uid" }
        const { metadata } = yield* By.point(
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
        const [one, ...others] = yield* By.mirrored
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
        assert.deepStrictEqual(yield* Stand.events, [])
      })
    )
  )

  it.effect("are followed through create, update and delete, with one write each", () =>
    By.world(
      Effect.gen(function* () {
        yield* By.open()
        const calls = yield* Stand.recording()
        yield* By.point([By.of("10.1.2.3")])
        assert.deepStrictEqual(yield* By.shown, ["IPv4 http:8080 10.1.2.3"])
        yield* By.change({ subsets: [By.of("10.2.3.4")] })
        assert.deepStrictEqual(yield* By.shown, ["IPv4 http:8080 10.2.3.4"])
        yield* Stand.remove(Endpoints, "web")
        assert.deepStrictEqual(yield* By.shown, [])
        assert.deepStrictEqual(
          lines(calls).filter((line) => line.endsWith(slice)),
          [`create ${slice}`, `update ${slice}`, `delete ${slice}`]
        )
      })
    )
  )

  it.effect("have a slice for each set of ports and each family, and one for subsets of the same ports", () =>
    By.world(
      Effect.gen(function* () {
        yield* By.open()
        const other = [{ name: "port81", port: 9090, protocol: "TCP" }]
        yield* By.point([By.of("10.0.0.1", "fd00::1"), { ...By.of("10.0.0.1"), ports: other }, By.of("10.0.0.2")])
        assert.deepStrictEqual(yield* By.shown, [
          "IPv4 http:8080 10.0.0.1 10.0.0.2",
          "IPv4 port81:9090 10.0.0.1",
          "IPv6 http:8080 fd00::1"
        ])
        // What is not wanted any more becomes what is.
        const calls = yield* Stand.recording()
        const moved = [{ name: "http", port: 8081, protocol: "TCP" }]
        yield* By.change({ subsets: [{ ...By.of("10.0.0.1", "10.0.0.2", "fd00::1"), ports: moved }] })
        assert.deepStrictEqual(yield* By.shown, ["IPv4 http:8081 10.0.0.1 10.0.0.2", "IPv6 http:8081 fd00::1"])
        assert.deepStrictEqual(lines(calls).slice(1), [`update ${slice}`, `update ${slice}`, `delete ${slice}`])
      })
    )
  )

  it.effect("have none while they are empty, and no placeholder", () =>
    By.world(
      Effect.gen(function* () {
        yield* By.open()
        yield* By.point([])
        assert.deepStrictEqual(yield* By.shown, [])
        yield* By.change({ subsets: [{ notReadyAddresses: [{ ip: "10.0.0.1" }], ports: By.http }] })
        assert.deepStrictEqual(yield* By.shown, ["IPv4 http:8080 (10.0.0.1)"])
        yield* By.change({ subsets: [By.of("10.0.0.1")] })
        assert.deepStrictEqual(yield* By.shown, ["IPv4 http:8080 10.0.0.1"])
        yield* By.change({ subsets: null })
        assert.deepStrictEqual(yield* By.shown, [])
      })
    )
  )

  it.effect(
    "lead to a write when labels or annotations alone drift, on either side, and not for what is left out",
    () =>
      By.world(
        Effect.gen(function* () {
          yield* By.open()
          yield* By.point([By.of("10.0.0.1")])
          yield* By.change({ metadata: { labels: { team: "a" } } })
          const marks = Effect.map(By.mirrored, ([one]) => [
            one?.metadata.labels?.["team"],
            one?.metadata.annotations?.["note"]
          ])
          assert.deepStrictEqual(yield* marks, ["a", undefined])
          yield* By.change({ metadata: { annotations: { note: "b" } } })
          assert.deepStrictEqual(yield* marks, ["a", "b"])
          yield* By.meddle({ metadata: { labels: { team: "x" }, annotations: { note: null } } })
          assert.deepStrictEqual(yield* marks, ["a", "b"])
          const calls = yield* Stand.recording()
          yield* By.change({
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
      By.world(
        Effect.gen(function* () {
          yield* By.open()
          yield* By.point([By.of("10.0.0.1")], on.metadata)
          assert.deepStrictEqual(yield* By.shown, [])
          yield* By.change(off)
          assert.deepStrictEqual(yield* By.shown, ["IPv4 http:8080 10.0.0.1"])
          yield* By.change(on)
          assert.deepStrictEqual(yield* By.shown, [])
        })
      )
    )
  }

  it.effect("while their Service has a selector", () =>
    By.world(
      Effect.gen(function* () {
        yield* By.open()
        yield* By.point([By.of("10.0.0.1")])
        yield* By.select(Stand.labels)
        assert.deepStrictEqual(yield* By.shown, [])
        yield* By.select(null)
        assert.deepStrictEqual(yield* By.shown, ["IPv4 http:8080 10.0.0.1"])
      })
    )
  )

  it.effect("while there is no Service of their name: it may come later, and go", () =>
    By.world(
      Effect.gen(function* () {
        yield* By.point([By.of("10.0.0.1")])
        assert.deepStrictEqual(yield* By.shown, [])
        yield* By.open()
        assert.deepStrictEqual(yield* By.shown, ["IPv4 http:8080 10.0.0.1"])
        yield* Stand.remove(Service, "web")
        assert.deepStrictEqual(yield* By.shown, [])
      })
    )
  )

  it.effect("and what was left of them from before is cleaned up at the start", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* By.open()
        yield* By.point([By.of("10.0.0.1")])
        const [first] = yield* Stand.start([Mirroring.make()])
        yield* Stand.settle
        assert.lengthOf(yield* By.mirrored, 1)
        yield* first!.stop()
        yield* Stand.remove(Endpoints, "web")
        yield* Stand.start([Mirroring.make()])
        yield* Stand.settle
        assert.deepStrictEqual(yield* By.shown, [])
      }),
      { controllers: [] }
    )
  )
})

describe("addresses", () => {
  it.effect("beyond the limit of a subset are left out, the ready ones last, and that is told", () =>
    By.world(
      Effect.gen(function* () {
        yield* By.open()
        yield* By.point([
          { ...By.of("10.0.0.1", "10.0.0.2"), notReadyAddresses: [{ ip: "10.0.0.3" }, { ip: "10.0.0.4" }] },
          { ...By.of("10.0.1.1"), ports: [{ name: "other", port: 81 }] }
        ])
        assert.deepStrictEqual(yield* By.shown, [
          "IPv4 http:8080 (10.0.0.3) 10.0.0.1 10.0.0.2",
          "IPv4 other:81 10.0.1.1"
        ])
        assert.deepStrictEqual(yield* Stand.events, [
          "endpoint-slice-mirroring-controller: Warning TooManyAddressesToMirror A max of 3 addresses can be mirrored to EndpointSlices per Endpoints subset. 1 addresses were skipped"
        ])
      }),
      { maxEndpointsPerSubset: 3 }
    )
  )

  it.effect("up to a thousand are one slice", () =>
    By.world(
      Effect.gen(function* () {
        yield* By.open()
        const ips = Array.from({ length: 1001 }, (_, i) => `10.0.${i >> 8}.${i & 255}`)
        yield* By.point([By.of(...ips)])
        assert.deepStrictEqual(yield* Stand.sizes, [1000])
        const [said] = yield* Stand.events
        assert.include(
          said,
          "A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. 1 addresses"
        )
      })
    )
  )
})

describe("a mirrored slice", () => {
  it.effect("is put back when somebody changes it, deletes it, or says it is another's", () =>
    By.world(
      Effect.gen(function* () {
        yield* By.open()
        yield* By.point([By.of("10.0.0.1")])
        const wanted = ["IPv4 http:8080 10.0.0.1"]
        yield* By.meddle({ endpoints: [] })
        assert.deepStrictEqual(yield* By.shown, wanted)
        yield* By.meddle({ ports: null })
        assert.deepStrictEqual(yield* By.shown, wanted)
        yield* By.meddle({ metadata: { ownerReferences: null } })
        assert.strictEqual((yield* By.mirrored)[0]?.metadata.ownerReferences?.[0]?.kind, "Endpoints")
        yield* By.steal
        assert.deepStrictEqual(yield* By.shown, wanted)
        yield* By.meddle({ metadata: { labels: { "endpointslice.kubernetes.io/managed-by": "me" } } })
        assert.deepStrictEqual(yield* By.shown, wanted)
        yield* By.meddle({ metadata: { labels: { "kubernetes.io/service-name": "other" } } })
        assert.deepStrictEqual(yield* By.shown, wanted)
        assert.lengthOf(yield* Stand.slices("other"), 0)
        // The one that was given away belongs to whom it says.
        assert.lengthOf(yield* Stand.slices(), 2)
      })
    )
  )

  it.effect("is put back a while later where changes are gathered; what the Endpoints say is shown at once", () =>
    By.world(
      Effect.gen(function* () {
        yield* By.open()
        yield* By.point([By.of("10.0.0.1")])
        assert.deepStrictEqual(yield* By.shown, ["IPv4 http:8080 10.0.0.1"])
        yield* Stand.advance("10 seconds")
        yield* By.meddle({ endpoints: [] })
        yield* Stand.advance("4999 millis")
        assert.deepStrictEqual(yield* By.shown, ["IPv4 http:8080"])
        yield* Stand.advance("1 millis")
        assert.deepStrictEqual(yield* By.shown, ["IPv4 http:8080 10.0.0.1"])
        yield* By.change({ subsets: [By.of("10.0.0.2")] })
        assert.deepStrictEqual(yield* By.shown, ["IPv4 http:8080 10.0.0.2"])
      }),
      { batchPeriod: Duration.seconds(5) }
    )
  )

  it.effect("is taken over by Endpoints that have the name of others before", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* By.open()
        yield* By.point([By.of("10.0.0.1")])
        const [first] = yield* Stand.start([Mirroring.make()])
        yield* Stand.settle
        const [old] = yield* By.mirrored
        yield* first!.stop()
        yield* Stand.remove(Endpoints, "web")
        const { metadata } = yield* By.point([By.of("10.0.0.1")])
        yield* Stand.start([Mirroring.make()])
        yield* Stand.settle
        const [slice, ...others] = yield* By.mirrored
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

  it.effect("is left alone, and asks for nothing, when nothing happens", () =>
    By.world(
      Effect.gen(function* () {
        yield* By.open()
        yield* By.point([By.of("10.0.0.1", "fd00::1")])
        const calls = yield* Stand.recording()
        yield* Stand.advance("1 day")
        assert.deepStrictEqual(lines(calls), [])
      })
    )
  )
})

describe("beside the loops of Services with pods", () => {
  it.effect("nobody touches the slices of another", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.expose({}, { name: "pods" })
        yield* Stand.running("web-0", "10.1.0.1")
        yield* By.open()
        yield* By.point([By.of("10.0.0.1")])
        // A slice that somebody writes for the Service himself.
        yield* Effect.flatMap(KubeClient, (client) =>
          client.create(EndpointSlice, {
            metadata: { namespace: "default", name: "web-own", labels: { "kubernetes.io/service-name": "web" } },
            addressType: "IPv4",
            endpoints: [{ addresses: ["10.9.9.9"] }],
            ports: By.http
          })
        )
        yield* Stand.settle
        const calls = yield* Stand.recording()
        yield* By.change({ subsets: [By.of("10.0.0.2")] })
        yield* Stand.remove(Pod, "web-0", { gracePeriodSeconds: 0 })
        yield* Stand.advance("1 minute")
        assert.deepStrictEqual(yield* By.shown, ["IPv4 http:8080 10.0.0.2"])
        const managers = (name: string) =>
          Effect.map(Stand.slices(name), (all) =>
            all
              .map(({ metadata }) => metadata.labels?.["endpointslice.kubernetes.io/managed-by"] ?? "nobody")
              .toSorted()
          )
        assert.deepStrictEqual(yield* managers("pods"), ["endpointslice-controller.k8s.io"])
        assert.deepStrictEqual(yield* managers("web"), [By.manager, "nobody"])
        assert.deepStrictEqual(lines(calls).toSorted(), [
          "patch endpoints",
          "update endpoints",
          `update ${slice}`,
          `update ${slice}`
        ])
        yield* Stand.advance("1 hour")
        assert.lengthOf(calls, 4)
      }),
      { controllers: [...Stand.loops, Mirroring.make()] }
    )
  )
})
