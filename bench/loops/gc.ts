/**
 * Fifty Deployments of forty replicas are deleted, and the garbage collector deletes their ReplicaSets and pods: from the first delete to the last pod
 * gone, with the whole program as a process of its own. The lower bound is the same pods deleted by a bare loop.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { ConfigMap, Deployment, Namespace, Pod, ReplicaSet } from "../../src/kube/resources.ts"
import type { KubeObject } from "../../src/kube/Meta.ts"
import type { KubeClient } from "../../src/layers/KubeClient.ts"
import type { Figure } from "../figure.ts"
import * as Stand from "./stand.ts"

const [deployments, replicas] = [50, 40]
const pods = deployments * replicas
const namespace = "load"
/** The figures of kube-controller-manager's loop, and the accepted multiple of them: seconds, and milliseconds of CPU time for each pod. */
const reference = { seconds: 5.8, cpu: 1.1 }
const factor = 1.5

const podSpec = { containers: [{ name: "main", image: "example.test/main:1" }] }

const ownedBy = ({ apiVersion = "", kind = "", metadata: { name, uid = "" } }: KubeObject) => [
  { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }
]

const spec = (name: string) => ({
  replicas,
  selector: { matchLabels: { of: name } },
  template: { metadata: { labels: { of: name } }, spec: podSpec }
})

/** The objects as the loops of Deployments and ReplicaSets leave them. */
const populate = (where: Stand.Server, client: KubeClient["Service"]) =>
  Effect.gen(function* () {
    yield* client.create(Namespace, { metadata: { name: namespace } })
    const names = Array.from({ length: deployments }, (_, index) => `load-${index}`)
    const sets = yield* Effect.forEach(
      names,
      (name) =>
        Effect.gen(function* () {
          const deployment = yield* client.create(Deployment, { metadata: { namespace, name }, spec: spec(name) })
          const ownerReferences = ownedBy({ ...deployment, apiVersion: "apps/v1", kind: "Deployment" })
          const set = yield* client.create(ReplicaSet, {
            metadata: { namespace, name, ownerReferences },
            spec: spec(name)
          })
          return ownedBy({ ...set, apiVersion: "apps/v1", kind: "ReplicaSet" })
        }),
      { concurrency: 8 }
    )
    yield* Effect.promise(() => Stand.plainly(where, pods, (index) => podOf(index, sets[index % deployments])))
    return names
  })

const podOf = (index: number, ownerReferences?: object, place = namespace): Stand.Plain => ({
  method: "POST",
  path: `/api/v1/namespaces/${place}/pods`,
  body: {
    metadata: { name: `pod-${index}`, labels: { of: `load-${index % deployments}` }, ownerReferences },
    spec: podSpec
  }
})

/** An orphan at the start is deleted when the collector has read everything. */
const ready = (client: KubeClient["Service"]) =>
  Effect.gen(function* () {
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "none", uid: "none" }]
    yield* client.create(ConfigMap, { metadata: { namespace: "default", name: "canary", ownerReferences } })
    const isGone = Effect.map(
      client.list(ConfigMap, { namespace: "default" }),
      ({ items }) => !items.some(({ metadata }) => metadata.name === "canary")
    )
    while (!(yield* isGone)) yield* Effect.sleep("100 millis")
  })

const collect = (client: KubeClient["Service"], names: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { metadata } = yield* client.list(Pod, { namespace, limit: 1 })
    let left = pods
    const began = performance.now()
    yield* Effect.all(
      [
        client.watch(Pod, { namespace, resourceVersion: metadata.resourceVersion ?? "", timeoutSeconds: 600 }).pipe(
          Stream.takeUntil(({ type }) => type === "DELETED" && --left === 0),
          Stream.runDrain
        ),
        Effect.forEach(
          names,
          (name) => client.delete(Deployment, { namespace, name }, { propagationPolicy: "Background" }),
          { concurrency: 8, discard: true }
        )
      ],
      { concurrency: "unbounded" }
    )
    return (performance.now() - began) / 1000
  })

const floor = (where: Stand.Server, client: KubeClient["Service"]) =>
  Effect.gen(function* () {
    yield* client.create(Namespace, { metadata: { name: "floor" } })
    yield* Effect.promise(() => Stand.plainly(where, pods, (index) => podOf(index, undefined, "floor")))
    return yield* Effect.promise(() =>
      Stand.plainly(where, pods, (index) => ({ method: "DELETE", path: `/api/v1/namespaces/floor/pods/pod-${index}` }))
    )
  })

const measured = Effect.gen(function* () {
  const where = yield* Stand.server
  const client = yield* Stand.client(where)
  const bare = yield* floor(where, client)
  const names = yield* populate(where, client)
  const running = yield* Stand.controllers(where, ["garbagecollector"])
  yield* ready(client)
  const before = Stand.usageOf(running).cpuMillis
  const seconds = yield* collect(client, names)
  const { cpuMillis, peakMiB } = Stand.usageOf(running)
  const name = `garbage of 50 Deployments × 40 on ${where.what}`
  const cpu = (cpuMillis - before) / pods
  return [
    {
      name: `${name}, ${Stand.load()}`,
      value: seconds,
      unit: "s",
      floor: bare.millis / 1000,
      ratio: (seconds * 1000) / bare.millis,
      bar: `≤ ${(factor * reference.seconds).toFixed(1)} s`,
      ok: seconds <= factor * reference.seconds
    },
    {
      name: `${name}: processor`,
      value: cpu,
      unit: "ms/pod",
      floor: bare.cpuEach,
      ratio: cpu / bare.cpuEach,
      bar: `≤ ${(factor * reference.cpu).toFixed(2)} ms/pod`,
      ok: cpu <= factor * reference.cpu
    },
    { name: `${name}: peak memory`, value: peakMiB, unit: "MiB RSS", bar: "≤ 250 MiB", ok: peakMiB <= 250 }
  ] satisfies Array<Figure>
})

export const run = (): Promise<Array<Figure>> => Effect.runPromise(Effect.scoped(measured))
