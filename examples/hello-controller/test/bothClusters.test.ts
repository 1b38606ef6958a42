/** One test body on the embedded cluster, in virtual time, and on a real API server, in real time. */
import { assert, describe, it } from "@effect/vitest"
import { Namespace } from "effect-controller-manager"
import { ClusterTest, TestCluster } from "effect-controller-manager/testing"
import { Envtest } from "effect-controller-manager/testing/envtest"
import * as Effect from "effect/Effect"
import { HelloController } from "../src/HelloController.ts"

const greets = Effect.gen(function* () {
  const { apply, run, until } = yield* TestCluster
  yield* run(HelloController)
  yield* apply("{ apiVersion: v1, kind: Namespace, metadata: { name: shop } }")
  for (const name of ["default", "shop"]) {
    const greeted = yield* until(Namespace, { name }, (one) => one?.metadata.labels?.["hello"] === "world")
    assert.strictEqual(greeted?.metadata.name, name)
  }
}).pipe(Effect.scoped)

describe("on the embedded cluster", () => {
  it.effect("greets existing and new namespaces", () => greets.pipe(Effect.provide(ClusterTest.layer())))
})

describe.skipIf(!Envtest.available())("on a real API server", () => {
  it.effect("greets existing and new namespaces", () => greets.pipe(Effect.provide(Envtest.layer())), {
    timeout: 120_000
  })
})
