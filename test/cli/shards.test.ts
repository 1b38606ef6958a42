/** What `--sharding` refuses, in the words that a user sees. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { readersOf } from "../../src/cli/connect.ts"
import { product } from "../../src/cli/product.ts"
import * as Selection from "../../src/cli/selection.ts"
import * as Shards from "../../src/cli/shards.ts"
import * as Program from "../../src/manager/Program.ts"
import * as Registry from "../../src/manager/registry.ts"
import * as Sources from "../../src/manager/setting/sources.ts"

const program = Result.getOrThrow(product)

/** What is wrong; undefined if it may start. */
const problem = Effect.fnUntraced(function* (given: Readonly<Record<string, string>>) {
  const flags = new Map(Object.entries(given))
  const resolved = Result.getOrThrow(Sources.resolve(program.settings, { flags, env: {} }))
  const table = yield* Selection.tableOf(resolved).pipe(Effect.provideService(Program.Program, program))
  const selection = Result.getOrThrow(Registry.select(table, resolved.values.controllers, { embedded: false }))
  const place = { embedded: false, namespace: "default" }
  const checked = yield* Effect.result(
    Shards.checked(resolved.values, place, selection, readersOf(resolved.values, selection, []))
  )
  return Result.isFailure(checked) ? checked.failure.message : undefined
})

describe("--sharding", () => {
  it.effect("needs a controller that is sharded", () =>
    Effect.gen(function* () {
      assert.match(
        (yield* problem({ sharding: "true", controllers: "pod-count" })) ?? "",
        /declared with shardBy, and none of these is: "pod-count"$/
      )
      assert.isUndefined(yield* problem({ controllers: "pod-count" }))
    })
  )

  it.effect("needs an election for the others", () =>
    Effect.gen(function* () {
      const both = { sharding: "true", controllers: "memcached,pod-count" }
      assert.match(
        (yield* problem(both)) ?? "",
        /only one replica may run: "pod-count"\. Add --leader-elect, or leave them out of --controllers$/
      )
      assert.isUndefined(yield* problem({ ...both, "leader-elect": "true" }))
      assert.isUndefined(yield* problem({ sharding: "true", controllers: "memcached" }))
      // Core controllers take part in an election by themselves.
      assert.isUndefined(yield* problem({ sharding: "true", controllers: "memcached,deployment" }))
    })
  )

  it.effect("divides the cache only if all controllers read nothing of other namespaces", () =>
    Effect.gen(function* () {
      const own = { sharding: "true", "sharding-cache": "own" }
      assert.isUndefined(yield* problem({ ...own, controllers: "memcached" }))
      assert.match(
        (yield* problem({ ...own, controllers: "memcached,pod-count", "leader-elect": "true" })) ?? "",
        /declared with staysInNamespace, and these are not: "pod-count"\./
      )
    })
  )
})
