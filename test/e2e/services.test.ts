/** The cases for Endpoints and EndpointSlices from Kubernetes' suites: test/e2e/network/{endpointslice,service,endpoints}.go, test/integration/endpoints. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Endpoints, EndpointSlice, Pod, Service } from "../../src/kube/resources.ts"
import * as Harness from "./harness.ts"

const service = (name: string, selector: Readonly<Record<string, string>>, spec: object = {}) => ({
  metadata: { name },
  spec: { selector, ports: [{ name: "http", port: 80, targetPort: 8080, protocol: "TCP" }], ...spec }
})

const pod = (
  name: string,
  labels: Readonly<Record<string, string>>,
  ports: ReadonlyArray<object> = [],
  more: object = {}
) => ({
  metadata: { name, labels },
  spec: { terminationGracePeriodSeconds: 30, containers: [{ name: "main", image: "nginx:1", ports }], ...more }
})

const slicesOf = (name: string) => Harness.list(EndpointSlice, `kubernetes.io/service-name=${name}`)

/** `10.244.1.2 http=3000` for each address of each set of ports. Asserts that Endpoints and EndpointSlices agree. */
const shown = (name: string) =>
  Effect.gen(function* () {
    const { subsets = [] } = yield* Harness.get(Endpoints, name)
    const inOne = subsets.flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }) =>
      [...addresses, ...notReadyAddresses].flatMap(({ ip }) => ports.map((one) => `${ip} ${one.name}=${one.port}`))
    )
    const slices = yield* slicesOf(name)
    const inSlices = slices.flatMap(({ endpoints, ports }) =>
      (endpoints ?? []).flatMap(({ addresses }) =>
        (ports ?? []).map((one) => `${addresses[0]} ${one.name}=${one.port}`)
      )
    )
    assert.sameMembers(inOne, inSlices)
    return { addresses: inSlices, subsets: subsets.length, slices: slices.length }
  })

const expects = (name: string, addresses: ReadonlyArray<string>, subsets: number, slices: number) =>
  Harness.until(
    Effect.map(shown(name), (found) => {
      assert.sameMembers(found.addresses, [...addresses])
      assert.deepStrictEqual([found.subsets, found.slices], [subsets, slices])
    })
  )

const addressOf = (name: string) =>
  Harness.until(
    Effect.map(Harness.get(Pod, name), ({ status }) => {
      assert.isString(status?.podIP)
      return status?.podIP ?? ""
    })
  )

/** Creates the Service `web` with one pod, and waits until both forms have its address, which it returns. */
const webWithOnePod = Effect.gen(function* () {
  yield* Harness.create(Service, service("web", { app: "web" }))
  yield* Harness.create(Pod, pod("one", { app: "web" }))
  const address = yield* addressOf("one")
  yield* expects("web", [`${address} http=8080`], 1, 1)
  return address
})

Harness.scenario(
  "a Service that selects no pod has Endpoints and a slice with its name, which are deleted with it",
  Effect.gen(function* () {
    yield* Harness.create(Service, service("empty", { does: "not-match" }))
    yield* expects("empty", [], 0, 1)
    const [slice] = yield* slicesOf("empty")
    const { labels, ownerReferences } = slice?.metadata ?? {}
    assert.strictEqual(labels?.["endpointslice.kubernetes.io/managed-by"], "endpointslice-controller.k8s.io")
    assert.deepStrictEqual([ownerReferences?.[0]?.name, slice?.endpoints ?? []], ["empty", []])
    yield* Harness.remove(Service, "empty")
    yield* Harness.gone(Endpoints, "empty", "30 seconds")
    yield* Harness.until(
      Effect.map(slicesOf("empty"), (all) => assert.isEmpty(all)),
      "90 seconds"
    )
  })
)

