import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { KubeObject } from "../../src/kube/Meta.ts"
import * as Patch from "../../src/kube/Patch.ts"
import { ClusterTest } from "../../src/layers/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { colouring, Gadget, lax, sizes } from "./webhook/gadget.ts"

const place = { namespace: "default" }
const target = { ...place, name: "one" }

const gadget = (spec: object) => ({
  apiVersion: "demo.example.com/v2",
  kind: "Gadget",
  metadata: { name: "one", namespace: "default" },
  spec
})

const served = ClusterTest.layer({ crds: [lax], webhooks: [colouring, sizes] })

describe("webhooks that a program declares", () => {
  it.effect("fill in what is missing, and leave what they do not know", () =>
    Effect.gen(function* () {
      const { apply } = yield* ClusterTest
      const [stored] = yield* apply([gadget({ size: 2, wheels: { front: 1 } })])
      assert.deepStrictEqual((stored as KubeObject & { spec: unknown }).spec, {
        colour: "grey",
        size: 2,
        wheels: { front: 1 }
      })
    }).pipe(Effect.provide(served))
  )

  it.effect("refuse what the Schema refuses, with the path", () =>
    Effect.gen(function* () {
      const { apply } = yield* ClusterTest
      const error = yield* Effect.flip(apply([gadget({ size: 9 })]))
      assert.include(
        error.message,
        `admission webhook "default.gadgets.demo.example.com" denied the request: Gadget default/one does not fit its schema: spec.size: Expected a value between 1 and 5`
      )
      assert.deepInclude(error, { status: 422 })
    }).pipe(Effect.provide(served))
  )

  it.effect("refuse what a rule in code refuses, on updates and deletions too", () =>
    Effect.gen(function* () {
      const { apply } = yield* ClusterTest
      const client = yield* KubeClient
      yield* apply([gadget({ size: 3, colour: "gold" })])
      const shrunk = yield* Effect.flip(client.patch(Gadget, target, Patch.merge({ spec: { size: 2 } })))
      assert.include(
        shrunk.message,
        `admission webhook "validate.gadgets.demo.example.com" denied the request: a gadget does not shrink`
      )
      assert.deepStrictEqual(shrunk.details?.causes, [
        { reason: "FieldValueInvalid", message: "a gadget does not shrink", field: "spec.size" }
      ])
      const kept = yield* Effect.flip(client.delete(Gadget, target))
      assert.include(kept.message, "denied the request: gold is kept")
      assert.strictEqual(kept.status, 403)
      yield* client.patch(Gadget, target, Patch.merge({ spec: { colour: "tin" } }))
      yield* client.delete(Gadget, target)
    }).pipe(Effect.provide(served))
  )
})
