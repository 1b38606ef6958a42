import { assert, it } from "@effect/vitest"
import { Namespace } from "effect-controller-manager"
import { ClusterTest } from "effect-controller-manager/testing"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as NamespaceJanitor from "../src/NamespaceJanitor.ts"

const namespace = (name: string, ttl: string) => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, annotations: { [NamespaceJanitor.annotation]: ttl } }
})

const objects = [namespace("review-1", "2"), namespace("review-2", "12"), namespace("review-3", "soon")]

it.effect("deletes namespaces in the first run after their TTL has expired", () =>
  Effect.gen(function* () {
    const { advance, run, settle, snapshot } = yield* ClusterTest
    const names = Effect.map(snapshot(Namespace), (all) =>
      all.flatMap(({ metadata }) =>
        metadata.name.startsWith("review") && metadata.deletionTimestamp === undefined ? [metadata.name] : []
      )
    )
    yield* run(NamespaceJanitor.make({ interval: Duration.minutes(30) }))
    yield* settle
    assert.deepStrictEqual(yield* names, ["review-1", "review-2", "review-3"])
    yield* advance("110 minutes")
    assert.deepStrictEqual(yield* names, ["review-1", "review-2", "review-3"])
    yield* advance("20 minutes")
    assert.deepStrictEqual(yield* names, ["review-2", "review-3"])
    // An annotation that is not a number is ignored.
    yield* advance("11 hours")
    assert.deepStrictEqual(yield* names, ["review-3"])
  }).pipe(Effect.provide(ClusterTest.layer({ objects })))
)
