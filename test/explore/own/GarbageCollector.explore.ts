/** garbagecollector: owners are deleted in the background, in the foreground and with orphans, and one comes again under the same name. */
import * as Effect from "effect/Effect"
import * as GarbageCollector from "../../../src/controllers/GarbageCollector.ts"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import { ConfigMap } from "../../../src/kube/resources.ts"
import type { Cluster } from "../../../src/testing/explore/Exploration.ts"
import { explore } from "../../../src/testing/explore/explore.ts"

const namespace = "default"

const create = (cluster: Cluster, name: string, owners: ReadonlyArray<KubeObject> = []) =>
  cluster.step(
    `create ${name}`,
    cluster.client.create(ConfigMap, {
      metadata: {
        namespace,
        name,
        ownerReferences: owners.map(({ metadata }) => ({
          apiVersion: "v1",
          kind: "ConfigMap",
          name: metadata.name,
          uid: metadata.uid ?? "",
          blockOwnerDeletion: true
        }))
      }
    })
  )

const collector = GarbageCollector.make()

export const inBackground = explore("garbagecollector-background", {
  controllers: [collector],
  scenario: (cluster) =>
    Effect.gen(function* () {
      const [one, two] = [yield* create(cluster, "one"), yield* create(cluster, "two")]
      const both = yield* create(cluster, "of-both", [one, two])
      yield* create(cluster, "of-one", [one])
      yield* create(cluster, "of-of-both", [both])
      yield* cluster.advance("40 seconds")
      yield* cluster.delete(ConfigMap, { namespace, name: "one" }, { propagationPolicy: "Background" })
      // It has the name of the owner, and is not the owner.
      yield* create(cluster, "one")
    })
})

export const inForeground = explore("garbagecollector-foreground", {
  controllers: [collector],
  scenario: (cluster) =>
    Effect.gen(function* () {
      const owner = yield* create(cluster, "owner")
      const dependent = yield* create(cluster, "dependent", [owner])
      yield* create(cluster, "last", [dependent])
      yield* cluster.advance("40 seconds")
      yield* cluster.delete(ConfigMap, { namespace, name: "owner" }, { propagationPolicy: "Foreground" })
    })
})

export const orphans = explore("garbagecollector-orphans", {
  controllers: [collector],
  scenario: (cluster) =>
    Effect.gen(function* () {
      const owner = yield* create(cluster, "owner")
      yield* create(cluster, "dependent", [owner])
      yield* cluster.advance("40 seconds")
      yield* cluster.delete(ConfigMap, { namespace, name: "owner" }, { propagationPolicy: "Orphan" })
    })
})
