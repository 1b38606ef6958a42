/**
 * Endpoints on a real API server with its canonical forms: the controllers read back what they wrote, and do not write it again.
 * Slices too, where the server has discovery.k8s.io/v1, which came with 1.21. Needs `KUBEBUILDER_ASSETS`.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as EndpointsController from "../../../../src/controllers/Endpoints.ts"
import * as EndpointSliceController from "../../../../src/controllers/EndpointSlice.ts"
import type { KubeObject } from "../../../../src/kube/Meta.ts"
import type * as Resource from "../../../../src/kube/Resource.ts"
import { Endpoints, EndpointSlice, Node, Pod, Service } from "../../../../src/kube/resources.ts"
import { Cache } from "../../../../src/layers/Cache.ts"
import { KubeClient } from "../../../../src/layers/KubeClient.ts"
import * as envtest from "../../../support/envtest.ts"
import * as RealServer from "../../../support/realServer.ts"
import * as Harness from "./harness.ts"

const isMissing = envtest.isMissing("Services on a real API server")

/** Writes of Endpoints and slices, and the updates that changed nothing. */
const written: Array<string> = []
const idle: Array<string> = []

const transport = RealServer.observed(({ isIdle, request: { method, path } }) => {
  if (method !== "GET" && path.includes("/endpoint")) written.push(path)
  if (isIdle) idle.push(path)
})

const loops = Layer.unwrap(
  Effect.map(RealServer.RealServer, ({ version: { major, minor } }) => {
    const endpoints = EndpointsController.make().layer
    if (minor >= 21) return Layer.mergeAll(endpoints, EndpointSliceController.make().layer)
    console.log(`skipped: slices on the real API server, because ${major}.${minor} has no discovery.k8s.io/v1`)
    return endpoints
  })
)

const cluster = loops.pipe(Layer.provideMerge(RealServer.services(transport)))

const until = <A extends KubeObject>(resource: Resource.Resource<A>, wanted: (object: A) => boolean) =>
  RealServer.until(resource, undefined, (object) => object !== undefined && wanted(object))

const web = { namespace: "default", name: "web" }

const patchStatus = (name: string, ip: string, ready: boolean) =>
  Effect.flatMap(KubeClient, (client) =>
    client.patch(Pod, { ...web, name, subresource: "status" }, Harness.runningPatch([ip], ready))
  )

const ips = (list: ReadonlyArray<{ readonly ip: string }> | undefined): string =>
  (list ?? []).map(({ ip }) => ip).join()

const says =
  (ready: string, others: string) =>
  ({ metadata, subsets = [] }: Endpoints): boolean =>
    metadata.name === "web" && ips(subsets[0]?.addresses) === ready && ips(subsets[0]?.notReadyAddresses) === others

it.live.skipIf(isMissing)("Services find their pods on a real API server, and nothing is written for nothing", () =>
  Effect.gen(function* () {
    const client = yield* KubeClient
    const {
      version: { minor }
    } = yield* RealServer.RealServer
    yield* client.create(Node, { metadata: { name: "a", labels: { "topology.kubernetes.io/zone": "zone-a" } } })
    const ports = [
      { name: "http", port: 80, targetPort: "http", appProtocol: "http" },
      { name: "metrics", port: 81, targetPort: 9100 }
    ]
    yield* client.create(Service, {
      metadata: { ...web, labels: { team: "a" } },
      spec: { selector: Harness.labels, ports }
    })
    for (const name of ["one", "two"]) {
      const container = { name: "main", image: "x", ports: [{ name: "http", containerPort: 8080 }] }
      const spec = { nodeName: "a", hostname: name, subdomain: "web", containers: [container] }
      yield* client.create(Pod, { metadata: { ...web, name, labels: Harness.labels }, spec })
    }
    yield* patchStatus("one", "10.1.0.1", true)
    yield* patchStatus("two", "10.1.0.2", false)
    yield* until(Endpoints, says("10.1.0.1", "10.1.0.2"))
    yield* patchStatus("two", "10.1.0.2", true)
    yield* until(Endpoints, says("10.1.0.1,10.1.0.2", ""))
    const { metadata, subsets } = yield* client.get(Endpoints, web)
    assert.deepStrictEqual(metadata.labels, {
      "endpoints.kubernetes.io/managed-by": "endpoint-controller",
      team: "a"
    })
    assert.strictEqual(subsets?.[0]?.addresses?.[0]?.hostname, "one")
    assert.deepStrictEqual(subsets?.[0]?.ports, [
      { name: "http", port: 8080, protocol: "TCP", appProtocol: "http" },
      { name: "metrics", port: 9100, protocol: "TCP" }
    ])
    if (minor >= 21) {
      yield* until(EndpointSlice, ({ endpoints = [] }) => endpoints.filter((one) => one.conditions?.ready).length === 2)
    }
    // A change without effect is reconciled; the change after it shows that this has happened.
    const before = written.length
    yield* client.patch(Service, web, Harness.merge({ metadata: { annotations: { a: "b" } } }))
    yield* client.patch(Service, web, Harness.merge({ metadata: { labels: { team: "b" } } }))
    yield* until(Endpoints, ({ metadata }) => metadata.labels?.["team"] === "b")
    assert.isAtMost(written.length - before, minor >= 21 ? 2 : 1)
    yield* client.delete(Pod, { ...web, name: "one" }, { gracePeriodSeconds: 0 })
    yield* until(Endpoints, says("10.1.0.2", ""))
    const gone = yield* Effect.forkChild(
      Effect.flatMap(Cache, (cache) =>
        cache.changes(Endpoints).pipe(
          Stream.filter(({ _tag, object }) => _tag === "Deleted" && object.metadata.name === "web"),
          Stream.runHead
        )
      ),
      { startImmediately: true }
    )
    yield* client.delete(Service, web)
    yield* Fiber.join(gone)
    assert.deepStrictEqual(idle, [])
  }).pipe(Effect.provide(cluster))
)
