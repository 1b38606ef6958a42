/** The settings of an owned kind: which references queue an owner, which changes do, and how much of the objects is read. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { OwnerReference } from "../../../src/kube/Meta.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap, Secret } from "../../../src/kube/resources.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Predicate from "../../../src/streams/store/predicate.ts"

const namespace = "default"

const owner = (name: string) =>
  Effect.flatMap(KubeClient, (client) => client.create(ConfigMap, { metadata: { name, namespace } }))

const reference = ({ metadata }: ConfigMap, more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  name: metadata.name,
  uid: metadata.uid ?? "",
  ...more
})

/** A secret with two owners: `a`, its controller, and `b`. */
const shared = Effect.gen(function* () {
  const client = yield* KubeClient
  const ownerReferences = [reference(yield* owner("a"), { controller: true }), reference(yield* owner("b"))]
  return yield* client.create(Secret, { metadata: { name: "shared", namespace, ownerReferences } })
})

/** The keys that a change of the shared secret queues. */
const queuedKeys = <R extends Resource.Any>(
  owned: Controller.Owned<R>,
  change: object = { metadata: { labels: { a: "b" } } }
) =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const client = yield* KubeClient
    yield* shared
    const seen: Array<string> = []
    yield* cluster.run(
      Controller.make({
        name: "owner",
        for: ConfigMap,
        owns: [owned],
        reconcile: ({ name }) => Effect.sync(() => void seen.push(name))
      })
    )
    yield* cluster.settle
    seen.length = 0
    yield* client.patch(Secret, { namespace, name: "shared" }, Patch.merge(change))
    yield* cluster.settle
    return seen.toSorted()
  }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ authorization: "RBAC" })))

describe("owned", () => {
  it.effect("the controlling owner is queued, and with matchEveryOwner every owner", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* queuedKeys(Controller.owned(Secret)), ["a"])
      assert.deepStrictEqual(yield* queuedKeys(Controller.owned(Secret, { matchEveryOwner: false })), ["a"])
      assert.deepStrictEqual(yield* queuedKeys(Controller.owned(Secret, { matchEveryOwner: true })), ["a", "b"])
    })
  )

  it.effect("a predicate selects the changes that queue the owner", () =>
    Effect.gen(function* () {
      const predicate = Predicate.annotationsChanged
      const owned = Controller.owned(Secret, { matchEveryOwner: true, predicate })
      assert.deepStrictEqual(yield* queuedKeys(owned), [])
      assert.deepStrictEqual(yield* queuedKeys(owned, { metadata: { annotations: { a: "b" } } }), ["a", "b"])
    })
  )

  it.effect("an owned kind may be a metadata projection, and then only its metadata is read", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const Secrets = Resource.metadataOnly(Secret)
      const client = yield* KubeClient
      yield* shared
      const seen: Array<string> = []
      const controller = Controller.make({
        name: "owner",
        for: ConfigMap,
        owns: [Secrets, Controller.owned(Secrets, { matchEveryOwner: true })],
        reconcile: ({ key, name }, { cache }) =>
          Effect.map(cache.list(Secrets), (secrets) => {
            seen.push(`${name} ${key} ${secrets.map((secret) => Object.keys(secret).toSorted().join(",")).join(" ")}`)
          })
      })
      yield* cluster.run(controller)
      seen.length = 0
      yield* client.patch(Secret, { namespace, name: "shared" }, Patch.merge({ data: { a: "Yg==" } }))
      yield* cluster.settle
      assert.deepStrictEqual(seen.toSorted(), [
        "a default/a apiVersion,kind,metadata",
        "b default/b apiVersion,kind,metadata"
      ])
      assert.deepStrictEqual(
        controller.reads.map(({ id }) => id),
        ["v1/configmaps", "metadata:v1/secrets"]
      )
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )
})