Harness.scenario(
  "Endpoints and slices have the pods that match, by number and by name of their ports, and are created again after a deletion",
  Effect.gen(function* () {
    const port = (name: string, containerPort: number) => ({ name, containerPort, protocol: "TCP" })
    yield* Harness.create(Pod, pod("pod1", { pod1: "on", shared: "on" }, [port("example", 3000)]))
    yield* Harness.create(Pod, pod("pod2", { pod2: "on", shared: "on" }, [port("example", 3001), port("other", 3002)]))
    const as = (name: string, targetPort: string | number) => ({
      publishNotReadyAddresses: true,
      ports: [{ name, port: 80, targetPort, protocol: "TCP" }]
    })
    yield* Harness.create(Service, service("by-number", { pod1: "on" }, as("example", 3000)))
    yield* Harness.create(Service, service("by-name", { shared: "on" }, as("http", "example")))
    yield* Harness.create(Service, service("nobody", { pod3: "on" }, as("none", 8080)))
    const [first, second] = [yield* addressOf("pod1"), yield* addressOf("pod2")]
    yield* expects("by-number", [`${first} example=3000`], 1, 1)
    yield* expects("by-name", [`${first} http=3000`, `${second} http=3001`], 2, 2)
    yield* expects("nobody", [], 0, 1)
    for (const { metadata } of yield* slicesOf("by-name")) yield* Harness.remove(EndpointSlice, metadata.name)
    yield* expects("by-name", [`${first} http=3000`, `${second} http=3001`], 2, 2)
  })
)

Harness.scenario(
  "Endpoints and slices follow pods that are created and deleted, and changed ports of the Service",
  Effect.gen(function* () {
    yield* Harness.create(Service, service("web", { app: "web" }))
    yield* expects("web", [], 0, 1)
    yield* Harness.create(Pod, pod("one", { app: "web" }))
    const first = yield* addressOf("one")
    yield* expects("web", [`${first} http=8080`], 1, 1)
    yield* Harness.create(Pod, pod("two", { app: "web" }))
    const second = yield* addressOf("two")
    yield* expects("web", [`${first} http=8080`, `${second} http=8080`], 1, 1)
    yield* Harness.remove(Pod, "one")
    yield* Harness.gone(Pod, "one")
    yield* expects("web", [`${second} http=8080`], 1, 1)
    const ports = [{ name: "http", port: 80, targetPort: 9090, protocol: "TCP" }]
    yield* Harness.patch(Service, "web", { spec: { ports } })
    yield* expects("web", [`${second} http=9090`], 1, 1)
    yield* Harness.remove(Pod, "two")
    yield* Harness.gone(Pod, "two")
    yield* expects("web", [], 0, 1)
  })
)

Harness.scenario(
  "a Service has one port number for two protocols",
  Effect.gen(function* () {
    const ports = [
      { name: "tcp", port: 80, targetPort: 8080, protocol: "TCP" },
      { name: "udp", port: 80, targetPort: 8080, protocol: "UDP" }
    ]
    yield* Harness.create(Service, service("both", { app: "both" }, { ports }))
    yield* Harness.create(Pod, pod("both", { app: "both" }))
    const address = yield* addressOf("both")
    yield* expects("both", [`${address} tcp=8080`, `${address} udp=8080`], 1, 1)
    const [slice] = yield* slicesOf("both")
    assert.sameMembers(slice?.ports?.map(({ protocol }) => protocol) ?? [], ["TCP", "UDP"])
  })
)

Harness.scenario(
  "a Service with publishNotReadyAddresses has pods that are not ready, and terminating ones",
  Effect.gen(function* () {
    yield* Harness.create(Service, service("web", { app: "web" }, { publishNotReadyAddresses: true }))
    const slow = [{ name: "main", image: "nginx:1", readinessProbe: { exec: { command: ["false"] } } }]
    yield* Harness.create(Pod, pod("slow", { app: "web" }, [], { containers: slow }))
    const address = yield* addressOf("slow")
    yield* expects("web", [`${address} http=8080`], 1, 1)
    const ready = Effect.map(slicesOf("web"), ([slice]) => slice?.endpoints?.[0]?.conditions)
    assert.deepStrictEqual(yield* ready, { ready: true, serving: false, terminating: false })
    yield* Harness.patch(Pod, "slow", { metadata: { finalizers: ["example.com/held"] } })
    yield* Harness.remove(Pod, "slow")
    yield* Harness.until(
      Effect.map(ready, (found) => assert.deepStrictEqual(found, { ready: true, serving: false, terminating: true }))
    )
  })
)

