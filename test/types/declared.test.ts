/**
 * What a controller's declaration gives: the types of the objects, of the calls and of the services that are left to provide. The compiler checks these
 * expectations; the runs of the tests only build the declarations.
 */
import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import {
  Access,
  type ApiError,
  applier,
  ConfigMap,
  Controller,
  createOrUpdate,
  type EventSink,
  Key,
  Patch,
  Pod,
  Reconcile,
  Resource,
  type Written
} from "../../src/index.ts"

class Database extends Context.Service<Database, { readonly url: string }>()("test/types/Database") {}

const Gadget = Resource.make({
  group: "example.com",
  version: "v1",
  kind: "Gadget",
  plural: "gadgets",
  spec: Schema.Struct({ size: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(1))) })
})

type Call<A> = Effect.Effect<A, ApiError.ApiError>

describe("a declaration", () => {
  it("gives the client its verbs and the cache its kinds, each with the type of its objects", () => {
    const made = Controller.make({
      name: "made",
      for: Pod,
      owns: [ConfigMap],
      access: [Access.patch(Pod), Access.patch(Pod, "status"), Access.create(ConfigMap), Access.update(ConfigMap)],
      reconcile: ({ key, name }, { cache, client }) => {
        const patch = Patch.merge({})
        expectTypeOf(cache.get(Pod, key)).toEqualTypeOf<Effect.Effect<Pod | undefined>>()
        expectTypeOf(cache.list(ConfigMap)).toEqualTypeOf<Effect.Effect<ReadonlyArray<ConfigMap>>>()
        expectTypeOf(client.patch(Pod, { name }, patch)).toEqualTypeOf<Call<Pod>>()
        expectTypeOf(client.subresource("status").patch(Pod, { name }, patch)).toEqualTypeOf<Call<Pod>>()
        const wanted = { resource: ConfigMap, name, mutate: () => ({ metadata: { name } }) }
        const written = createOrUpdate({ cache, client }, wanted)
        expectTypeOf<Effect.Success<typeof written>>().toEqualTypeOf<Written<ConfigMap>>()
        return Effect.void
      }
    })
    expectTypeOf(made).toEqualTypeOf<Controller.Descriptor>()
    assert.strictEqual(made.name, "made")
  })

  it("gives a reconcile of objects the decoded form, events when they are declared, and an applier of its kinds", () => {
    const made = Controller.make({
      name: "made",
      for: Gadget,
      access: [Access.record, Access.create(ConfigMap), Access.patch(ConfigMap)],
      reconcileObject: (gadget, { client, events }) => {
        expectTypeOf(gadget.spec.size).toEqualTypeOf<number>()
        expectTypeOf(events).toEqualTypeOf<EventSink>()
        expectTypeOf(applier(client).apply(ConfigMap, { metadata: { name: "a" } })).toEqualTypeOf<Call<ConfigMap>>()
        return Effect.succeed(Reconcile.after("1 hour"))
      }
    })
    expectTypeOf(made.layer).toEqualTypeOf<Layer.Layer<never, never, Controller.Services>>()
    assert.strictEqual(made.for, Gadget)
  })

  it("requires the services of its reconcile", () => {
    const made = Controller.make({
      name: "made",
      for: Pod,
      reconcile: ({ key }) => Effect.asVoid(Effect.andThen(Database, Effect.log(Key.make(undefined, key))))
    })
    expectTypeOf(made).toEqualTypeOf<Controller.Descriptor<Database>>()
    assert.strictEqual(made.name, "made")
  })

  it("lets a context with more grants stand for one with fewer", () => {
    type Few = Access.Access<"patch", typeof Pod>
    expectTypeOf<Controller.Client<Few | Access.Access<"create", typeof ConfigMap>>>().toExtend<
      Controller.Client<Few>
    >()
    expectTypeOf<Controller.Client<Access.Access<"create", typeof ConfigMap>>>().not.toExtend<Controller.Client<Few>>()
    assert.deepStrictEqual(Access.patch(Pod).grant, "patch")
  })
})
