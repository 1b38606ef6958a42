/** Batches of conversion reviews: each object is converted once, in reviews of a bounded size. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ApiServer } from "../../../../src/apiserver/ApiServer.ts"
import * as Caller from "../../../../src/apiserver/webhook/WebhookCaller.ts"
import { get, post } from "../../client.ts"
import { collection, convert, definition, widget } from "./widgets.ts"

/** The number of objects in each review that the webhook received. */
const served = (asked: Array<number>) =>
  ApiServer.layerTransport.pipe(
    Layer.provideMerge(ApiServer.layer({ crds: [definition("https://hooks.example/convert")] })),
    Layer.provide(
      Layer.succeed(
        Caller.WebhookCaller,
        Caller.handlers({
          "https://hooks.example/convert": ({ apiVersion, kind, request }: any) =>
            Effect.sync(() => {
              asked.push(request.objects.length)
              return { apiVersion, kind, response: { uid: request.uid, ...convert(request) } }
            })
        })
      )
    )
  )

const fill = (count: number, annotations: object) =>
  Effect.forEach(Array.from({ length: count }), (_, index) =>
    post(collection("v2"), widget("v2", `w${index}`, index, { annotations }))
  )

it.effect("converts at most a hundred objects per review, each once", () => {
  const asked: Array<number> = []
  return Effect.gen(function* () {
    yield* fill(250, {})
    const { items } = yield* get(collection("v1"))
    assert.strictEqual(
      items.reduce((sum: number, { spec }: any) => sum + spec.size, 0),
      (249 * 250) / 2
    )
    assert.deepStrictEqual(asked, [100, 100, 50])
    yield* get(collection("v1"))
    yield* get(`${collection("v1")}/w7`)
    assert.strictEqual(asked.length, 3)
  }).pipe(Effect.provide(served(asked)))
})

it.effect("limits the size of a review: large objects are converted in smaller reviews", () => {
  const asked: Array<number> = []
  return Effect.gen(function* () {
    yield* fill(60, { note: "n".repeat(200_000) })
    const { items } = yield* get(collection("v1"))
    assert.strictEqual(items.length, 60)
    assert.deepStrictEqual([Math.max(...asked), asked.reduce((sum, one) => sum + one)], [5, 60])
  }).pipe(Effect.provide(served(asked)))
})
