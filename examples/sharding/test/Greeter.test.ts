import { assert, it } from "@effect/vitest"
import { ConfigMap, KubeClient } from "effect-controller-manager"
import { ClusterTest } from "effect-controller-manager/testing"
import * as Effect from "effect/Effect"
import { Greeter } from "../src/Greeter.ts"

it.effect("greets config maps with the label, once", () =>
  Effect.gen(function* () {
    const { apply, run, settle } = yield* ClusterTest
    const client = yield* KubeClient
    yield* apply([
      { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name: "one", labels: { greet: "" } } },
      { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name: "two" } }
    ])
    yield* run(Greeter("a"))
    yield* settle
    const greeting = (name: string) =>
      Effect.map(client.get(ConfigMap, { namespace: "default", name }), ({ data }) => data?.["greeting"])
    assert.deepStrictEqual([yield* greeting("one"), yield* greeting("two")], ["hello from a", undefined])
  }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
)
