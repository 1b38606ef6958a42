/** What `handle` makes of an exception, which is a defect. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import type { Answer } from "../../src/apiserver/Api.ts"
import { get, layer } from "./client.ts"

const path = "/api/v1/namespaces/default/configmaps"

const create = (name: string) =>
  Effect.flatMap(ApiServer, (server) =>
    server.handle({
      method: "POST",
      path,
      query: new URLSearchParams(),
      headers: {},
      body: JSON.stringify({ metadata: { name } }),
      user: { name: "x", groups: [] }
    })
  ).pipe(Effect.map((answer) => answer as Answer))

/** The uid of an object is random. */
const withoutUids = Effect.provideService(Random.Random, {
  nextDoubleUnsafe: () => {
    throw new Error("no randomness")
  },
  nextIntUnsafe: () => 0
})

describe("An exception while a request is handled", () => {
  it.effect("is a 500 with an audit entry, stores nothing, and the next request is served", () =>
    Effect.gen(function* () {
      const { audit, revision } = yield* ApiServer
      const before = yield* revision
      const answer = yield* withoutUids(create("a"))
      assert.deepStrictEqual([answer.status, JSON.parse(answer.body).reason], [500, "InternalError"])
      const entry = (yield* audit).at(-1)
      assert.deepStrictEqual([entry?.code, entry?.path, entry?.changed], [500, path, false])
      assert.strictEqual(yield* revision, before)
      assert.strictEqual((yield* create("b")).status, 201)
      assert.strictEqual((yield* get(path)).items.length, 1)
    }).pipe(Effect.provide(layer()))
  )
})
