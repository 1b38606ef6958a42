/** A controller at a resync: it reconciles all objects, after those that have changed, and none if its predicate accepts changes only. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Patch from "../../../src/kube/Patch.ts"
import { ConfigMap } from "../../../src/kube/resources.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Predicate from "../../../src/streams/store/predicate.ts"

const names = ["a", "b", "c", "d", "e"]

const objects = names.map((name) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" } }))

const layer = ClusterTest.layer({ objects, cache: { resync: { period: "1 hour", spread: "around" } } })

/** Every run takes a second. */
const recording = (runs: Array<string>, predicate?: Predicate.Predicate<ConfigMap>) =>
  Controller.make({
    name: "recording",
    for: ConfigMap,
    predicate,
    reconcile: ({ name, namespace }) =>
      namespace === "default" && names.includes(name)
        ? Effect.andThen(
            Effect.sync(() => void runs.push(name)),
            Effect.sleep("1 second")
          )
        : Effect.void
  })

describe("a controller at a resync", () => {
  it.effect("reconciles all objects again, and first those that have changed meanwhile", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const runs: Array<string> = []
      yield* cluster.run(recording(runs))
      yield* cluster.advance("1 minute")
      assert.sameMembers(runs, names)
      runs.length = 0
      yield* cluster.advance("53 minutes")
      yield* cluster.eventually(
        Effect.sync(() => assert.strictEqual(runs.length, 1)),
        { within: "14 minutes", every: "500 millis" }
      )
      const last = names.findLast((name) => name !== runs[0]) ?? ""
      const client = yield* KubeClient
      yield* client.patch(ConfigMap, { namespace: "default", name: last }, Patch.merge({ data: { x: "y" } }))
      yield* cluster.advance("1 minute")
      assert.strictEqual(runs[1], last)
      assert.sameMembers(runs, names)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("reconciles nothing when its predicate accepts changes only", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const runs: Array<string> = []
      yield* cluster.run(recording(runs, Predicate.resourceVersionChanged))
      yield* cluster.advance("5 hours")
      assert.sameMembers(runs, names)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )
})
