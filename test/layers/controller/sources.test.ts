import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import { ConfigMap, Secret } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Cluster from "../../support/cluster.ts"

/** A controller whose only sources are streams. */
const poured = (seen: Array<string>, ...sources: ReadonlyArray<Stream.Stream<string, unknown>>) =>
  Controller.make({ name: "poured", sources, reconcile: ({ key }) => Effect.sync(() => void seen.push(key)) })

describe("raw sources", () => {
  it.effect("the keys of a stream are reconciled for as long as the controller runs", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const keys = yield* Queue.unbounded<string>()
      const { stop } = yield* Cluster.start(poured(seen, Stream.fromQueue(keys), Stream.make("default/once")))
      assert.deepStrictEqual(seen, ["default/once"])
      yield* Queue.offerAll(keys, ["default/a", "cluster-wide"])
      yield* Cluster.settle
      assert.deepStrictEqual(seen, ["default/once", "default/a", "cluster-wide"])
      yield* stop()
      yield* Queue.offer(keys, "default/late")
      yield* Cluster.settle
      assert.strictEqual(yield* Queue.size(keys), 1)
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("a stream that fails is started again with a growing delay, and does not delay others", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      let starts = 0
      const failing = Stream.suspend(() => {
        starts++
        return starts === 4 ? Stream.make("default/at-last") : Stream.fail("no")
      })
      const { stop } = yield* Cluster.start(poured(seen, failing, Stream.make("default/other")))
      assert.deepStrictEqual(seen, ["default/other"])
      const counted: Array<number> = [starts]
      for (let second = 0; second < 7; second++) {
        yield* TestClock.adjust("1 second")
        yield* Cluster.settle
        counted.push(starts)
      }
      assert.deepStrictEqual(counted, [1, 2, 2, 3, 3, 3, 3, 4])
      assert.deepStrictEqual(seen, ["default/other", "default/at-last"])
      yield* stop()
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("watchReferred queues the objects that refer to a changed one, by their index", () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      const create = (name: string, secret: string) =>
        client.create(ConfigMap, { metadata: { name, namespace: "default" }, data: { secret } })
      yield* create("a", "s")
      yield* create("b", "other")
      yield* create("c", "s")
      const seen: Array<string> = []
      const { stop } = yield* Cluster.start(
        Controller.make({
          name: "referring",
          for: ConfigMap,
          watches: [
            Controller.watchReferred(Secret, ConfigMap, {
              index: { name: "secret", of: ({ data, metadata }) => [`${metadata.namespace}/${data?.["secret"]}`] }
            })
          ],
          reconcile: ({ key }) => Effect.sync(() => void seen.push(key))
        })
      )
      seen.length = 0
      yield* client.create(Secret, { metadata: { name: "s", namespace: "default" } })
      yield* Cluster.settle
      assert.deepStrictEqual(seen, ["default/a", "default/c"])
      yield* stop()
    }).pipe(Effect.provide(Cluster.layer))
  )
})
