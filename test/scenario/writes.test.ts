/**
 * The write helpers of controllers on a real API server, with built-in kinds: one controller that finalizes a config map, keeps a Secret beside it and applies
 * its annotations, while another client writes to the same objects. Needs `KUBEBUILDER_ASSETS`.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Access from "../../src/kube/Access.ts"
import * as ApiError from "../../src/kube/ApiError.ts"
import * as Owner from "../../src/kube/Owner.ts"
import * as Patch from "../../src/kube/Patch.ts"
import { ConfigMap, Secret } from "../../src/kube/resources.ts"
import * as Controller from "../../src/layers/Controller.ts"
import { applier } from "../../src/layers/controller/writes/apply.ts"
import { createOrUpdate } from "../../src/layers/controller/writes/createOrUpdate.ts"
import { finalize } from "../../src/layers/controller/writes/finalize.ts"
import type { Client } from "../../src/layers/controller/reconcileContext.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as envtest from "../support/envtest.ts"
import * as RealServer from "../support/realServer.ts"

const isMissing = envtest.isMissing("writes of controllers on a real API server")

const cluster = RealServer.services()

const namespace = "kube-system"
const name = "settings"
const target = { namespace, name }
const farewell = "example.com/farewell"

/** What the controller did, in order. */
interface Book {
  readonly results: Array<string>
  /** The finalizers of the object at each reconcile. */
  readonly held: Array<ReadonlyArray<string> | undefined>
  farewells: number
}

const keeper = (book: Book) =>
  Controller.make({
    name: "keeper",
    for: ConfigMap,
    owns: [Secret],
    access: [Access.patch(ConfigMap), Access.create(Secret), Access.update(Secret), Access.patch(Secret)],
    reconcile: ({ key }, tools) =>
      Effect.gen(function* () {
        const read = yield* tools.cache.get(ConfigMap, key)
        if (read?.metadata.name !== name) return
        const object = yield* finalize(tools.client, {
          resource: ConfigMap,
          object: read,
          finalizers: {
            [farewell]: () => Effect.suspend(() => (++book.farewells === 1 ? Effect.fail("not yet") : Effect.void))
          }
        })
        if (object === undefined) return
        book.held.push(object.metadata.finalizers)
        const owned = yield* Effect.fromResult(Owner.set({ metadata: target }, { resource: ConfigMap, owner: object }))
        const mutate = (current: Secret | undefined) => ({
          ...current,
          ...owned,
          data: { colour: btoa(colourOf(object)) }
        })
        const { result } = yield* createOrUpdate(tools, { resource: Secret, ...target, mutate })
        const annotations = { "example.com/colour": colourOf(object) }
        yield* applier(tools.client).apply(Secret, { metadata: { ...target, annotations } })
        book.results.push(result)
      })
  })

const colourOf = ({ data }: ConfigMap): string => data?.["colour"] ?? ""

/** Waits until the condition holds; the test's own limit ends it. */
const eventually = <A, E, R>(check: Effect.Effect<A, E, R>, isExpected: (found: A) => boolean) =>
  Effect.retry(Effect.filterOrFail(check, isExpected), Schedule.spaced("50 millis"))

it.live.skipIf(isMissing)(
  "a controller finalizes, creates, updates and applies on a real API server beside another writer",
  () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      const book: Book = { results: [], held: [], farewells: 0 }
      const secret = client.get(Secret, target)
      const paint = (colour: string) => client.patch(ConfigMap, target, Patch.merge({ data: { colour } }))
      const painted = (colour: string) =>
        eventually(secret, ({ metadata }) => metadata.annotations?.["example.com/colour"] === colour)
      yield* client.create(ConfigMap, { metadata: target, data: { colour: "blue" } })
      yield* Layer.build(keeper(book).layer)

      // The server has the annotation before the controller has the response.
      const first = yield* painted("blue")
      yield* eventually(
        Effect.sync(() => book.results.length),
        (length) => length > 0
      )
      assert.strictEqual(book.results[0], "created")
      assert.deepStrictEqual(book.held[0], [farewell])
      assert.deepStrictEqual(first.data, { colour: btoa("blue") })
      const managers = first.metadata.managedFields?.map(({ manager, operation }) => `${manager} ${operation}`)
      assert.include(managers ?? [], "keeper Apply")
      assert.strictEqual(Owner.controllerOf(first)?.name, name)

      const note = Patch.merge({ metadata: { annotations: { "other.example/note": "mine" } } })
      yield* client.patch(Secret, target, note)
      yield* paint("red")
      const second = yield* painted("red")
      assert.deepInclude(second.metadata.annotations, { "other.example/note": "mine" })
      assert.deepStrictEqual(second.data, { colour: btoa("red") })

      // Its own update triggers the object again; after that there is nothing left to do.
      const { results } = book
      yield* eventually(
        Effect.sync(() => results.at(-1)),
        (last) => last === "unchanged" && results.includes("updated")
      )
      const before = results.length
      const settled = yield* secret
      yield* client.patch(ConfigMap, target, Patch.merge({ metadata: { annotations: { touched: "1" } } }))
      yield* eventually(
        Effect.sync(() => results.length),
        (length) => length > before
      )
      assert.strictEqual((yield* secret).metadata.resourceVersion, settled.metadata.resourceVersion)

      const granted = client as unknown as Client<
        Access.Access<"create", typeof Secret> | Access.Access<"patch", typeof Secret>
      >
      const withoutForce = applier(granted, { fieldManager: "other", force: false })
      const annotations = { "example.com/colour": "grey" }
      const taken = yield* Effect.flip(withoutForce.apply(Secret, { metadata: { ...target, annotations } }))
      assert.isTrue(ApiError.hasReason(taken, "Conflict"))
      assert.include(taken.detail, 'conflict with "keeper"')

      yield* client.delete(ConfigMap, target)
      yield* eventually(Effect.exit(client.get(ConfigMap, target)), ({ _tag }) => _tag === "Failure")
      assert.strictEqual(book.farewells, 2)
    }).pipe(Effect.scoped, Effect.provide(cluster))
)
