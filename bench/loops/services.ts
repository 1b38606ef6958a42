/**
 * A thousand Services of twenty ready pods each: from the first create of a Service until every one has all of its endpoints in slices. The lower bound is
 * slices of the same size created by a bare loop.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { EndpointSlice, Namespace, Service } from "../../src/kube/resources.ts"
import type { KubeClient } from "../../src/layers/KubeClient.ts"
import type { Figure } from "../figure.ts"
import * as PodStatuses from "./podStatuses.ts"
import * as Stand from "./stand.ts"

const [services, each] = [1000, 20]
const pods = services * each
const nodes = 200
const namespace = "load"

const nameOf = (index: number) => `load-${index % services}`

const populate = (where: Stand.Server) =>
  Effect.promise(async () => {
    const path = `/api/v1/namespaces/${namespace}/pods`
    // A pod on a node that does not exist is left out of slices.
    await Stand.plainly(where, nodes, (index) => ({
      method: "POST",
      path: "/api/v1/nodes",
      body: { metadata: { name: `node-${index}` } }
    }))
    await Stand.plainly(where, pods, (index) => ({
      method: "POST",
      path,
      body: {
        metadata: { name: `p-${index}`, labels: { of: nameOf(index) } },
        spec: { nodeName: `node-${index % nodes}`, containers: [{ name: "main", image: "example.test/main:1" }] }
      }
    }))
    await Stand.plainly(where, pods, (index) => ({
      method: "PATCH",
      path: `${path}/p-${index}/status`,
      body: { status: PodStatuses.running(index + 256) }
    }))
  })

const complete = (client: KubeClient["Service"], expected: number) => {
  const done = new Set<string>()
  return client.watch(EndpointSlice, { namespace, timeoutSeconds: 900 }).pipe(
    Stream.takeUntil(({ object }) => {
      const { endpoints, metadata } = object as EndpointSlice
      const name = metadata.labels?.["kubernetes.io/service-name"]
      if (name !== undefined && endpoints?.length === each) done.add(name)
      return done.size === expected
    }),
    Stream.runDrain
  )
}

const create = (client: KubeClient["Service"], index: number) =>
  client.create(Service, {
    metadata: { namespace, name: nameOf(index) },
    spec: { selector: { of: nameOf(index) }, ports: [{ port: 80, targetPort: 8080 }] }
  })

const floor = (where: Stand.Server, client: KubeClient["Service"]) =>
  Effect.gen(function* () {
    yield* client.create(Namespace, { metadata: { name: "floor" } })
    const endpoints = Array.from({ length: each }, (_, index) => ({
      addresses: [`10.0.1.${index}`],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: `node-${index}`,
      targetRef: { kind: "Pod", namespace: "floor", name: `p-${index}`, uid: "00000000-0000-0000-0000-000000000000" }
    }))
    return yield* Effect.promise(() =>
      Stand.plainly(where, services, (index) => ({
        method: "POST",
        path: "/apis/discovery.k8s.io/v1/namespaces/floor/endpointslices",
        body: {
          metadata: { name: `s-${index}` },
          addressType: "IPv4",
          endpoints,
          ports: [{ name: "", port: 8080, protocol: "TCP" }]
        }
      }))
    )
  })

const measured = Effect.gen(function* () {
  const where = yield* Stand.embedded
  const client = yield* Stand.client(where)
  const bare = yield* floor(where, client)
  yield* client.create(Namespace, { metadata: { name: namespace } })
  yield* populate(where)
  const running = yield* Stand.controllers(where, ["endpointslice"])
  // When the first is done, the caches have synced.
  yield* create(client, 0)
  yield* complete(client, 1)
  const before = Stand.usageOf(running).cpuMillis
  const began = performance.now()
  yield* Effect.all(
    [
      complete(client, services),
      Effect.forEach(
        Array.from({ length: services - 1 }, (_, index) => index + 1),
        (index) => create(client, index),
        { concurrency: 8, discard: true }
      )
    ],
    { concurrency: "unbounded" }
  )
  const seconds = (performance.now() - began) / 1000
  const { cpuMillis, peakMiB } = Stand.usageOf(running)
  return Stand.figures(`1,000 Services × 20 pods to complete slices on ${where.what}`, {
    seconds,
    floorSeconds: bare.millis / 1000,
    cpu: (cpuMillis - before) / services,
    floorCpu: bare.cpuEach,
    per: "Service",
    peakMiB
  })
})

export const run = (): Promise<Array<Figure>> => Effect.runPromise(Effect.scoped(measured))
