/** A finalizer that is removed before the cleanup that it is there for. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Access from "../../../src/kube/Access.ts"
import * as ApiError from "../../../src/kube/ApiError.ts"
import * as Finalizers from "../../../src/kube/finalizers.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import type { Bug } from "../Bug.ts"

const Tenant = Resource.make({
  group: "bugs.example.com",
  version: "v1",
  kind: "Tenant",
  plural: "tenants",
  spec: Schema.Struct({})
})

const finalizer = "bugs.example.com/quota"

const controller = (isRepaired: boolean) =>
  Controller.make({
    name: "tenant",
    for: Tenant,
    access: [
      Access.read(ConfigMap),
      Access.create(ConfigMap),
      Access.remove(ConfigMap),
      Access.get(Tenant),
      Access.patch(Tenant)
    ],
    reconcileObject: (tenant, { cache, client }) =>
      Effect.gen(function* () {
        const { name, namespace, resourceVersion, uid = "" } = tenant.metadata
        // An object of another namespace cannot be owned, so the garbage collector does not delete it.
        const quota = { namespace: "kube-system", name: `quota-${name}` }
        const write = (finalizers: ReadonlyArray<string>) =>
          client.patch(Tenant, { namespace, name }, Patch.merge({ metadata: { resourceVersion, finalizers } }))
        const cleanup = ApiError.unlessGone(client.delete(ConfigMap, quota))
        if (Finalizers.isDeleting(tenant)) {
          if (!Finalizers.has(tenant, finalizer)) return
          const release = write(Finalizers.remove(Finalizers.of(tenant), finalizer))
          yield* isRepaired ? Effect.andThen(cleanup, release) : Effect.andThen(release, cleanup)
        } else {
          if (!Finalizers.has(tenant, finalizer)) yield* write(Finalizers.add(Finalizers.of(tenant), finalizer))
          if ((yield* cache.get(ConfigMap, `kube-system/quota-${name}`)) !== undefined) return
          // A cache that is behind may still have a tenant that is gone, and then no finalizer would delete the quota.
          const current = yield* ApiError.unlessGone(client.get(Tenant, { namespace, name }))
          if (current?.metadata.uid !== uid || Finalizers.isDeleting(current)) return
          yield* client.create(ConfigMap, { metadata: quota })
        }
      })
  })

export const bug: Bug = {
  title: "an object of another namespace is left behind when its finalizer is removed before the cleanup",
  sources: ["https://github.com/pingcap/tidb-operator/issues/6532"],
  write: "patch tenants.bugs.example.com",
  explore: (isRepaired) =>
    explore("finalizer-removed-first", {
      controllers: [controller(isRepaired)],
      scenario: (cluster) =>
        Effect.gen(function* () {
          yield* cluster.apply("{ apiVersion: bugs.example.com/v1, kind: Tenant, metadata: { name: a }, spec: {} }")
          yield* cluster.advance("1 minute")
          yield* cluster.delete(Tenant, { namespace: "default", name: "a" })
        })
    })
}
