/** endpoint and endpointslice: pods come, leave by their label and go, a port changes, and a Service comes again under the same name. */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as EndpointsController from "../../../src/controllers/Endpoints.ts"
import * as EndpointSliceController from "../../../src/controllers/EndpointSlice.ts"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import { Pod, Service } from "../../../src/kube/resources.ts"
import type { Cluster } from "../../../src/testing/explore/Exploration.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import { kubelet } from "./kubelet.ts"
import { labels, podSpec, web } from "./manifests.ts"

const service = {
  apiVersion: "v1",
  kind: "Service",
  metadata: web,
  spec: { selector: labels, ports: [{ name: "http", port: 80, targetPort: 8080 }] }
}

const pod = (name: string) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { namespace: "default", name, labels },
  spec: podSpec()
})

const wait: Duration.Input = "40 seconds"

const scenario = (cluster: Cluster) =>
  Effect.gen(function* () {
    yield* cluster.apply([service, pod("a"), pod("b")])
    yield* cluster.advance(wait)
    yield* cluster.edit(Pod, { namespace: "default", name: "a" }, { metadata: { labels: { app: "other" } } })
    yield* cluster.delete(Pod, { namespace: "default", name: "b" })
    yield* cluster.edit(Service, web, { spec: { ports: [{ name: "http", port: 80, targetPort: 9090 }] } })
    yield* cluster.advance(wait)
    yield* cluster.delete(Service, web)
    yield* cluster.apply([service, pod("c")])
  })

/** Whether there is the time of the last change depends on whether the last write was caused by a pod. */
const comparable = (object: KubeObject): KubeObject =>
  object.kind === "Endpoints" ? { ...object, metadata: { ...object.metadata, annotations: {} } } : object

export const endpoints = explore("endpoint", {
  controllers: [EndpointsController.make()],
  comparable,
  environment: [kubelet],
  scenario
})

export const endpointSlice = explore("endpointslice", {
  controllers: [EndpointSliceController.make({ maxEndpointsPerSlice: 1 })],
  environment: [kubelet],
  scenario
})
