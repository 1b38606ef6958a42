/** A child that belongs to an owner that is gone is taken for a child of the owner that was created again, and then garbage collected. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Access from "../../../src/kube/Access.ts"
import * as Key from "../../../src/kube/Key.ts"
import * as Owner from "../../../src/kube/Owner.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import { always } from "../../../src/testing/explore/invariants.ts"
import type { Bug } from "../Bug.ts"

const Site = Resource.make({
  group: "bugs.example.com",
  version: "v1",
  kind: "Site",
  plural: "sites",
  subresources: { status: true },
  spec: Schema.Struct({}),
  status: Schema.Struct({ isReady: Schema.Boolean })
})

const controller = (isRepaired: boolean) =>
  Controller.make({
    name: "site",
    for: Site,
    owns: [ConfigMap],
    access: [Access.get(Site), Access.create(ConfigMap), Access.get(ConfigMap), Access.patch(Site, "status")],
    reconcileObject: (site, { cache, client }) =>
      Effect.gen(function* () {
        const { name, namespace = "", uid } = site.metadata
        const cached = yield* cache.get(ConfigMap, Key.make(namespace, name))
        const isThere = cached !== undefined && (!isRepaired || Owner.controlledBy(cached, uid))
        if (site.status?.isReady === true && isThere) return
        // A child of an owner that is gone would be collected, and created again until the cache has caught up.
        if (isRepaired && (yield* client.get(Site, { namespace, name })).metadata.uid !== uid) return
        const metadata = { namespace, name, ownerReferences: [Owner.reference(Site, site)] }
        const child = yield* client
          .create(ConfigMap, { metadata })
          .pipe(Effect.catchReason("ApiError", "AlreadyExists", () => client.get(ConfigMap, { namespace, name })))
        // A child of another owner with this name is deleted soon: it is created again then.
        if (isRepaired && !Owner.controlledBy(child, uid)) return yield* Effect.fail("the child has another owner")
        yield* client
          .subresource("status")
          .patch(
            Site,
            { namespace, name },
            Patch.merge({ ...(isRepaired ? { metadata: { uid } } : {}), status: { isReady: true } })
          )
      }).pipe(Effect.catchReason("ApiError", "NotFound", () => Effect.void))
  })

const site = {
  apiVersion: "bugs.example.com/v1",
  kind: "Site",
  metadata: { namespace: "default", name: "a" },
  spec: {}
}

export const bug: Bug = {
  title: "a child of an owner that is gone makes the owner that was created again ready",
  sources: ["https://github.com/knative/serving/issues/7556", "https://github.com/ai-dynamo/grove/pull/802"],
  write: "patch sites.bugs.example.com/status default/a",
  explore: (isRepaired) =>
    explore("owner-created-again", {
      controllers: [controller(isRepaired)],
      scenario: (cluster) =>
        Effect.gen(function* () {
          yield* cluster.apply([site])
          yield* cluster.advance("5 seconds")
          yield* cluster.delete(Site, { namespace: "default", name: "a" })
          yield* cluster.advance("1 second")
          yield* cluster.apply([site])
        }),
      invariants: [
        always("a ready site has a child of its own", Site, ({ metadata, status }, { list }) => {
          const isOwn = (one: ConfigMap) => Owner.controlledBy(one, metadata.uid)
          return status?.isReady !== true || metadata.deletionTimestamp !== undefined || list(ConfigMap).some(isOwn)
        })
      ]
    })
}
