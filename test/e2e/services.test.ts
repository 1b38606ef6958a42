/** What Kubernetes' suites ask of Endpoints and EndpointSlices: test/e2e/network/{endpointslice,service,endpoints}.go, test/integration/endpoints. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Endpoints, EndpointSlice, Pod, Service } from "../../src/kube/resources.ts"
import * as World from "./stand.ts"

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

const slicesOf = (name: string) => World.list(EndpointSlice, `kubernetes.io/service-name=${name}`)

/** `10.244.1.2 http=3000` for each address of each set of ports, in both forms. */
const told = (name: string) =>
  Effect.gen(function* () {
    const { subsets = [] } = yield* World.get(Endpoints, name)
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
  World.until(
    Effect.map(told(name), (found) => {
      assert.sameMembers(found.addresses, [...addresses])
      assert.deepStrictEqual([found.subsets, found.slices], [subsets, slices])
    })
  )

const addressOf = (name: string) =>
  World.until(
    Effect.map(World.get(Pod, name), ({ status }) => {
      assert.isString(status?.podIP)
      return status?.podIP ?? ""
    })
  )

World.scenario(
  "come with a Service that selects nobody, say whose they are, and go with it",
  Effect.gen(function* () {
    yield* World.create(Service, service("empty", { does: "not-match" }))
    yield* expects("empty", [], 0, 1)
    const [slice] = yield* slicesOf("empty")
    const { labels, ownerReferences } = slice?.metadata ?? {}
    assert.strictEqual(labels?.["endpointslice.kubernetes.io/managed-by"], "endpointslice-controller.k8s.io")
    assert.deepStrictEqual([ownerReferences?.[0]?.name, slice?.endpoints ?? []], ["empty", []])
    yield* World.remove(Service, "empty")
    yield* World.gone(Endpoints, "empty", "30 seconds")
    yield* World.until(
      Effect.map(slicesOf("empty"), (all) => assert.isEmpty(all)),
      "90 seconds"
    )
  })
)

World.scenario(
  "have the pods that match, by number and by name of their ports, and are made again",
  Effect.gen(function* () {
    const port = (name: string, containerPort: number) => ({ name, containerPort, protocol: "TCP" })
    yield* World.create(Pod, pod("pod1", { pod1: "on", shared: "on" }, [port("example", 3000)]))
    yield* World.create(Pod, pod("pod2", { pod2: "on", shared: "on" }, [port("example", 3001), port("other", 3002)]))
    const as = (name: string, targetPort: string | number) => ({
      publishNotReadyAddresses: true,
      ports: [{ name, port: 80, targetPort, protocol: "TCP" }]
    })
    yield* World.create(Service, service("by-number", { pod1: "on" }, as("example", 3000)))
    yield* World.create(Service, service("by-name", { shared: "on" }, as("http", "example")))
    yield* World.create(Service, service("nobody", { pod3: "on" }, as("none", 8080)))
    const [first, second] = [yield* addressOf("pod1"), yield* addressOf("pod2")]
    yield* expects("by-number", [`${first} example=3000`], 1, 1)
    yield* expects("by-name", [`${first} http=3000`, `${second} http=3001`], 2, 2)
    yield* expects("nobody", [], 0, 1)
    for (const { metadata } of yield* slicesOf("by-name")) yield* World.remove(EndpointSlice, metadata.name)
    yield* expects("by-name", [`${first} http=3000`, `${second} http=3001`], 2, 2)
  })
)

World.scenario(
  "follow pods as they come and go, and ports as the Service changes them",
  Effect.gen(function* () {
    yield* World.create(Service, service("web", { app: "web" }))
    yield* expects("web", [], 0, 1)
    yield* World.create(Pod, pod("one", { app: "web" }))
    const first = yield* addressOf("one")
    yield* expects("web", [`${first} http=8080`], 1, 1)
    yield* World.create(Pod, pod("two", { app: "web" }))
    const second = yield* addressOf("two")
    yield* expects("web", [`${first} http=8080`, `${second} http=8080`], 1, 1)
    yield* World.remove(Pod, "one")
    yield* World.gone(Pod, "one")
    yield* expects("web", [`${second} http=8080`], 1, 1)
    const ports = [{ name: "http", port: 80, targetPort: 9090, protocol: "TCP" }]
    yield* World.patch(Service, "web", { spec: { ports } })
    yield* expects("web", [`${second} http=9090`], 1, 1)
    yield* World.remove(Pod, "two")
    yield* World.gone(Pod, "two")
    yield* expects("web", [], 0, 1)
  })
)

World.scenario(
  "serve one number by two protocols",
  Effect.gen(function* () {
    const ports = [
      { name: "tcp", port: 80, targetPort: 8080, protocol: "TCP" },
      { name: "udp", port: 80, targetPort: 8080, protocol: "UDP" }
    ]
    yield* World.create(Service, service("both", { app: "both" }, { ports }))
    yield* World.create(Pod, pod("both", { app: "both" }))
    const address = yield* addressOf("both")
    yield* expects("both", [`${address} tcp=8080`, `${address} udp=8080`], 1, 1)
    const [slice] = yield* slicesOf("both")
    assert.sameMembers(slice?.ports?.map(({ protocol }) => protocol) ?? [], ["TCP", "UDP"])
  })
)

World.scenario(
  "have pods that are not ready, and those on their way out, where the Service says so",
  Effect.gen(function* () {
    yield* World.create(Service, service("web", { app: "web" }, { publishNotReadyAddresses: true }))
    const slow = [{ name: "main", image: "nginx:1", readinessProbe: { exec: { command: ["false"] } } }]
    yield* World.create(Pod, pod("slow", { app: "web" }, [], { containers: slow }))
    const address = yield* addressOf("slow")
    yield* expects("web", [`${address} http=8080`], 1, 1)
    const ready = Effect.map(slicesOf("web"), ([slice]) => slice?.endpoints?.[0]?.conditions)
    assert.deepStrictEqual(yield* ready, { ready: true, serving: false, terminating: false })
    yield* World.patch(Pod, "slow", { metadata: { finalizers: ["example.com/held"] } })
    yield* World.remove(Pod, "slow")
    yield* World.until(
      Effect.map(ready, (found) => assert.deepStrictEqual(found, { ready: true, serving: false, terminating: true }))
    )
  })
)

World.scenario(
  "leave the selection to others when the Service stops selecting, and take it again",
  Effect.gen(function* () {
    yield* World.create(Service, service("web", { app: "web" }))
    yield* World.create(Pod, pod("one", { app: "web" }))
    const address = yield* addressOf("one")
    yield* expects("web", [`${address} http=8080`], 1, 1)
    yield* World.patch(Service, "web", {
      spec: { type: "ExternalName", externalName: "example.com", clusterIP: null, clusterIPs: null }
    })
    yield* World.advance("10 seconds")
    yield* World.patch(Service, "web", { spec: { type: "ClusterIP", externalName: null } })
    yield* World.remove(Pod, "one")
    yield* World.gone(Pod, "one")
    yield* expects("web", [], 0, 1)
  })
)

World.scenario(
  "come back when somebody deletes them",
  Effect.gen(function* () {
    yield* World.create(Service, service("web", { app: "web" }))
    yield* World.create(Pod, pod("one", { app: "web" }))
    const address = yield* addressOf("one")
    yield* expects("web", [`${address} http=8080`], 1, 1)
    yield* World.remove(Endpoints, "web")
    for (const { metadata } of yield* slicesOf("web")) yield* World.remove(EndpointSlice, metadata.name)
    yield* expects("web", [`${address} http=8080`], 1, 1)
  })
)

World.scenario(
  "that nobody's Service is behind, or one that selects nothing, are their maker's own",
  Effect.gen(function* () {
    const subsets = [{ addresses: [{ ip: "10.0.0.24" }], ports: [{ name: "http", port: 80, protocol: "TCP" }] }]
    const bare = { metadata: { name: "bare" }, spec: { ports: [{ port: 80, protocol: "TCP" }] } }
    yield* World.create(Service, bare)
    for (const name of ["alone", "bare"])
      yield* World.create(Endpoints, { metadata: { name, labels: { "test-endpoint-static": "true" } }, subsets })
    yield* World.create(EndpointSlice, {
      metadata: { name: "mine", labels: { "kubernetes.io/service-name": "bare" } },
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.0.0.25"] }],
      ports: []
    })
    yield* World.advance("1 minute")
    for (const name of ["alone", "bare"]) {
      yield* World.patch(Endpoints, name, { metadata: { labels: { "test-service": "patched" } } })
      yield* World.advance("1 minute")
      const { metadata, subsets: left } = yield* World.get(Endpoints, name)
      assert.deepStrictEqual(metadata.labels, { "test-endpoint-static": "true", "test-service": "patched" })
      assert.deepStrictEqual(left?.[0]?.addresses, [{ ip: "10.0.0.24" }])
    }
    assert.deepStrictEqual((yield* World.get(EndpointSlice, "mine")).endpoints?.[0]?.addresses, ["10.0.0.25"])
    yield* World.removeAll(Endpoints, "test-endpoint-static=true")
    yield* World.advance("1 minute")
    assert.isTrue(yield* World.isGone(Endpoints, "alone"))
  })
)

World.scenario(
  "are not written for what nobody would see in them",
  Effect.gen(function* () {
    yield* World.create(Service, service("web", { app: "web" }))
    yield* World.create(Pod, pod("one", { app: "web" }))
    const address = yield* addressOf("one")
    yield* expects("web", [`${address} http=8080`], 1, 1)
    yield* World.advance("10 seconds")
    const versions = Effect.gen(function* () {
      const { metadata } = yield* World.get(Endpoints, "web")
      return [metadata.resourceVersion, ...(yield* slicesOf("web")).map((one) => one.metadata.resourceVersion)]
    })
    const before = yield* versions
    yield* World.patch(Pod, "one", { metadata: { annotations: { foo: "bar" } } })
    yield* World.patch(Service, "web", { metadata: { annotations: { foo: "bar" } } })
    yield* World.advance("1 minute")
    assert.deepStrictEqual(yield* versions, before)
  })
)
