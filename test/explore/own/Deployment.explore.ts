/** deployment: a rollout that is scaled while it lasts, and a Deployment that comes again under the same name and is paused. */
import * as Effect from "effect/Effect"
import * as Deployments from "../../../src/controllers/Deployment.ts"
import * as ReplicaSets from "../../../src/controllers/ReplicaSet.ts"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import { Deployment, Pod, ReplicaSet } from "../../../src/kube/resources.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import { always, invariant } from "../../../src/testing/explore/invariants.ts"
import { kubelet } from "./kubelet.ts"
import { isActive, labels, template, web } from "./manifests.ts"
import { apart, seesDeletionLate } from "./stale.ts"

const deployment = (replicas: number) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: web,
  spec: {
    replicas,
    revisionHistoryLimit: 1,
    strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    selector: { matchLabels: labels },
    template: template()
  }
})

/** A user sets it as soon as all pods are ready. */
const stable = "example.com/stable"

const isReady = (pod: Pod): boolean =>
  isActive(pod) && pod.status?.conditions?.some(({ status, type }) => type === "Ready" && status === "True") === true

const bounds = [
  always(
    "one pod is ready",
    Deployment,
    ({ metadata }, { list }) => metadata.annotations?.[stable] === undefined || list(Pod).some(isReady)
  ),
  invariant("never more than three replicas", ({ list }) => {
    const sizes = list(ReplicaSet).map(({ spec }) => spec?.replicas ?? 0)
    return sizes.reduce((a, b) => a + b, 0) > 3 ? `the ReplicaSets have ${sizes.join(" and ")}` : undefined
  })
]

/**
 * A condition that changes becomes the last one, and a ReplicaSet has the annotations of the last time that it was scaled. Source:
 * pkg/controller/deployment/util: SetDeploymentCondition, SetReplicasAnnotations.
 */
const comparable = (object: KubeObject): KubeObject => {
  if (object.kind === "Deployment") {
    const { status } = object as Deployment
    const conditions = status?.conditions?.toSorted((a, b) => (a.type < b.type ? -1 : 1))
    return { ...object, status: { ...status, conditions } } as KubeObject
  }
  if (object.kind !== "ReplicaSet" || (object as ReplicaSet).spec?.replicas !== 0) return object
  const {
    [`${prefix}desired-replicas`]: _,
    [`${prefix}max-replicas`]: __,
    ...annotations
  } = object.metadata.annotations ?? {}
  return { ...object, metadata: { ...object.metadata, annotations } }
}

const prefix = "deployment.kubernetes.io/"

const common = {
  comparable,
  controllers: [Deployments.make()],
  environment: [ReplicaSets.make(), kubelet],
  invariants: bounds
}

// What a user deletes, the Deployment cannot keep ready.
export const [deploymentRollout, deploymentRolloutDeleted] = apart(
  "deployment-rollout",
  {
    ...common,
    scenario: (cluster) =>
      Effect.gen(function* () {
        yield* cluster.apply([deployment(1)])
        yield* cluster.advance("40 seconds")
        yield* cluster.edit(Deployment, web, {
          metadata: { annotations: { [stable]: "" } },
          spec: { template: template(2) }
        })
        yield* cluster.advance("1500 millis")
        // A user may have deleted it.
        yield* Effect.ignore(cluster.edit(Deployment, web, { spec: { replicas: 2 } }))
      })
  },
  ["delete"]
)

export const deploymentAgain = explore("deployment-again", {
  ...common,
  without: seesDeletionLate("pkg/controller/deployment: syncDeployment"),
  scenario: (cluster) =>
    Effect.gen(function* () {
      yield* cluster.apply([deployment(1)])
      yield* cluster.advance("40 seconds")
      yield* cluster.delete(Deployment, web)
      // The next one gets another hash as long as there is the ReplicaSet of this one.
      yield* cluster.advance("40 seconds")
      yield* cluster.apply([deployment(2)])
      yield* cluster.advance("40 seconds")
      yield* cluster.edit(Deployment, web, { spec: { paused: true, template: template(2) } })
    })
})
