/** The harness of the Memcached tests: a cluster with its definition, nodes, and the controllers that it depends on. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Deployments from "../../../src/controllers/Deployment.ts"
import * as GarbageCollector from "../../../src/controllers/GarbageCollector.ts"
import * as Memcacheds from "../../../src/controllers/Memcached.ts"
import * as ReplicaSets from "../../../src/controllers/ReplicaSet.ts"
import { Memcached } from "../../../src/controllers/memcached/kind.ts"
import * as Crd from "../../../src/kube/crd/Crd.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import { Deployment, Event } from "../../../src/kube/resources.ts"
import { ClusterTest, type Options } from "../../../src/testing/ClusterTest.ts"
import type { Descriptor } from "../../../src/layers/Controller.ts"
import type { Discovery } from "../../../src/layers/Discovery.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { withoutValidation } from "../../support/definitions.ts"

export const namespace = "default"

export const image = "example.test/memcached:1"

export const definition = Result.getOrThrow(Crd.make(Memcached))

/** The definition without validation. */
export const loose = withoutValidation(definition)

export const layer = (options: Options = {}) => ClusterTest.layer({ nodes: 3, crds: [definition], ...options })

export const operatorOf = (image: string) => Memcacheds.make({ image })

export const controller = operatorOf(image)

export const object = (name: string, spec: object = { size: 2 }) => ({
  apiVersion: "cache.example.com/v1alpha1",
  kind: "Memcached",
  metadata: { namespace, name },
  spec
})

/** Runs the operator and the controllers that it depends on. */
export const start = (operator: Descriptor<Discovery | KubeClient> = controller) =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    for (const loop of [GarbageCollector.make(), ReplicaSets.make(), Deployments.make()]) yield* cluster.run(loop)
    return yield* cluster.run(operator)
  })

export const get = (name: string) => Effect.flatMap(KubeClient, (client) => client.get(Memcached, { namespace, name }))

export const deployments = Effect.flatMap(ClusterTest, (cluster) => cluster.snapshot(Deployment))

export const edit = (name: string, body: object) =>
  Effect.flatMap(KubeClient, (client) => client.patch(Memcached, { namespace, name }, Patch.merge(body)))

export const editDeployment = (name: string, body: object) =>
  Effect.flatMap(KubeClient, (client) => client.patch(Deployment, { namespace, name }, Patch.merge(body)))

/** `name reason` of the events about Memcacheds, repeated by their counts. */
export const events = Effect.flatMap(ClusterTest, (cluster) =>
  Effect.map(cluster.snapshot(Event), (all) =>
    all
      .filter(({ involvedObject }) => involvedObject.kind === "Memcached")
      .flatMap(({ count = 1, involvedObject, reason }) =>
        Array.from({ length: count }, () => `${involvedObject.name} ${reason}`)
      )
  )
)
