/** The EndpointSlice controller on the embedded API server. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as EndpointSliceController from "../../src/controllers/EndpointSlice.ts"
import { EndpointSlice, Node, Pod, Service } from "../../src/kube/resources.ts"
import type { Rule } from "../../src/apiserver/faults.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as Harness from "./shared/services/harness.ts"

const trigger = "endpoints.kubernetes.io/last-change-trigger-time"

describe("a Service without pods", () => {
  it.effect("has one placeholder slice with the Service's labels and owner", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        const { metadata } = yield* Harness.expose({}, { labels: { team: "a", "service.kubernetes.io/headless": "x" } })
        const [slice, ...others] = yield* Harness.slices()
        assert.lengthOf(others, 0)
        assert.deepStrictEqual([slice?.endpoints ?? [], slice?.ports ?? [], slice?.addressType], [[], [], "IPv4"])
        assert.strictEqual(slice?.metadata.generateName, "web-")
        assert.deepStrictEqual(slice?.metadata.labels, {
          "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
          "kubernetes.io/service-name": "web",
          team: "a"
        })
        assert.deepStrictEqual(slice?.metadata.ownerReferences, [
          {
            apiVersion: "v1",
            kind: "Service",
            name: "web",
            uid: metadata.uid ?? "",
            controller: true,
            blockOwnerDeletion: true
          }
        ])
        assert.deepStrictEqual(slice?.metadata.annotations, { [trigger]: metadata.creationTimestamp ?? "" })
      })
    )
  )

  it.effect("reuses the placeholder for its first pod, and keeps it when the last pod is deleted", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.expose()
        const calls = yield* Harness.recording()
        yield* Harness.running("web-0", "10.1.0.1")
        yield* Harness.settle
        yield* Harness.remove(Pod, "web-0", { gracePeriodSeconds: 0 })
        const slices = calls.map(Harness.line).filter((line) => line.includes("endpointslices"))
        assert.deepStrictEqual(
          slices,
          Array.from({ length: 2 }, () => "update endpointslices.discovery.k8s.io")
        )
        assert.deepStrictEqual(yield* Harness.sizes, [0])
      })
    )
  )

  it.effect("has no slice of this controller if it has no selector or is of type ExternalName", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.expose({ selector: null })
        yield* Harness.expose({ type: "ExternalName", externalName: "example.test" }, { name: "elsewhere" })
        assert.lengthOf([...(yield* Harness.slices()), ...(yield* Harness.slices("elsewhere"))], 0)
      })
    )
  )
})

describe("a pod behind a Service", () => {
  it.effect("is an endpoint with address, conditions, node, zone and target reference", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.expose({ clusterIP: "None" })
        yield* Harness.pod("web-0", { hostname: "first", subdomain: "web" })
        yield* Harness.advance("5 seconds")
        yield* Harness.runs("web-0", ["10.1.0.1"])
        const { metadata } = yield* Effect.flatMap(KubeClient, (client) =>
          client.get(Pod, { namespace: "default", name: "web-0" })
        )
        const [slice] = yield* Harness.slices()
        assert.deepStrictEqual(slice?.endpoints, [
          {
            addresses: ["10.1.0.1"],
            conditions: { ready: true, serving: true, terminating: false },
            hostname: "first",
            nodeName: "a",
            targetRef: { kind: "Pod", namespace: "default", name: "web-0", uid: metadata.uid ?? "" },
            zone: "zone-a"
          }
        ])
        assert.deepStrictEqual(slice?.ports, [{ name: "http", port: 8080, protocol: "TCP" }])
        assert.strictEqual(slice?.metadata.labels?.["service.kubernetes.io/headless"], "")
        assert.strictEqual(slice?.metadata.annotations?.[trigger], "1970-01-01T00:00:05Z")
      })
    )
  )

  it.effect("while terminating stays as serving and not ready, and is removed with the pod", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.expose()
        yield* Harness.running("web-0", "10.1.0.1")
        yield* Harness.settle
        assert.deepStrictEqual(yield* Harness.behind, ["IPv4 10.1.0.1 ready serving"])
        yield* Harness.remove(Pod, "web-0")
        assert.deepStrictEqual(yield* Harness.behind, ["IPv4 10.1.0.1 serving terminating"])
        yield* Harness.runs("web-0", ["10.1.0.1"], false)
        assert.deepStrictEqual(yield* Harness.behind, ["IPv4 10.1.0.1 terminating"])
        yield* Harness.remove(Pod, "web-0", { gracePeriodSeconds: 0 })
        assert.deepStrictEqual(yield* Harness.behind, [])
      })
    )
  )

  it.effect("is always ready with publishNotReadyAddresses", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.expose({ publishNotReadyAddresses: true })
        yield* Harness.pod("web-0")
        yield* Harness.runs("web-0", ["10.1.0.1"], false)
        assert.deepStrictEqual(yield* Harness.behind, ["IPv4 10.1.0.1 ready"])
        yield* Harness.remove(Pod, "web-0")
        assert.deepStrictEqual(yield* Harness.behind, ["IPv4 10.1.0.1 ready terminating"])
      })
    )
  )

  it.effect("is added and removed with its labels, and does not count when it is terminal", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.expose()
        yield* Harness.running("web-0", "10.1.0.1")
        yield* Harness.patch(Pod, "web-0", { metadata: { labels: { app: "other" } } })
        assert.deepStrictEqual(yield* Harness.behind, [])
        yield* Harness.patch(Pod, "web-0", { metadata: { labels: { app: "web" } } })
        assert.deepStrictEqual(yield* Harness.behind, ["IPv4 10.1.0.1 ready serving"])
        yield* Harness.patch(Pod, "web-0", { status: { phase: "Failed" } }, "status")
        assert.deepStrictEqual(yield* Harness.behind, [])
      })
    )
  )

  it.effect("is left out while its node is unknown, with an event, and added with the node", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.expose()
        yield* Harness.running("web-0", "10.1.0.1")
        yield* Harness.pod("web-1", { nodeName: "b" })
        yield* Harness.runs("web-1", ["10.1.0.2"])
        assert.deepStrictEqual(yield* Harness.behind, ["IPv4 10.1.0.1 ready serving"])
        assert.include(
          yield* Harness.events,
          "endpoint-slice-controller: Warning FailedToUpdateEndpointSlices Error updating Endpoint Slices for Service default/web: skipping Pod web-1 for Service default/web: Node b Not Found"
        )
        yield* Harness.node("b")
        assert.deepStrictEqual(yield* Harness.behind, ["IPv4 10.1.0.1 ready serving", "IPv4 10.1.0.2 ready serving"])
      })
    )
  )

  it.effect("has the current zone of its node", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.expose({ trafficDistribution: "PreferClose" })
        yield* Harness.running("web-0", "10.1.0.1")
        const zone = Effect.map(Harness.slices(), ([slice]) => [
          slice?.endpoints?.[0]?.zone,
          slice?.endpoints?.[0]?.hints
        ])
        assert.deepStrictEqual(yield* zone, ["zone-a", { forZones: [{ name: "zone-a" }] }])
        yield* Effect.flatMap(KubeClient, (client) =>
          client.update(Node, { metadata: { name: "a", labels: { "topology.kubernetes.io/zone": "zone-b" } } })
        )
        yield* Harness.settle
        assert.deepStrictEqual(yield* zone, ["zone-b", { forZones: [{ name: "zone-b" }] }])
        // A Service with topology-aware hints, by either annotation, gets no others; the old annotation takes
        // precedence.
        const [old, present] = ["topology-aware-hints", "topology-mode"].map((name) => `service.kubernetes.io/${name}`)
        for (const [annotations, hints] of [
          [{ [`${old}`]: "Auto" }, undefined],
          [{ [`${old}`]: "disabled", [`${present}`]: "Auto" }, { forZones: [{ name: "zone-b" }] }],
          [{ [`${old}`]: null }, undefined],
          [{ [`${present}`]: null }, { forZones: [{ name: "zone-b" }] }]
        ] as const) {
          yield* Harness.patch(Service, "web", { metadata: { annotations } })
          assert.deepStrictEqual(yield* zone, ["zone-b", hints])
        }
        yield* Harness.patch(Service, "web", { spec: { trafficDistribution: null } })
        assert.deepStrictEqual(yield* zone, ["zone-b", undefined])
      })
    )
  )
})

describe("a Service", () => {
  it.effect("has slices for each address family and each set of ports", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.expose({
          ipFamilies: ["IPv4", "IPv6"],
          ipFamilyPolicy: "PreferDualStack",
          clusterIP: "None",
          ports: [{ name: "http", port: 80, targetPort: "http" }]
        })
        const container = (containerPort: number) => ({
          containers: [{ name: "main", image: "web:1", ports: [{ name: "http", containerPort }] }]
        })
        yield* Harness.pod("web-0", container(8080))
        yield* Harness.runs("web-0", ["10.1.0.1", "fd00::1"])
        yield* Harness.pod("web-1", container(9090))
        yield* Harness.runs("web-1", ["10.1.0.2"])
        const shapes = (yield* Harness.slices()).map(
          ({ addressType, endpoints = [], ports }) =>
            `${addressType} ${ports?.[0]?.port} ${endpoints.flatMap(({ addresses }) => addresses).join()}`
        )
        assert.deepStrictEqual(shapes.sort(), ["IPv4 8080 10.1.0.1", "IPv4 9090 10.1.0.2", "IPv6 8080 fd00::1"])
      })
    )
  )

  it.effect("has the slices of one family when the server refuses those of the other", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        const refuse = (verb: string, family: string, message: string): Rule => ({
          match: ({ body, context }) =>
            context.verb === verb &&
            context.resource === "endpointslices.discovery.k8s.io" &&
            (body as Partial<EndpointSlice>).addressType === family,
          fault: { _tag: "Status", code: 500, message }
        })
        yield* Harness.recording([refuse("create", "IPv4", "no room"), refuse("create", "IPv6", "no room")])
        yield* Harness.expose({ ipFamilies: ["IPv4", "IPv6"], ipFamilyPolicy: "PreferDualStack", clusterIP: "None" })
        yield* Harness.running("web-0", "10.1.0.1", "fd00::1")
        const event = (message: string) =>
          `endpoint-slice-controller: Warning FailedToUpdateEndpointSlices Error updating Endpoint Slices for Service default/web: ${message}`
        assert.deepStrictEqual(yield* Harness.behind, [])
        // The message for both families occurs once.
        assert.include(yield* Harness.events, event("failed to create EndpointSlice for Service default/web: no room"))
        yield* Harness.recording([refuse("create", "IPv4", "no room")])
        yield* Harness.advance("10 seconds")
        assert.deepStrictEqual(yield* Harness.behind, ["IPv6 fd00::1 ready serving"])
        yield* Harness.recording([refuse("create", "IPv4", "no room"), refuse("update", "IPv6", "not that one")])
        yield* Harness.runs("web-0", ["10.1.0.1", "fd00::1"], false)
        yield* Harness.advance("10 seconds")
        const [{ metadata } = { metadata: { name: "" } }] = yield* Harness.slices()
        assert.include(
          yield* Harness.events,
          event(
            `[failed to create EndpointSlice for Service default/web: no room, failed to update ${metadata.name} EndpointSlice for Service default/web: not that one]`
          )
        )
        yield* Harness.recording()
        yield* Harness.advance("100 seconds")
        assert.deepStrictEqual(yield* Harness.behind, ["IPv4 10.1.0.1", "IPv6 fd00::1"])
      }),
      { controllers: [EndpointSliceController.make()] }
    )
  )

  it.effect("of 250 pods has three slices, and a change of one pod is one write", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.crowd(250)
        yield* Harness.expose()
        assert.deepStrictEqual(yield* Harness.sizes, [100, 100, 50])
        const calls = yield* Harness.recording()
        yield* Harness.runs("web-7", ["10.1.0.7"], false)
        assert.deepStrictEqual(calls.map(Harness.line), ["update endpointslices.discovery.k8s.io"])
        yield* Harness.patch(Pod, "web-7", { metadata: { annotations: { a: "b" } } })
        assert.lengthOf(calls, 1)
      }),
      { controllers: [EndpointSliceController.make()] }
    )
  )

  it.effect("has slices of at most the configured size", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.crowd(7)
        yield* Harness.expose()
        assert.deepStrictEqual(yield* Harness.sizes, [3, 3, 1])
      }),
      { controllers: [EndpointSliceController.make({ maxEndpointsPerSlice: 3 })] }
    )
  )

  it.effect("has its slices restored a second after another client changes or deletes them", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.expose()
        yield* Harness.running("web-0", "10.1.0.1")
        const [slice] = yield* Harness.slices()
        const name = slice?.metadata.name ?? ""
        yield* Harness.patch(EndpointSlice, name, { endpoints: [], metadata: { labels: { mine: "a" } } })
        assert.deepStrictEqual(yield* Harness.behind, [])
        yield* Harness.advance("1 second")
        assert.deepStrictEqual(yield* Harness.behind, ["IPv4 10.1.0.1 ready serving"])
        yield* Harness.remove(EndpointSlice, name)
        yield* Harness.advance("999 millis")
        assert.deepStrictEqual(yield* Harness.behind, [])
        yield* Harness.advance("1 millis")
        assert.deepStrictEqual(yield* Harness.behind, ["IPv4 10.1.0.1 ready serving"])
        yield* Harness.patch(EndpointSlice, (yield* Harness.slices())[0]?.metadata.name ?? "", {
          metadata: { labels: { "kubernetes.io/service-name": "other" } }
        })
        yield* Harness.advance("1 second")
        assert.deepStrictEqual(yield* Harness.behind, ["IPv4 10.1.0.1 ready serving"])
      })
    )
  )

  it.effect("has slices of its own, and not those of a deleted Service of the same name", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.expose()
        yield* Harness.running("web-0", "10.1.0.1")
        const [old] = yield* Harness.slices()
        yield* Harness.remove(Service, "web")
        assert.lengthOf(yield* Harness.slices(), 1)
        const { metadata } = yield* Harness.expose()
        const [slice, ...others] = yield* Harness.slices()
        assert.lengthOf(others, 0)
        assert.notStrictEqual(slice?.metadata.uid, old?.metadata.uid)
        assert.strictEqual(slice?.metadata.ownerReferences?.[0]?.uid, metadata.uid)
      })
    )
  )

  it.effect("that does not change causes no requests", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.expose()
        yield* Harness.crowd(3)
        yield* Harness.advance("2 seconds")
        const calls = yield* Harness.recording()
        yield* Harness.advance("1 day")
        assert.deepStrictEqual(calls.map(Harness.line), [])
      })
    )
  )
})
