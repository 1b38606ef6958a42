/**
 * A thousand autoscalers whose pods use twice their target value: from the first create until every target has twice its size and every status says so.
 * Metrics are objects of a custom kind, which the server serves as a metrics server would. A sync comes two seconds after the creation of an
 * autoscaler, in place of fifteen. The lower bound is the same number of sizes and statuses written by a bare loop.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Deployment, HorizontalPodAutoscaler, Namespace } from "../../src/kube/resources.ts"
import type { KubeClient } from "../../src/layers/KubeClient.ts"
import type { Figure } from "../figure.ts"
import * as Stand from "./stand.ts"

const count = 1000
const each = 2
/** Autoscalers in one namespace, a realistic number. */
const perNamespace = 100

const namespaceOf = (index: number) => `load-${Math.floor(index / perNamespace)}`
const nameOf = (index: number) => `a-${index}`

type Client = KubeClient["Service"]

const metricsKind = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: {
    name: "pods.metrics.k8s.io",
    annotations: { "api-approved.kubernetes.io": "unapproved, for a benchmark" }
  },
  spec: {
    group: "metrics.k8s.io",
    scope: "Namespaced",
    names: { kind: "PodMetrics", plural: "pods" },
    versions: [
      {
        name: "v1beta1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } }
      }
    ]
  }
}

const template = (index: number) => ({
  metadata: { labels: { of: nameOf(index) } },
  spec: { containers: [{ name: "main", image: "example.test/main:1", resources: { requests: { cpu: "1" } } }] }
})

const longAgo = "2020-01-01T00:00:00Z"
const status = {
  phase: "Running",
  startTime: longAgo,
  conditions: [{ type: "Ready", status: "True", lastTransitionTime: longAgo }]
}

/** Targets with two pods each, and the metrics of these pods. */
const populate = (where: Stand.Server) =>
  Effect.promise(async () => {
    const pods = count * each
    const [targetOf, podOf] = [(index: number) => index % count, (index: number) => `p-${index}`]
    const at = (index: number, group: string, plural: string) =>
      `/${group}/namespaces/${namespaceOf(targetOf(index))}/${plural}`
    await Stand.plainly(where, count, (index) => ({
      method: "POST",
      path: at(index, "apis/apps/v1", "deployments"),
      body: {
        metadata: { name: nameOf(index) },
        spec: {
          replicas: each,
          selector: { matchLabels: { of: nameOf(index) } },
          template: template(index)
        }
      }
    }))
    await Stand.plainly(where, pods, (index) => ({
      method: "POST",
      path: at(index, "api/v1", "pods"),
      body: { ...template(targetOf(index)), metadata: { name: podOf(index), labels: { of: nameOf(targetOf(index)) } } }
    }))
    await Stand.plainly(where, pods, (index) => ({
      method: "PATCH",
      path: `${at(index, "api/v1", "pods")}/${podOf(index)}/status`,
      body: { status }
    }))
    await Stand.plainly(where, pods, (index) => ({
      method: "POST",
      path: at(index, "apis/metrics.k8s.io/v1beta1", "pods"),
      body: {
        apiVersion: "metrics.k8s.io/v1beta1",
        kind: "PodMetrics",
        metadata: { name: podOf(index), labels: { of: nameOf(targetOf(index)) } },
        timestamp: longAgo,
        window: "15s",
        containers: [{ name: "main", usage: { cpu: "1" } }]
      }
    }))
  })

const create = (client: Client, index: number) =>
  client.create(HorizontalPodAutoscaler, {
    metadata: { namespace: namespaceOf(index), name: nameOf(index) },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: nameOf(index) },
      maxReplicas: 10,
      metrics: [
        { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } }
      ]
    }
  })

/** Waits until this many say that their target has twice its size. */
const complete = (client: Client, expected: number) => {
  const done = new Set<string>()
  return client.watch(HorizontalPodAutoscaler, { timeoutSeconds: 900 }).pipe(
    Stream.takeUntil(({ object }) => {
      const { metadata, status } = object as HorizontalPodAutoscaler
      if (status?.desiredReplicas === 2 * each) done.add(metadata.name)
      return done.size === expected
    }),
    Stream.runDrain
  )
}

const floor = (where: Stand.Server) =>
  Effect.promise(() =>
    Stand.plainly(where, 2 * count, (index) => {
      const path = `/apis/apps/v1/namespaces/${namespaceOf(index % count)}/deployments/${nameOf(index % count)}`
      return index < count
        ? { method: "PATCH", path: `${path}/scale`, body: { spec: { replicas: each } } }
        : { method: "PATCH", path: `${path}/status`, body: { status: { replicas: each } } }
    })
  )

const measured = Effect.gen(function* () {
  const where = yield* Stand.embedded
  const client = yield* Stand.client(where)
  yield* Effect.promise(() =>
    Stand.plainly(where, 1, () => ({
      method: "POST",
      path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
      body: metricsKind
    }))
  )
  const namespaces = new Set(Array.from({ length: count }, (_, index) => namespaceOf(index)))
  yield* Effect.forEach(namespaces, (name) => client.create(Namespace, { metadata: { name } }))
  yield* populate(where)
  const bare = yield* floor(where)
  const running = yield* Stand.controllers(
    where,
    ["horizontalpodautoscaling"],
    ["--horizontal-pod-autoscaler-sync-period=2s"]
  )
  // When the first is done, the caches have synced.
  yield* Effect.all([complete(client, 1), create(client, 0)], { concurrency: "unbounded" })
  const before = Stand.usageOf(running).cpuMillis
  const began = performance.now()
  yield* Effect.all(
    [
      complete(client, count),
      Effect.forEach(
        Array.from({ length: count - 1 }, (_, index) => index + 1),
        (index) => create(client, index),
        { concurrency: 8, discard: true }
      )
    ],
    { concurrency: "unbounded" }
  )
  const seconds = (performance.now() - began) / 1000
  const { cpuMillis, peakMiB } = Stand.usageOf(running)
  const { items } = yield* client.list(Deployment)
  const wrong = items.filter(({ spec }) => spec?.replicas !== 2 * each)
  if (wrong.length > 0) return yield* Effect.die(new Error(`${wrong.length} targets have another size`))
  return Stand.figures(`1,000 autoscalers × 2 pods to twice the size on ${where.what}`, {
    seconds,
    floorSeconds: bare.millis / 1000,
    cpu: (cpuMillis - before) / count,
    floorCpu: bare.cpuEach,
    per: "autoscaler",
    peakMiB
  })
})

export const run = (): Promise<Array<Figure>> => Effect.runPromise(Effect.scoped(measured))
