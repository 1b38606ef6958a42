/** endpointslicemirroring: Endpoints of a user change, and they and their Service come again under the same name. */
import * as Effect from "effect/Effect"
import * as Mirroring from "../../../src/controllers/EndpointSliceMirroring.ts"
import { Endpoints, Service } from "../../../src/kube/resources.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import { web } from "./manifests.ts"
import { seesDeletionLate } from "./stale.ts"

const service = { apiVersion: "v1", kind: "Service", metadata: web, spec: { ports: [{ name: "http", port: 80 }] } }

const subsets = (...ips: ReadonlyArray<string>) => [
  { addresses: ips.map((ip) => ({ ip })), ports: [{ name: "http", port: 8080, protocol: "TCP" }] }
]

const endpoints = (...ips: ReadonlyArray<string>) => ({
  apiVersion: "v1",
  kind: "Endpoints",
  metadata: web,
  subsets: subsets(...ips)
})

const controllers = [Mirroring.make()]

// Source: pkg/controller/endpointslicemirroring: reconciler.reconcile, compareAnnotations.
const touch = "a slice has exactly the annotations of its Endpoints"

export const endpointSliceMirroring = explore("endpointslicemirroring", {
  controllers,
  without: { touch },
  scenario: (cluster) =>
    Effect.gen(function* () {
      yield* cluster.apply([service, endpoints("10.0.0.1")])
      yield* cluster.advance("40 seconds")
      yield* cluster.edit(Endpoints, web, { subsets: subsets("10.0.0.1", "10.0.0.2") })
      yield* cluster.advance("40 seconds")
      yield* cluster.delete(Service, web)
      yield* cluster.advance("40 seconds")
      yield* cluster.apply([service])
    })
})

export const endpointSliceMirroringAgain = explore("endpointslicemirroring-again", {
  controllers,
  without: {
    ...seesDeletionLate("pkg/controller/endpointslicemirroring: syncEndpoints"),
    touch
  },
  scenario: (cluster) =>
    Effect.gen(function* () {
      yield* cluster.apply([service, endpoints("10.0.0.1")])
      yield* cluster.advance("40 seconds")
      yield* cluster.delete(Endpoints, web)
      yield* cluster.apply([endpoints("10.0.0.3")])
    })
})