Harness.scenario(
  "a Service without a selector keeps its Endpoints for other clients, and with a selector again they follow its pods",
  Effect.gen(function* () {
    yield* webWithOnePod
    yield* Harness.patch(Service, "web", {
      spec: { type: "ExternalName", externalName: "example.com", clusterIP: null, clusterIPs: null }
    })
    yield* Harness.advance("10 seconds")
    yield* Harness.patch(Service, "web", { spec: { type: "ClusterIP", externalName: null } })
    yield* Harness.remove(Pod, "one")
    yield* Harness.gone(Pod, "one")
    yield* expects("web", [], 0, 1)
  })
)

Harness.scenario(
  "deleted Endpoints and slices are created again",
  Effect.gen(function* () {
    const address = yield* webWithOnePod
    yield* Harness.remove(Endpoints, "web")
    for (const { metadata } of yield* slicesOf("web")) yield* Harness.remove(EndpointSlice, metadata.name)
    yield* expects("web", [`${address} http=8080`], 1, 1)
  })
)

Harness.scenario(
  "Endpoints without a Service, and those of a Service without a selector, are left alone",
  Effect.gen(function* () {
    const subsets = [{ addresses: [{ ip: "10.0.0.24" }], ports: [{ name: "http", port: 80, protocol: "TCP" }] }]
    const bare = { metadata: { name: "bare" }, spec: { ports: [{ port: 80, protocol: "TCP" }] } }
    yield* Harness.create(Service, bare)
    for (const name of ["alone", "bare"])
      yield* Harness.create(Endpoints, { metadata: { name, labels: { "test-endpoint-static": "true" } }, subsets })
    yield* Harness.create(EndpointSlice, {
      metadata: { name: "mine", labels: { "kubernetes.io/service-name": "bare" } },
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.0.0.25"] }],
      ports: []
    })
    yield* Harness.advance("1 minute")
    for (const name of ["alone", "bare"]) {
      yield* Harness.patch(Endpoints, name, { metadata: { labels: { "test-service": "patched" } } })
      yield* Harness.advance("1 minute")
      const { metadata, subsets: left } = yield* Harness.get(Endpoints, name)
      assert.deepStrictEqual(metadata.labels, { "test-endpoint-static": "true", "test-service": "patched" })
      assert.deepStrictEqual(left?.[0]?.addresses, [{ ip: "10.0.0.24" }])
    }
    assert.deepStrictEqual((yield* Harness.get(EndpointSlice, "mine")).endpoints?.[0]?.addresses, ["10.0.0.25"])
    yield* Harness.removeAll(Endpoints, "test-endpoint-static=true")
    yield* Harness.advance("1 minute")
    assert.isTrue(yield* Harness.isGone(Endpoints, "alone"))
  })
)

Harness.scenario(
  "an annotation of a pod or a Service causes no write of Endpoints or slices",
  Effect.gen(function* () {
    yield* webWithOnePod
    yield* Harness.advance("10 seconds")
    const versions = Effect.gen(function* () {
      const { metadata } = yield* Harness.get(Endpoints, "web")
      return [metadata.resourceVersion, ...(yield* slicesOf("web")).map((one) => one.metadata.resourceVersion)]
    })
    const before = yield* versions
    yield* Harness.patch(Pod, "one", { metadata: { annotations: { foo: "bar" } } })
    yield* Harness.patch(Service, "web", { metadata: { annotations: { foo: "bar" } } })
    yield* Harness.advance("1 minute")
    assert.deepStrictEqual(yield* versions, before)
  })
)
