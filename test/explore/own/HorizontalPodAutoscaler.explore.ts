/** horizontalpodautoscaling: a target is scaled up, the limits change, and an autoscaler comes again under the same name. */
import assert from "node:assert/strict"
import * as Effect from "effect/Effect"
import * as Autoscalers from "../../../src/controllers/HorizontalPodAutoscaler.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import { Deployment, HorizontalPodAutoscaler } from "../../../src/kube/resources.ts"
import { MetricsApi } from "../../../src/layers/MetricsApi.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import { always } from "../../../src/testing/explore/invariants.ts"
import { labels, template, web } from "./manifests.ts"

const target = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: web,
  spec: { replicas: 1, selector: { matchLabels: labels }, template: template() }
}

const autoscaler = (maxReplicas: number) => ({
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: web,
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    maxReplicas,
    metrics: [
      {
        type: "External",
        external: { metric: { name: "depth" }, target: { type: "AverageValue", averageValue: "10" } }
      }
    ]
  }
})

export const horizontalPodAutoscaler = explore("horizontalpodautoscaling", {
  controllers: [Autoscalers.make()],
  services: MetricsApi.layerMemory({ external: () => [{ value: "50" }] }),
  // The loop never rests, so a failure of its last call may be in its status still: what counts is the size.
  converged: ({ client }) =>
    Effect.gen(function* () {
      const { spec } = yield* client.get(Deployment, web)
      const { status } = yield* client.get(HorizontalPodAutoscaler, web)
      assert.equal(spec?.replicas, 2, `there are ${spec?.replicas} replicas`)
      assert.equal(status?.desiredReplicas, 2, `${status?.desiredReplicas} replicas are desired`)
    }),
  // Without the autoscaler or its target nothing has that size.
  without: { delete: "what converges is the size of the target, which is gone" },
  invariants: [always("at most four replicas", Deployment, ({ spec }) => (spec?.replicas ?? 0) <= 4)],
  scenario: (cluster) =>
    Effect.gen(function* () {
      const status = Patch.merge({ status: { replicas: 1 } })
      yield* cluster.apply([target, autoscaler(3)])
      yield* cluster.step(
        "one replica runs",
        cluster.client.patch(Deployment, { ...web, subresource: "status" }, status)
      )
      yield* cluster.advance("40 seconds")
      yield* cluster.edit(HorizontalPodAutoscaler, web, { spec: { maxReplicas: 4 } })
      yield* cluster.advance("40 seconds")
      yield* cluster.delete(HorizontalPodAutoscaler, web)
      yield* cluster.edit(Deployment, web, { spec: { replicas: 1 } })
      yield* cluster.apply([autoscaler(2)])
    })
})
