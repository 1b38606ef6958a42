/**
 * The program is killed with SIGKILL three times while it scales many targets, and started again. No target gets more than the metric asks for,
 * no target loses a replica, and in the end each has its size and the status of each autoscaler says so. Metrics are objects of a custom kind.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { Deployment, HorizontalPodAutoscaler, Pod } from "../../../src/kube/resources.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Process from "../../support/process.ts"
import * as Cluster from "../cluster.ts"

const namespace = "default"
const names = Array.from({ length: 30 }, (_, i) => `a-${i}`)
const longAgo = "2020-01-01T00:00:00Z"
const wanted = 3

const metricsKind = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "pods.metrics.k8s.io", annotations: { "api-approved.kubernetes.io": "unapproved, for a test" } },
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

const running = {
  phase: "Running",
  startTime: longAgo,
  conditions: [{ type: "Ready", status: "True", lastTransitionTime: longAgo }]
}

/** A target of one replica whose pod uses three times its target value. */
const target = (client: Cluster.Client, name: string) =>
  Effect.gen(function* () {
    const labels = { of: name }
    const spec = { containers: [{ name: "main", image: "web:1", resources: { requests: { cpu: "100m" } } }] }
    const template = { metadata: { labels }, spec }
    yield* client.create(Deployment, {
      metadata: { namespace, name },
      spec: { replicas: 1, selector: { matchLabels: labels }, template }
    })
    yield* client.create(Pod, { metadata: { namespace, name, labels }, spec })
    yield* client.patch(Pod, { namespace, name, subresource: "status" }, Patch.merge({ status: running }))
    const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${namespace}/pods`
    const body = {
      apiVersion: "metrics.k8s.io/v1beta1",
      kind: "PodMetrics",
      metadata: { name, labels },
      timestamp: longAgo,
      window: "15s",
      containers: [{ name: "main", usage: { cpu: "150m" } }]
    }
    yield* client.raw({ method: "POST", path, body, context: { verb: "create", path } })
  })

const autoscaler = (name: string) => ({
  metadata: { namespace, name },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
    maxReplicas: 10,
    metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } }]
  }
})

describe("thirty targets whose pods use three times their target value", () => {
  it.live("get three replicas each and no more, although the program is killed while it scales them", () =>
    Effect.gen(function* () {
      const kubeconfig = yield* Cluster.apiserver
      const client = yield* Cluster.clientOf(kubeconfig)
      const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
      yield* client.raw({ method: "POST", path, body: metricsKind, context: { verb: "create", path } })
      yield* Effect.forEach(names, (name) => target(client, name), { concurrency: 8 })
      const sizes = new Map<string, Array<number>>(names.map((name) => [name, []]))
      yield* client.watch(Deployment, { namespace, timeoutSeconds: 300 }).pipe(
        Stream.runForEach(({ object }) =>
          Effect.sync(() => {
            const { metadata, spec } = object as Deployment
            const seen = sizes.get(metadata.name)
            if (seen !== undefined && seen.at(-1) !== spec?.replicas) seen.push(spec?.replicas ?? 0)
          })
        ),
        Effect.forkScoped
      )
      const args = [
        "--kubeconfig",
        kubeconfig,
        "--controllers=horizontalpodautoscaling",
        "--leader-elect=false",
        "--horizontal-pod-autoscaler-sync-period=200ms"
      ]
      const asked = { schedule: Schedule.spaced("20 millis"), times: 3000 }
      const scaled = () => [...sizes.values()].filter((seen) => seen.at(-1) === wanted).length
      const reached = (total: number) =>
        Effect.retry(
          Effect.suspend(() => (scaled() >= total ? Effect.void : Effect.fail("not yet" as const))),
          asked
        )
      for (const [round, total] of [2, 9, 18].entries()) {
        const loop = yield* Process.start(args)
        const some = names.slice(round * 10, round * 10 + 10)
        yield* Effect.forkScoped(
          Effect.forEach(some, (name) => client.create(HorizontalPodAutoscaler, autoscaler(name)))
        )
        yield* reached(total)
        yield* loop.kill("SIGKILL")
        yield* loop.exit
      }
      yield* Process.start(args)
      yield* reached(names.length)
      const isReported = Effect.flatMap(client.list(HorizontalPodAutoscaler, { namespace }), ({ items }) =>
        items.length === names.length &&
        items.every(({ status }) => status?.desiredReplicas === wanted && status.currentReplicas === wanted)
          ? Effect.void
          : Effect.fail("not yet" as const)
      )
      yield* Effect.retry(isReported, asked)
      for (const [name, seen] of sizes) assert.deepStrictEqual(seen, [1, wanted], name)
    }).pipe(Effect.scoped)
  )
})
