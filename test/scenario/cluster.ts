/**
 * The cluster of a scenario: an API server, a client of the test, a control-plane node and pods to count. Waiting for a state is a list and a
 * watch, as for every other client.
 */
import { readFile } from "node:fs/promises"
import * as KubeConfig from "../../src/platform/KubeConfig.ts"
import * as Process from "../support/process.ts"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type { KubeObject } from "../../src/kube/Meta.ts"
import type * as Resource from "../../src/kube/Resource.ts"
import { Event, Node, Pod } from "../../src/kube/resources.ts"
import { EmbeddedCluster } from "../../src/apiserver/server/EmbeddedCluster.ts"
import { Endpoint } from "../../src/layers/Endpoint.ts"
import * as HttpTransport from "../../src/platform/HttpTransport.ts"
import { KubeClient, type ListOptions } from "../../src/layers/KubeClient.ts"
import { Transport } from "../../src/layers/Transport.ts"
import type { Upstream } from "../support/gateway.ts"

export const label = "hopegi/pod-count"

/** The embedded API server in the test's own process, without simulated nodes. */
export const embedded = Effect.gen(function* () {
  const { endpoint } = Context.get(yield* Layer.build(Layer.fresh(EmbeddedCluster.layer())), EmbeddedCluster)
  return { server: endpoint.server, ca: endpoint.ca, token: Redacted.value(endpoint.token) } satisfies Upstream
})

/** The API server of the program, as a process. Returns the path of its kubeconfig. */
export const apiserver = Effect.gen(function* () {
  const running = yield* Process.start(["apiserver"])
  const [, kubeconfig = ""] = yield* running.says(/^export KUBECONFIG=(\S+)$/m)
  return kubeconfig
})

/** The server and the token in a kubeconfig that the program wrote. */
export const accessIn = (path: string) =>
  Effect.promise(async (): Promise<Upstream> => {
    const { clusters, users } = JSON.parse(await readFile(path, "utf8")) as {
      clusters: [{ cluster: { server: string; "certificate-authority-data": string } }]
      users: [{ user: { token: string } }]
    }
    const { "certificate-authority-data": ca, server } = clusters[0].cluster
    return { server, ca: Buffer.from(ca, "base64").toString(), token: users[0].user.token }
  })

export type Client = KubeClient["Service"]

export const client = ({ ca, server, token }: Upstream) => clientAt(Endpoint.fixed({ server, tls: { ca }, token }))

export const clientAt = Effect.fnUntraced(function* (endpoint: Endpoint["Service"]) {
  const transport = yield* HttpTransport.make(endpoint)
  const services = yield* Layer.build(Layer.fresh(Layer.provide(KubeClient.layer, Layer.succeed(Transport, transport))))
  return Context.get(services, KubeClient)
})

/** The client with the credentials of a kubeconfig. */
export const clientOf = (path: string) =>
  Effect.flatMap(KubeConfig.load({ mode: "kubeconfig", path, env: {} }), clientAt)

export const addNode = (client: Client) =>
  client.create(Node, { metadata: { name: "control-plane", labels: { "node-role.kubernetes.io/control-plane": "" } } })

export const addPod = (client: Client, name: string) =>
  client.create(Pod, {
    metadata: { name, namespace: "default" },
    spec: { containers: [{ name: "main", image: "example.org/none" }] }
  })

/** The embedded API server, a client of it, a control-plane node and the pod `a`. */
export const withOnePod = Effect.gen(function* () {
  const upstream = yield* embedded
  const connected = yield* client(upstream)
  yield* addNode(connected)
  yield* addPod(connected, "a")
  return { upstream, client: connected }
})

/** The first object for which the predicate holds, now or later. */
export const until = <A extends KubeObject>(
  client: Client,
  resource: Resource.Resource<A>,
  options: Pick<ListOptions, "namespace" | "fieldSelector">,
  holds: (object: A) => boolean
) =>
  Effect.gen(function* () {
    const { items, metadata } = yield* client.list(resource, options)
    const present = items.find(holds)
    if (present !== undefined) return present
    const resourceVersion = metadata.resourceVersion ?? ""
    const found = yield* client.watch(resource, { ...options, resourceVersion }).pipe(
      Stream.map((event) => event.object as A),
      Stream.filter((object) => object.metadata !== undefined && holds(object)),
      Stream.runHead
    )
    return Option.getOrThrowWith(found, () => new Error("the watch ended before it was true"))
  })

export const labelled = (client: Client, count: number | undefined) =>
  until(client, Node, {}, ({ metadata }) =>
    count === undefined ? metadata.labels?.[label] !== undefined : metadata.labels?.[label] === String(count)
  )

/** An event that pod-count recorded about a pod. */
export const recorded = (client: Client, pod: string, count: number) =>
  until(
    client,
    Event,
    { namespace: "default" },
    (event) => event.involvedObject.name === pod && event.message === `pod count is ${count}`
  )
