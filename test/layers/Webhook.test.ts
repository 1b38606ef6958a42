import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { KubeObject } from "../../src/kube/Meta.ts"
import * as Patch from "../../src/kube/Patch.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as Webhook from "../../src/layers/Webhook.ts"
import { colouring, conversion, definition, Gadget, GadgetV1, lax, sizes } from "./webhook/gadget.ts"

const place = { namespace: "default" }
const target = { ...place, name: "one" }

const gadget = <Spec extends object>(spec: Spec) => ({
  apiVersion: "demo.example.com/v2",
  kind: "Gadget",
  metadata: { name: "one", namespace: "default" },
  spec
})

/** Denies an object whose colour another stored object has, which it reads from the server. */
const unique = Webhook.validating(Gadget, ({ name, namespace = "", object }) =>
  Effect.gen(function* () {
    const { items } = yield* (yield* KubeClient).list(Gadget, { namespace })
    const twin = items.find(({ metadata, spec }) => metadata.name !== name && spec.colour === object?.spec.colour)
    if (twin !== undefined) return yield* Webhook.deny(`${twin.metadata.name} is ${object?.spec.colour} already`)
  })
)

const hanging = Webhook.validating(Gadget, () => Effect.never, { timeoutSeconds: 3 })

const served = ClusterTest.layer({ crds: [lax], webhooks: [colouring, sizes] })

describe("webhooks that a program declares", () => {
  it.effect("set missing fields, and keep fields that they do not know", () =>
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

  it.effect("deny an object that the Schema cannot decode, with the path of the field", () =>
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

  it.effect("deny what a rule in code denies, also for updates and deletions", () =>
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

  it.effect("may read from the API server", () =>
    Effect.gen(function* () {
      const { apply } = yield* ClusterTest
      const client = yield* KubeClient
      yield* apply([gadget({ size: 1, colour: "red" })])
      const other = { metadata: { name: "two", namespace: "default" }, spec: { size: 1, colour: "red" } }
      const error = yield* Effect.flip(client.create(Gadget, other))
      assert.include(error.message, "one is red already")
      yield* client.create(Gadget, { ...other, spec: { size: 1, colour: "blue" } })
    }).pipe(Effect.provide(ClusterTest.layer({ crds: [definition], webhooks: [unique] })))
  )

  it.effect("time out, and the failure policy then decides", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      const fiber = yield* Effect.forkChild(Effect.flip(client.create(Gadget, gadget({ size: 1 }))))
      yield* cluster.advance("3 seconds")
      const error = yield* Fiber.join(fiber)
      assert.include(error.message, 'failed calling webhook "validate.gadgets.demo.example.com"')
    }).pipe(Effect.provide(ClusterTest.layer({ crds: [definition], webhooks: [hanging] })))
  )

  it.effect("convert between versions, and receive writes in another version converted to their own", () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      const made = yield* client.create(GadgetV1, {
        metadata: { name: "one", namespace: "default" },
        spec: { count: 3 }
      })
      assert.deepStrictEqual(made.spec, { count: 3 })
      assert.deepStrictEqual((yield* client.get(Gadget, target)).spec, { size: 3 })
      const shrunk = yield* Effect.flip(client.patch(GadgetV1, target, Patch.merge({ spec: { count: 2 } })))
      assert.include(shrunk.message, "a gadget does not shrink")
      yield* client.patch(Gadget, target, Patch.merge({ spec: { size: 4 } }))
      assert.deepStrictEqual((yield* client.get(GadgetV1, target)).spec, { count: 4 })
    }).pipe(Effect.provide(ClusterTest.layer({ crds: [definition], webhooks: [conversion, sizes] })))
  )
})
