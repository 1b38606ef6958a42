/** A controller of a part of a kind: it reconciles and reads only those objects, and waits for its own writes like every other controller. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { TestClock } from "effect/testing"
import * as Access from "../../../src/kube/Access.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { Secret } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Reconcile from "../../../src/streams/reconcile/Reconcile.ts"
import * as Cluster from "../../support/cluster.ts"

const Keys = Resource.selected(Secret, "type=example.com/key")

const create = (name: string, type: string) =>
  Effect.flatMap(KubeClient, (client) =>
    client.create(Secret, { metadata: { name, namespace: "default", annotations: { n: "0" } }, type })
  )

it.effect("a controller of a part of a kind reconciles that part, and waits until its cache has its writes", () =>
  Effect.gen(function* () {
    yield* create("a", "example.com/key")
    yield* create("other", "Opaque")
    const read: Array<string> = []
    const { stop } = yield* Cluster.start(
      Controller.make({
        name: "counter",
        for: Keys,
        access: [Access.patch(Secret)],
        reconcile: ({ key, name, namespace }, { cache, client }) =>
          Effect.gen(function* () {
            const n = Number((yield* cache.get(Keys, key))?.metadata.annotations?.["n"])
            read.push(`${name} ${n}`)
            if (n >= 3) return
            yield* client.patch(
              Secret,
              { name, namespace },
              Patch.merge({ metadata: { annotations: { n: `${n + 1}` } } })
            )
            // The next run is due at once: without the wait it would read the state before the write.
            return Reconcile.after(0)
          })
      })
    )
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual([...new Set(read)], ["a 0", "a 1", "a 2", "a 3"])
    assert.deepStrictEqual(read.slice(0, 4), ["a 0", "a 1", "a 2", "a 3"])
    yield* create("b", "example.com/key")
    yield* Cluster.settle
    assert.include(read, "b 3")
    assert.notInclude(read.join(), "other")
    yield* stop()
  }).pipe(Effect.provide(Cluster.layer))
)

it.effect("the metadata projection of a part has the same selection", () =>
  Effect.sync(() => {
    const metadata = Resource.metadataOnly(Keys)
    assert.strictEqual(metadata.id, "metadata:v1/secrets?type=example.com/key")
    assert.deepStrictEqual(metadata.part, { of: "metadata:v1/secrets", fieldSelector: "type=example.com/key" })
    assert.strictEqual(Resource.path(metadata, { namespace: "a", name: "b" }), "/api/v1/namespaces/a/secrets/b")
  })
)
