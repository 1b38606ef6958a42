/** resourcequota and disruption: pods come and go, limits change, and a quota and a budget come again under the same name. */
import * as Effect from "effect/Effect"
import * as Disruption from "../../../src/controllers/Disruption.ts"
import * as ResourceQuotas from "../../../src/controllers/ResourceQuota.ts"
import { Pod, PodDisruptionBudget, ResourceQuota } from "../../../src/kube/resources.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import { always } from "../../../src/testing/explore/invariants.ts"
import { kubelet } from "./kubelet.ts"
import { isActive, labels, podSpec, web } from "./manifests.ts"

const pod = (name: string) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { namespace: "default", name, labels },
  spec: podSpec()
})

const quota = (pods: string) => ({
  apiVersion: "v1",
  kind: "ResourceQuota",
  metadata: web,
  spec: { hard: { pods, "count/configmaps": "5" } }
})

export const resourceQuota = explore("resourcequota", {
  controllers: [ResourceQuotas.make()],
  environment: [kubelet],
  scenario: (cluster) =>
    Effect.gen(function* () {
      yield* cluster.apply([quota("3"), pod("a"), pod("b")])
      yield* cluster.advance("40 seconds")
      yield* cluster.delete(Pod, { namespace: "default", name: "a" })
      yield* cluster.edit(ResourceQuota, web, { spec: { hard: { pods: "4" } } })
      yield* cluster.advance("40 seconds")
      yield* cluster.delete(ResourceQuota, web)
      yield* cluster.apply([quota("2"), pod("c")])
    })
})

const budget = {
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: web,
  spec: { minAvailable: 1, selector: { matchLabels: labels } }
}

const evict = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "a", namespace: "default" } } as never

export const disruption = explore("disruption", {
  controllers: [Disruption.make()],
  environment: [kubelet],
  invariants: [
    always(
      "a pod is left",
      PodDisruptionBudget,
      ({ status }, { list }) => (status?.expectedPods ?? 0) < 2 || list(Pod).some(isActive)
    )
  ],
  scenario: (cluster) =>
    Effect.gen(function* () {
      yield* cluster.apply([budget, pod("a"), pod("b")])
      yield* cluster.advance("40 seconds")
      // It is refused where the budget does not know of both pods yet.
      yield* cluster.step(
        "evict a",
        Effect.ignore(cluster.client.create(Pod, evict, { namespace: "default", subresource: "eviction" }))
      )
      yield* cluster.advance("40 seconds")
      yield* cluster.delete(PodDisruptionBudget, web)
      yield* cluster.apply([budget, pod("c")])
    })
})
