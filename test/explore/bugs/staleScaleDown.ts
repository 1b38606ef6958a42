/** The volume of a live member is deleted, because a stale cache still has the scale-down before it. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Access from "../../../src/kube/Access.ts"
import * as Owner from "../../../src/kube/Owner.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { PersistentVolumeClaim } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import { always } from "../../../src/testing/explore/invariants.ts"
import type { Bug } from "../Bug.ts"

const Ring = Resource.make({
  group: "bugs.example.com",
  version: "v1",
  kind: "Ring",
  plural: "rings",
  subresources: { status: true },
  spec: Schema.Struct({ members: Schema.Int }),
  status: Schema.Struct({ members: Schema.Int })
})

const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }

const controller = (isRepaired: boolean) =>
  Controller.make({
    name: "ring",
    for: Ring,
    owns: [PersistentVolumeClaim],
    access: [
      Access.get(Ring),
      Access.get(PersistentVolumeClaim),
      Access.create(PersistentVolumeClaim),
      Access.remove(PersistentVolumeClaim),
      Access.patch(Ring, "status")
    ],
    reconcileObject: (cached, { client }) =>
      Effect.gen(function* () {
        const { name, namespace = "" } = cached.metadata
        // What destroys data is decided from the object as the server has it.
        const ring = isRepaired ? yield* client.get(Ring, { namespace, name }) : cached
        const { members } = ring.spec
        for (let i = 0; i < members; i++) {
          const metadata = { namespace, name: `${name}-${i}`, ownerReferences: [Owner.reference(Ring, ring)] }
          yield* client
            .create(PersistentVolumeClaim, { metadata, spec })
            .pipe(Effect.catchReason("ApiError", "AlreadyExists", () => Effect.void))
        }
        for (let i = members; i < (ring.status?.members ?? 0); i++) {
          const target = { namespace, name: `${name}-${i}` }
          yield* Effect.gen(function* () {
            const uid = isRepaired ? (yield* client.get(PersistentVolumeClaim, target)).metadata.uid : undefined
            yield* client.delete(PersistentVolumeClaim, target, { preconditions: { uid } })
          }).pipe(Effect.catchReason("ApiError", "NotFound", () => Effect.void))
        }
        if (ring.status?.members === members) return
        const { resourceVersion } = ring.metadata
        const precondition = isRepaired ? { metadata: { resourceVersion } } : {}
        yield* client
          .subresource("status")
          .patch(Ring, { namespace, name }, Patch.merge({ ...precondition, status: { members } }))
      })
  })

export const bug: Bug = {
  title: "a stale read of a scale-down deletes the volume of a live member",
  sources: [
    "https://github.com/elastic/cloud-on-k8s/issues/5274",
    "https://github.com/instaclustr/cassandra-operator/issues/407",
    "https://www.usenix.org/conference/osdi22/presentation/sun"
  ],
  write: "delete persistentvolumeclaims default/a-0",
  explore: (isRepaired) =>
    explore("stale-scale-down", {
      controllers: [controller(isRepaired)],
      scenario: (cluster) =>
        Effect.gen(function* () {
          yield* cluster.apply([
            {
              apiVersion: "bugs.example.com/v1",
              kind: "Ring",
              metadata: { namespace: "default", name: "a" },
              spec: { members: 1 }
            }
          ])
          yield* cluster.advance("1 minute")
          yield* cluster.edit(Ring, { namespace: "default", name: "a" }, { spec: { members: 0 } })
          yield* cluster.advance("1 minute")
          yield* cluster.edit(Ring, { namespace: "default", name: "a" }, { spec: { members: 1 } })
        }),
      invariants: [
        always("a member that counts has its volume", Ring, ({ metadata, spec, status }, { list }) => {
          const volumes = new Set(list(PersistentVolumeClaim).map((one) => one.metadata.name))
          return spec.members === 0 || status?.members !== 1 || volumes.has(`${metadata.name}-0`)
        })
      ]
    })
}
