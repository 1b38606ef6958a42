/** The cases for Endpoints that a user writes from Kubernetes' suite: test/e2e/network/endpointslicemirroring.go. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Endpoints, EndpointSlice, Pod, Service } from "../../../src/kube/resources.ts"
import * as Harness from "../harness.ts"

const name = "example-custom-endpoints"

const slices = Harness.list(EndpointSlice, `kubernetes.io/service-name=${name}`)

/** `10.1.2.3 80`, for each slice with its ports. Each slice has one endpoint with one address. */
const shows = (...wanted: ReadonlyArray<string>) =>
  Harness.until(
    Effect.map(slices, (all) => {
      const found = all.map(({ endpoints, ports }) => {
        assert.deepStrictEqual([endpoints?.length, endpoints?.[0]?.addresses.length], [1, 1])
        return [...(endpoints?.[0]?.addresses ?? []), ...(ports ?? []).map((one) => one.port)].join(" ")
      })
      assert.sameMembers(found, [...wanted])
    }),
    "12 seconds"
  )

const none = Harness.until(
  Effect.map(slices, (all) => assert.isEmpty(all)),
  "12 seconds"
)

const port = (portName: string, number: number) => ({ name: portName, port: number, protocol: "TCP" })

Harness.scenario(
  "a custom Endpoints resource is mirrored through create, update and delete",
  Effect.gen(function* () {
    yield* Harness.create(Service, { metadata: { name }, spec: { ports: [port("example", 80)] } })
    const subsets = (ip: string) => [{ ports: [{ port: 80 }], addresses: [{ ip }] }]
    yield* Harness.create(Endpoints, { metadata: { name }, subsets: subsets("10.1.2.3") })
    yield* shows("10.1.2.3 80")
    yield* Harness.patch(Endpoints, name, { subsets: subsets("10.2.3.4") })
    yield* shows("10.2.3.4 80")
    yield* Harness.remove(Endpoints, name)
    yield* none
  })
)

Harness.scenario(
  "a custom Endpoints resource with several subsets and the same address is mirrored",
  Effect.gen(function* () {
    yield* Harness.create(Service, { metadata: { name }, spec: { ports: [port("port80", 80), port("port81", 81)] } })
    yield* Harness.create(Pod, {
      metadata: { name: "pod-handle-http-request" },
      spec: { containers: [{ name: "main", image: "agnhost:1" }] }
    })
    const ip = yield* Harness.until(
      Effect.map(Harness.get(Pod, "pod-handle-http-request"), ({ status }) => {
        assert.isString(status?.podIP)
        return status?.podIP ?? ""
      })
    )
    const subset = (portName: string, number: number) => ({ ports: [port(portName, number)], addresses: [{ ip }] })
    yield* Harness.create(Endpoints, { metadata: { name }, subsets: [subset("port80", 8090), subset("port81", 9090)] })
    // test/integration/endpointslice: multiple subsets and same address are one slice.
    yield* shows(`${ip} 8090 9090`)
    yield* Harness.remove(Endpoints, name)
    yield* none
  })
)
