/** Scenarios of Endpoints and EndpointSlices. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as EndpointsController from "../../src/controllers/Endpoints.ts"
import * as EndpointSliceController from "../../src/controllers/EndpointSlice.ts"
import * as Mirroring from "../../src/controllers/EndpointSliceMirroring.ts"
import * as Patch from "../../src/kube/Patch.ts"
import type * as Resource from "../../src/kube/Resource.ts"
import { Endpoints, EndpointSlice, Pod, Service } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import type { Descriptor } from "../../src/layers/Controller.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as Scenario from "./scenario.ts"

const namespace = "default"
const labels = { app: "web" }
const web = { namespace, name: "web" }

const pod = (name: string) =>
  Effect.flatMap(KubeClient, (client) =>
    client.create(Pod, {
      metadata: { namespace, name, labels },
      spec: { containers: [{ name: "main", image: "example.test/web:1" }] }
    })
  )

/** Pods are added and removed; objects of a deleted Service of the same name are deleted; the events of failures are counted up. */
const follows = (title: string, run: Descriptor, resource: Resource.Any, path: string) =>
  Scenario.make(
    title,
    { nodes: 2, ...Scenario.listing },
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      const server = yield* ApiServer
      yield* cluster.run(run)
      const refusal = { _tag: "Status", code: 500 } as const
      yield* server.setFaults([{ match: { verb: "create", resource: path }, fault: refusal, times: 3 }])
      const expose = client.create(Service, { metadata: web, spec: { selector: labels, ports: [{ port: 80 }] } })
      yield* expose
      yield* pod("a")
      yield* cluster.advance("1 minute")
      const text = Effect.map(cluster.snapshot(resource), (all) =>
        JSON.stringify(all.filter(({ metadata }) => metadata.name.startsWith("web")))
      )
      assert.include(yield* text, '"name":"a"')
      yield* pod("b")
      yield* cluster.advance("1 minute")
      assert.include(yield* text, '"name":"b"')
      yield* client.patch(Service, web, Patch.merge({ metadata: { labels } }))
      yield* cluster.advance("1 minute")
      const { uid = "" } = (yield* cluster.snapshot(resource)).find(({ metadata }) => metadata.name.startsWith("web"))
        ?.metadata ?? { uid: "" }
      yield* client.delete(Service, web)
      yield* cluster.settle
      yield* expose
      yield* cluster.advance("1 minute")
      assert.notInclude(yield* text, uid)
      assert.include(yield* text, '"name":"b"')
      yield* Scenario.assertCountedEvent(({ involvedObject }) => involvedObject.name === "web")
    })
  )

/** A slice is created after failures, whose event is counted up; it follows its Endpoints and is deleted with them. */
const mirrors = Scenario.make(
  "slices follow Endpoints that a user writes",
  Scenario.listing,
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const client = yield* KubeClient
    yield* cluster.run(Mirroring.make())
    const refusal = { _tag: "Status", code: 500 } as const
    const path = "endpointslices.discovery.k8s.io"
    yield* (yield* ApiServer).setFaults([{ match: { verb: "create", resource: path }, fault: refusal, times: 3 }])
    yield* client.create(Service, { metadata: web, spec: { ports: [{ port: 80 }] } })
    const subsets = (ip: string) => [{ addresses: [{ ip }], ports: [{ port: 80 }] }]
    yield* client.create(Endpoints, { metadata: web, subsets: subsets("10.0.0.1") })
    yield* cluster.advance("1 minute")
    const text = Effect.map(cluster.snapshot(EndpointSlice), (all) =>
      JSON.stringify(all.filter(({ metadata }) => metadata.name.startsWith("web")))
    )
    assert.include(yield* text, '"10.0.0.1"')
    yield* client.patch(Endpoints, web, Patch.merge({ subsets: subsets("10.0.0.2") }))
    yield* cluster.advance("1 minute")
    assert.include(yield* text, '"10.0.0.2"')
    yield* client.delete(Endpoints, web)
    yield* cluster.advance("1 minute")
    assert.strictEqual(yield* text, "[]")
    yield* Scenario.assertCountedEvent(({ involvedObject }) => involvedObject.name === "web")
  })
)

export const scenarios: ReadonlyArray<Scenario.Scenario> = [
  follows("Endpoints follow the pods of a Service", EndpointsController.make(), Endpoints, "endpoints"),
  follows(
    "slices follow the pods of a Service",
    EndpointSliceController.make(),
    EndpointSlice,
    "endpointslices.discovery.k8s.io"
  ),
  mirrors
].flat()
