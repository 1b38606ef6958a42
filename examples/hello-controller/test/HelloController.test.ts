import { assert, it } from "@effect/vitest"
import { KubeClient, Namespace } from "effect-controller-manager"
import { ClusterTest } from "effect-controller-manager/testing"
import * as Effect from "effect/Effect"
import { HelloController } from "../src/HelloController.ts"

it.effect("greets existing and new namespaces", () =>
  Effect.gen(function* () {
    const { apply, run, settle } = yield* ClusterTest
    const client = yield* KubeClient
    yield* run(HelloController)
    yield* apply([{ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } }])
    yield* settle
    for (const name of ["default", "shop"]) {
      assert.strictEqual((yield* client.get(Namespace, { name })).metadata.labels?.["hello"], "world")
    }
  }).pipe(Effect.provide(ClusterTest.layer()))
)
