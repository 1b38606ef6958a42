/**
 * The requests of the autoscaler controller on a real API server: scales, and metrics that are not served. The server,
 * 1.20, has no autoscaling/v2, so the controller itself cannot run there.
 */
import { assert, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Autoscalers from "../../../src/controllers/HorizontalPodAutoscaler.ts"
import * as Scales from "../../../src/controllers/shared/scale/scales.ts"
import { Deployment, HorizontalPodAutoscaler } from "../../../src/kube/resources.ts"
import { Discovery } from "../../../src/layers/Discovery.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { MetricsApi } from "../../../src/layers/MetricsApi.ts"
import * as envtest from "../../support/envtest.ts"
import * as RealServer from "../../support/realServer.ts"

const isMissing = envtest.isMissing("autoscalers on a real API server")

const cluster = MetricsApi.layer.pipe(Layer.provideMerge(RealServer.services()))

const namespace = "default"
const labels = { app: "web" }
const target = { apiVersion: "apps/v1", kind: "Deployment", name: "web", namespace }
const cpu = { namespace, selector: "app=web", resource: "cpu", container: undefined }

it.live.skipIf(isMissing)("reads and writes scales, and fails as client-go does for metrics that are not served", () =>
  Effect.gen(function* () {
    const client = yield* KubeClient
    const scales = Scales.make(client, yield* Discovery)
    const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "web:1" }] } }
    const spec = { replicas: 2, selector: { matchLabels: labels }, template }
    yield* client.create(Deployment, { metadata: { name: "web", namespace }, spec })
    const scale = yield* scales.get(target)
    assert.deepStrictEqual([scale.spec?.replicas, scale.status?.selector], [2, "app=web"])
    const wanted = { ...scale, spec: { replicas: 5 } }
    yield* scales.update(target, wanted)
    assert.strictEqual((yield* client.get(Deployment, target)).spec?.replicas, 5)
    const conflict = yield* Effect.flip(scales.update(target, wanted))
    assert.strictEqual(conflict._tag === "ApiError" ? conflict.reason._tag : conflict._tag, "Conflict")
    const metrics = yield* MetricsApi
    const why = yield* Effect.flip(metrics.resource(cpu))
    assert.strictEqual(
      why.message,
      "unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)"
    )
    const custom = yield* Effect.flip(metrics.pods({ ...cpu, metric: "qps", metricSelector: "" }))
    assert.include(custom.message, "no known available metric versions found")
    const isServed = yield* (yield* Discovery).serves(HorizontalPodAutoscaler)
    if (!isServed)
      return console.log("skipped on this API server: the loop of autoscalers, because it has no autoscaling/v2")
    yield* Layer.build(Autoscalers.make({ period: Duration.millis(200) }).layer)
    const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" }
    yield* client.create(HorizontalPodAutoscaler, {
      metadata: { name: "web", namespace },
      spec: { scaleTargetRef, maxReplicas: 3 }
    })
    yield* Effect.retry(
      Effect.filterOrFail(client.get(Deployment, target), ({ spec }) => spec?.replicas === 3),
      { schedule: Schedule.spaced("100 millis"), times: 100 }
    )
  }).pipe(Effect.scoped, Effect.provide(cluster))
)
