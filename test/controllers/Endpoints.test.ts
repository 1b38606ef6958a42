/** The Endpoints controller on the embedded API server. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as EndpointsController from "../../src/controllers/Endpoints.ts"
import { Endpoints, Namespace, Pod, Service } from "../../src/kube/resources.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as Harness from "./shared/services/harness.ts"

const trigger = "endpoints.kubernetes.io/last-change-trigger-time"
const overCapacity = "endpoints.kubernetes.io/over-capacity"

const controllers = [EndpointsController.make()]

/** Endpoints that a user creates. */
const byHand = (name: string, metadata: object = {}) =>
  Effect.flatMap(KubeClient, (client) =>
    client.create(Endpoints, {
      metadata: { name, namespace: "default", ...metadata },
      subsets: [{ addresses: [{ ip: "192.0.2.1" }], ports: [{ port: 80 }] }]
    })
  )

const names = Effect.map(Harness.list(Endpoints), (all) =>
  all.map(({ metadata }) => metadata.name).filter((name) => name !== "kubernetes")
)

describe("the Endpoints of a Service", () => {
  it.effect("have its labels, the managed-by label and the trigger time", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        const { metadata } = yield* Harness.expose({}, { labels: { team: "a" } })
        const empty = yield* Harness.endpoints()
        assert.deepStrictEqual(empty?.subsets ?? [], [])
        assert.deepStrictEqual(empty?.metadata.annotations, { [trigger]: metadata.creationTimestamp ?? "" })
        assert.deepStrictEqual(empty?.metadata.labels, {
          "endpoints.kubernetes.io/managed-by": "endpoint-controller",
          team: "a"
        })
        yield* Harness.advance("5 seconds")
        yield* Harness.running("web-0", "10.1.0.1")
        yield* Harness.settle
        const one = yield* Harness.endpoints()
        const [pod] = yield* Harness.list(Pod)
        assert.deepStrictEqual(one?.metadata.annotations, { [trigger]: "1970-01-01T00:00:05Z" })
        const targetRef = { kind: "Pod", namespace: "default", name: "web-0", uid: pod?.metadata.uid ?? "" }
        assert.deepStrictEqual(one?.subsets, [
          {
            addresses: [{ ip: "10.1.0.1", nodeName: "a", targetRef }],
            ports: [{ name: "http", port: 8080, protocol: "TCP" }]
          }
        ])
        yield* Harness.patch(Service, "web", { metadata: { labels: { team: "b" } } })
        const relabelled = yield* Harness.endpoints()
        assert.deepStrictEqual(relabelled?.metadata.annotations ?? {}, {})
        assert.strictEqual(relabelled?.metadata.labels?.["team"], "b")
      }),
      { controllers }
    )
  )

  it.effect("list addresses that are not ready separately, and leave out terminating pods", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.expose()
        yield* Harness.running("web-0", "10.1.0.1")
        yield* Harness.pod("web-1")
        yield* Harness.runs("web-1", ["10.1.0.2"], false)
        assert.deepStrictEqual(yield* Harness.subsets, ["10.1.0.1 (10.1.0.2) http:8080"])
        yield* Harness.remove(Pod, "web-0")
        assert.deepStrictEqual(yield* Harness.subsets, ["(10.1.0.2) http:8080"])
        yield* Harness.patch(Service, "web", { spec: { publishNotReadyAddresses: true } })
        assert.deepStrictEqual(yield* Harness.subsets, ["10.1.0.1 10.1.0.2 http:8080"])
      })
    )
  )

  it.effect("have a subset for each number of a port, and one without ports for a headless Service without ports", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        const ports = [
          { name: "http", port: 80, targetPort: "http" },
          { name: "metrics", port: 81, targetPort: 9100 }
        ]
        yield* Harness.expose({ ports })
        yield* Harness.expose({ clusterIP: "None", ports: null }, { name: "headless" })
        const container = (containerPort: number) => ({
          containers: [{ name: "main", image: "web:1", ports: [{ name: "http", containerPort }] }]
        })
        for (const [i, port] of [8080, 8081, 8080].entries()) {
          yield* Harness.pod(`web-${i}`, container(port))
          yield* Harness.runs(`web-${i}`, [`10.1.0.${i}`])
        }
        assert.deepStrictEqual((yield* Harness.subsets).toSorted(), [
          "10.1.0.0 10.1.0.1 10.1.0.2 metrics:9100",
          "10.1.0.0 10.1.0.2 http:8080",
          "10.1.0.1 http:8081"
        ])
        const headless = yield* Harness.endpoints("headless")
        assert.strictEqual(headless?.metadata.labels?.["service.kubernetes.io/headless"], "")
        assert.lengthOf(headless?.subsets ?? [], 1)
        assert.lengthOf(headless?.subsets?.[0]?.addresses ?? [], 3)
        assert.lengthOf(headless?.subsets?.[0]?.ports ?? [], 0)
      })
    )
  )

  it.effect("are truncated at 1,000 addresses, with an annotation while they are", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.crowd(1001)
        yield* Harness.expose()
        const full = yield* Harness.endpoints()
        assert.lengthOf(full?.subsets?.[0]?.addresses ?? [], 1000)
        assert.strictEqual(full?.metadata.annotations?.[overCapacity], "truncated")
        const calls = yield* Harness.recording()
        yield* Harness.patch(Service, "web", { metadata: { annotations: { a: "b" } } })
        assert.deepStrictEqual(calls.map(Harness.line), [])
        yield* Harness.patch(Pod, "web-0", { metadata: { labels: { app: "other" } } })
        const fits = yield* Harness.endpoints()
        assert.lengthOf(fits?.subsets?.[0]?.addresses ?? [], 1000)
        assert.isUndefined(fits?.metadata.annotations?.[overCapacity])
      }),
      { controllers }
    )
  )

  it.effect("are deleted with their Service, and recreated when another client deletes them", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.expose()
        yield* Harness.remove(Endpoints, "web")
        assert.deepStrictEqual(yield* names, ["web"])
        yield* Harness.remove(Service, "web")
        assert.deepStrictEqual(yield* names, [])
      })
    )
  )

  it.effect("without a Service are deleted at the start, except leader election locks", () =>
    Effect.gen(function* () {
      yield* Harness.expose({ selector: null }, { name: "mine" })
      yield* byHand("mine")
      yield* byHand("lost")
      yield* byHand("lock", { annotations: { "control-plane.alpha.kubernetes.io/leader": "{}" } })
      yield* Harness.start(controllers)
      yield* Harness.settle
      assert.deepStrictEqual(yield* names, ["lock", "mine"])
      yield* byHand("later")
      yield* Harness.advance("1 minute")
      assert.deepStrictEqual(yield* names, ["later", "lock", "mine"])
    }).pipe((test) => Harness.withLoop(test, { controllers: [] }))
  )

  it.effect("are not created in a terminating namespace, without an event", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        const client = yield* KubeClient
        yield* client.create(Namespace, { metadata: { name: "going" }, spec: { finalizers: ["kubernetes"] } })
        yield* client.create(Service, {
          metadata: { name: "web", namespace: "going" },
          spec: { selector: Harness.labels, ports: [{ port: 80 }] }
        })
        yield* client.delete(Namespace, { name: "going" })
        const calls = yield* Harness.recording()
        yield* Harness.settle
        yield* Harness.advance("1 hour")
        assert.isAtMost(calls.length, 2)
        assert.deepStrictEqual(yield* Harness.events, [])
      })
    )
  )

  it.effect("that cannot be written lead to an event, for create and update", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        const refusal = { _tag: "Status", code: 403, message: "no" } as const
        yield* Harness.recording([
          { match: { verb: "create", resource: "endpoints" }, fault: refusal, times: 1 },
          { match: { verb: "update", resource: "endpoints" }, fault: refusal, times: 1 },
          { match: { verb: "create", resource: "endpointslices.discovery.k8s.io" }, fault: refusal, times: 1 },
          { match: { verb: "update", resource: "endpointslices.discovery.k8s.io" }, fault: refusal, times: 1 }
        ])
        yield* Harness.expose()
        yield* Harness.advance("5 seconds")
        yield* Harness.running("web-0", "10.1.0.1")
        yield* Harness.advance("5 seconds")
        const [slice] = yield* Harness.slices()
        const name = slice?.metadata.name ?? ""
        assert.deepStrictEqual((yield* Harness.events).sort(), [
          "endpoint-controller: Warning FailedToCreateEndpoint Failed to create endpoint for service default/web: no",
          "endpoint-controller: Warning FailedToUpdateEndpoint Failed to update endpoint default/web: no",
          "endpoint-slice-controller: Warning FailedToUpdateEndpointSlices Error updating Endpoint Slices for Service default/web: failed to create EndpointSlice for Service default/web: no",
          `endpoint-slice-controller: Warning FailedToUpdateEndpointSlices Error updating Endpoint Slices for Service default/web: failed to update ${name} EndpointSlice for Service default/web: no`
        ])
        assert.deepStrictEqual(yield* Harness.subsets, ["10.1.0.1 http:8080"])
        assert.deepStrictEqual(yield* Harness.behind, ["IPv4 10.1.0.1 ready serving"])
      })
    )
  )
})
