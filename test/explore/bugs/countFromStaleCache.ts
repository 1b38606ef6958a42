/** Members are counted in a cache that lags behind, and more are created than are wanted. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Access from "../../../src/kube/Access.ts"
import * as Owner from "../../../src/kube/Owner.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import { neverMoreThan } from "../../../src/testing/explore/invariants.ts"
import type { Bug } from "../Bug.ts"

const Pool = Resource.make({
  group: "bugs.example.com",
  version: "v1",
  kind: "Pool",
  plural: "pools",
  spec: Schema.Struct({ size: Schema.Int })
})

const controller = (isRepaired: boolean) =>
  Controller.make({
    name: "pool",
    for: Pool,
    owns: [ConfigMap],
    access: [Access.create(ConfigMap), Access.remove(ConfigMap)],
    reconcileObject: (pool, { cache, client }) =>
      Effect.gen(function* () {
        const { name, namespace = "", uid } = pool.metadata
        const members = (yield* cache.list(ConfigMap, { namespace })).filter((one) => Owner.controlledBy(one, uid))
        for (let i = isRepaired ? 0 : members.length; i < pool.spec.size; i++) {
          // The number of a member is part of its name, so that none can exist twice.
          const named = isRepaired ? { name: `${name}-${i}` } : { generateName: `${name}-` }
          if (members.some(({ metadata }) => metadata.name === named.name)) continue
          yield* client
            .create(ConfigMap, {
              metadata: {
                namespace,
                ...named,
                labels: { member: "true" },
                ownerReferences: [Owner.reference(Pool, pool)]
              }
            })
            .pipe(Effect.catchReason("ApiError", "AlreadyExists", () => Effect.void))
        }
        for (const { metadata } of isRepaired ? [] : members.slice(pool.spec.size)) {
          yield* client.delete(ConfigMap, metadata).pipe(Effect.catchReason("ApiError", "NotFound", () => Effect.void))
        }
      })
  })

export const bug: Bug = {
  title: "members that a stale cache does not have are created once more",
  sources: [
    "https://github.com/ray-project/kuberay/issues/715",
    "https://github.com/kubernetes-sigs/cluster-api/issues/13649",
    "https://github.com/kubernetes-sigs/kubebuilder/issues/1381"
  ],
  write: "create configmaps",
  explore: (isRepaired) =>
    explore("count-from-stale-cache", {
      controllers: [controller(isRepaired)],
      scenario: (cluster) =>
        cluster.apply([
          {
            apiVersion: "bugs.example.com/v1",
            kind: "Pool",
            metadata: { namespace: "default", name: "a" },
            spec: { size: 2 }
          }
        ]),
      invariants: [neverMoreThan(2, ConfigMap, ({ metadata }) => metadata.labels?.["member"] !== undefined)]
    })
}
