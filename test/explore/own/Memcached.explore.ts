/** memcached: its size changes, a user changes the Deployment and another has its name, and a Memcached comes again under the same name. */
import * as Effect from "effect/Effect"
import { Memcached, make } from "../../../src/controllers/Memcached.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import { Deployment } from "../../../src/kube/resources.ts"
import type { Cluster } from "../../../src/testing/explore/Exploration.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import { always } from "../../../src/testing/explore/invariants.ts"

const name = { namespace: "default", name: "sessions" }

const memcached = (size: number) => ({
  apiVersion: "cache.example.com/v1alpha1",
  kind: "Memcached",
  metadata: name,
  spec: { size }
})

/** What the deployment controller writes when all pods of the present generation are available. */
const rolledOut = ({ client, step }: Cluster) =>
  step(
    "rolled out",
    Effect.gen(function* () {
      const { metadata, spec } = yield* client.get(Deployment, name)
      const replicas = spec?.replicas
      const status = { observedGeneration: metadata.generation, replicas, updatedReplicas: replicas }
      const available = { readyReplicas: replicas, availableReplicas: replicas }
      const change = Patch.merge({ status: { ...status, ...available } })
      yield* client.patch(Deployment, { ...name, subresource: "status" }, change)
    })
  )

export const memcachedSize = explore("memcached", {
  controllers: [make()],
  invariants: [
    always("a Deployment has an owner", Deployment, ({ metadata }) => metadata.ownerReferences?.length === 1)
  ],
  scenario: (cluster) =>
    Effect.gen(function* () {
      yield* cluster.apply([memcached(1)])
      yield* cluster.advance("40 seconds")
      yield* rolledOut(cluster)
      yield* cluster.edit(Memcached, name, { spec: { size: 2 } })
      yield* cluster.advance("40 seconds")
      yield* cluster.edit(Deployment, name, { spec: { replicas: 3 } })
      yield* cluster.advance("40 seconds")
      yield* rolledOut(cluster)
    })
})

export const memcachedAgain = explore("memcached-again", {
  controllers: [make()],
  scenario: (cluster) =>
    Effect.gen(function* () {
      yield* cluster.apply([memcached(1)])
      yield* cluster.advance("40 seconds")
      yield* cluster.delete(Memcached, name)
      yield* cluster.advance("40 seconds")
      yield* cluster.apply([memcached(2)])
      yield* cluster.advance("40 seconds")
      yield* cluster.delete(Memcached, name, { propagationPolicy: "Foreground" })
      yield* cluster.advance("40 seconds")
      yield* cluster.apply([memcached(1)])
    })
})

const taken = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: name,
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: "other" } },
    template: { metadata: { labels: { app: "other" } }, spec: { containers: [{ name: "main", image: "other:1" }] } }
  }
}

export const memcachedNameTaken = explore("memcached-name-taken", {
  controllers: [make()],
  scenario: (cluster) =>
    Effect.gen(function* () {
      yield* cluster.apply([taken, memcached(1)])
      yield* cluster.advance("40 seconds")
      yield* cluster.delete(Deployment, name)
      yield* cluster.advance("40 seconds")
      yield* cluster.delete(Memcached, name)
      yield* cluster.apply([memcached(2)])
    })
})
