/** Scenarios of autoscalers: the scaled object and the metrics APIs. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Autoscalers from "../../src/controllers/HorizontalPodAutoscaler.ts"
import { Deployment, HorizontalPodAutoscaler } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { definitionOf } from "../support/definitions.ts"
import * as Scenario from "./scenario.ts"

const namespace = "default"
const metadata = { namespace, name: "web" }
const labels = { app: "web" }
const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "example.test/web:1" }] } }

/** A custom kind in place of a metrics API: its objects are the values. */
const served = (group: string, version: string, plural: string) =>
  definitionOf({ group, version, plural, kind: `Measured${plural}` })

const crds = [
  served("metrics.k8s.io", "v1beta1", "pods"),
  served("custom.metrics.k8s.io", "v1beta2", "pods"),
  served("external.metrics.k8s.io", "v1beta1", "depth")
]

const averageValue = { type: "AverageValue", averageValue: "10" }

const autoscaler = {
  metadata,
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    maxReplicas: 10,
    metrics: [
      { type: "Resource", resource: { name: "cpu", target: averageValue } },
      { type: "Pods", pods: { metric: { name: "qps" }, target: averageValue } },
      { type: "External", external: { metric: { name: "depth" }, target: averageValue } }
    ]
  }
}

export const scenarios: ReadonlyArray<Scenario.Scenario> = Scenario.makeIn(
  namespace,
  "a Deployment is scaled by one metric while two others have no values",
  { crds, cache: { streamingList: "never" } },
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const client = yield* KubeClient
    const spec = { replicas: 1, selector: { matchLabels: labels }, template }
    yield* client.create(Deployment, { metadata, spec })
    yield* client.create(HorizontalPodAutoscaler, autoscaler)
    const depth = { apiVersion: "external.metrics.k8s.io/v1beta1", kind: "Measureddepth", metadata, value: "30" }
    yield* cluster.apply([depth])
    yield* cluster.run(Autoscalers.withServedMetrics(Autoscalers.make()))
    // The first status write conflicts with another client's.
    const match = { verb: "update", resource: "horizontalpodautoscalers.autoscaling/status" } as const
    yield* (yield* ApiServer).setFaults([{ match, fault: { _tag: "Conflict" }, times: 1 }])
    yield* cluster.advance("1 minute")
    assert.strictEqual((yield* client.get(Deployment, metadata)).spec?.replicas, 3)
    assert.strictEqual((yield* client.get(HorizontalPodAutoscaler, metadata)).status?.desiredReplicas, 3)
    yield* Scenario.assertCountedEvent()
  })
)
