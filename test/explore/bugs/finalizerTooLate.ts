/** A finalizer that is added when what it protects exists already. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Access from "../../../src/kube/Access.ts"
import * as ApiError from "../../../src/kube/ApiError.ts"
import * as Finalizers from "../../../src/kube/finalizers.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import { invariant } from "../../../src/testing/explore/invariants.ts"
import type { Bug } from "../Bug.ts"

const Bucket = Resource.make({
  group: "bugs.example.com",
  version: "v1",
  kind: "Bucket",
  plural: "buckets",
  spec: Schema.Struct({})
})

/** The buckets of another system, by the uid of their objects. */
class Storage extends Context.Service<Storage, Set<string>>()("test/explore/Storage") {}

const finalizer = "bugs.example.com/bucket"

const controller = (isRepaired: boolean) =>
  Controller.make({
    name: "bucket",
    for: Bucket,
    access: [Access.get(Bucket), Access.patch(Bucket)],
    reconcileObject: (bucket, { client }) =>
      Effect.gen(function* () {
        const storage = yield* Storage
        const { name, namespace, resourceVersion, uid = "" } = bucket.metadata
        const write = (finalizers: ReadonlyArray<string>) =>
          client.patch(Bucket, { namespace, name }, Patch.merge({ metadata: { resourceVersion, finalizers } }))
        if (Finalizers.isDeleting(bucket)) {
          if (!Finalizers.has(bucket, finalizer)) return
          storage.delete(uid)
          yield* write(Finalizers.remove(Finalizers.of(bucket), finalizer))
          return
        }
        // A cache that is behind may still have an object that is gone, or has been created again with that name.
        const current = yield* ApiError.unlessGone(client.get(Bucket, { namespace, name }))
        if (current?.metadata.uid !== uid || Finalizers.isDeleting(current)) return
        if (!isRepaired) storage.add(uid)
        if (!Finalizers.has(bucket, finalizer)) yield* write(Finalizers.add(Finalizers.of(bucket), finalizer))
        if (isRepaired) storage.add(uid)
      })
  })

export const bug: Bug = {
  title: "a bucket is left behind when its object is deleted before the finalizer is added",
  sources: [
    "https://github.com/kubernetes-sigs/cluster-api-provider-aws/issues/1454",
    "https://github.com/outscale/cluster-api-provider-outscale/issues/917",
    "https://github.com/crossplane/crossplane-runtime/issues/63"
  ],
  write: "patch buckets.bugs.example.com",
  explore: (isRepaired) => {
    let storage = new Set<string>()
    return explore("finalizer-too-late", {
      controllers: [controller(isRepaired)],
      services: Layer.sync(Storage, () => (storage = new Set())),
      invariants: [
        invariant("no bucket without its object", ({ list }) => {
          const uids = new Set(list(Bucket).map(({ metadata }) => metadata.uid))
          return [...storage].some((uid) => !uids.has(uid)) ? "the object is gone, and its bucket is not" : undefined
        })
      ],
      scenario: (cluster) =>
        Effect.gen(function* () {
          yield* cluster.apply("{ apiVersion: bugs.example.com/v1, kind: Bucket, metadata: { name: a }, spec: {} }")
          yield* cluster.advance("1 minute")
          yield* cluster.delete(Bucket, { namespace: "default", name: "a" })
        })
    })
  }
}
