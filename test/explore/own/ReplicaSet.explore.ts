/** replicaset: a set grows and shrinks, adopts a pod and releases it, and comes again under the same name. */
import * as Effect from "effect/Effect"
import * as ReplicaSets from "../../../src/controllers/ReplicaSet.ts"
import { Pod, ReplicaSet } from "../../../src/kube/resources.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import { neverMoreThan } from "../../../src/testing/explore/invariants.ts"
import { kubelet } from "./kubelet.ts"
import { isActive, labels, podSpec, template, web } from "./manifests.ts"
import { apart, seesDeletionLate } from "./stale.ts"

const set = (replicas: number) => ({
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  metadata: web,
  spec: { replicas, selector: { matchLabels: labels }, template: template() }
})

const controllers = [ReplicaSets.make()]

const environment = [kubelet]

export const [replicaSet, replicaSetStale] = apart("replicaset", {
  controllers,
  environment,
  invariants: [neverMoreThan(2, Pod, isActive)],
  scenario: (cluster) =>
    Effect.gen(function* () {
      yield* cluster.apply([set(1)])
      yield* cluster.advance("40 seconds")
      yield* cluster.edit(ReplicaSet, web, { spec: { replicas: 2 } })
      yield* cluster.advance("40 seconds")
      yield* cluster.edit(ReplicaSet, web, { spec: { replicas: 1 } })
    })
})

const lone = { namespace: "default", name: "lone" }

export const replicaSetAdopts = explore("replicaset-adopts", {
  controllers,
  environment,
  scenario: (cluster) =>
    Effect.gen(function* () {
      yield* cluster.apply([{ apiVersion: "v1", kind: "Pod", metadata: { ...lone, labels }, spec: podSpec() }])
      yield* cluster.advance("40 seconds")
      yield* cluster.apply([set(1)])
      yield* cluster.advance("40 seconds")
      yield* cluster.edit(Pod, lone, { metadata: { labels: { app: "other" } } })
    })
})

export const replicaSetAgain = explore("replicaset-again", {
  controllers,
  environment,
  without: seesDeletionLate("pkg/controller/replicaset: syncReplicaSet"),
  scenario: (cluster) =>
    Effect.gen(function* () {
      yield* cluster.apply([set(2)])
      yield* cluster.advance("40 seconds")
      yield* cluster.delete(ReplicaSet, web)
      yield* cluster.apply([set(1)])
    })
})
