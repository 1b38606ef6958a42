/** The harness of the mirroring tests: a Service without a selector, Endpoints of a user, and the mirrored slices. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Mirroring from "../../../src/controllers/EndpointSliceMirroring.ts"
import { Endpoints, EndpointSlice, Service } from "../../../src/kube/resources.ts"
import type * as ClusterTest from "../../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Harness from "../shared/services/harness.ts"

const namespace = "default"

export const manager = "endpointslicemirroring-controller.k8s.io"

/** A Service whose Endpoints a user manages. */
export const createService = (metadata: object = {}) => Harness.expose({ selector: null }, metadata)

export const http = [{ name: "http", port: 8080, protocol: "TCP" }]

/** One subset of these addresses. */
export const of = (...ips: ReadonlyArray<string>) => ({ addresses: ips.map((ip) => ({ ip })), ports: http })

/** Creates Endpoints of the Service as a user. */
export const createEndpoints = (subsets: ReadonlyArray<object>, metadata: object = {}) =>
  Effect.tap(
    Effect.flatMap(KubeClient, (client) =>
      client.create(Endpoints, {
        metadata: { namespace, name: "web", ...metadata },
        subsets
      })
    ),
    () => Harness.settle
  )

export const change = (body: object) => Harness.patch(Endpoints, "web", body)

export const select = (selector: object | null) => Harness.patch(Service, "web", { spec: { selector } })

export const mirrored = Effect.map(Harness.slices(), (all) =>
  all.filter(({ metadata }) => metadata.labels?.["endpointslice.kubernetes.io/managed-by"] === manager)
)

/** `IPv4 http:8080 10.0.0.1 (10.0.0.2)` for each slice; addresses that are not ready are in brackets. */
export const shown = Effect.map(mirrored, (all) =>
  all
    .map(({ addressType, endpoints, ports }) =>
      [
        addressType,
        ...(ports ?? []).map(({ name = "", port }) => `${name}:${port}`),
        ...(endpoints ?? [])
          .map(({ addresses, conditions }) => (conditions?.ready === true ? addresses.join() : `(${addresses.join()})`))
          .toSorted()
      ].join(" ")
    )
    .toSorted()
)

export const nameOf = Effect.map(mirrored, ([slice]) => slice?.metadata.name ?? "none")

/** Patches the first mirrored slice. */
export const patchSlice = (body: object) => Effect.flatMap(nameOf, (name) => Harness.patch(EndpointSlice, name, body))

export const deleteSlice = Effect.flatMap(nameOf, (name) => Harness.remove(EndpointSlice, name))

/** Runs the controller alone, unless others are given, with one node. */
export const scenario = <A, E>(
  test: Effect.Effect<A, E, ClusterTest.Provides | Scope.Scope>,
  options: Mirroring.Options = {}
) => Harness.withLoop(test, { controllers: [Mirroring.make(options)] })

/** Creates the Service and its Endpoints before the controller starts, which is returned. */
export const mirrorAtStart = Effect.gen(function* () {
  yield* createService()
  yield* createEndpoints([of("10.0.0.1")])
  const [running] = yield* Harness.start([Mirroring.make()])
  yield* Harness.settle
  return running!
})
