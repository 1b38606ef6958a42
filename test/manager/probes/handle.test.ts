import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import * as Scope from "effect/Scope"
import * as Health from "../../../src/layers/Health.ts"
import { noBody } from "../../../src/layers/http/handler.ts"
import { handler } from "../../../src/manager/probes/handle.ts"

const asking =
  (health: Health.Health) =>
  (path: string, query = "") =>
    Effect.map(
      handler(health)({ method: "GET", path, query: new URLSearchParams(query), bearer: undefined, body: noBody }),
      (answer) => [answer.status, answer.body]
    )

describe("the probes", () => {
  it.effect("run the registered checks in the order of their names", () =>
    Effect.gen(function* () {
      const health = Health.makeUnsafe()
      const ask = asking(health)
      yield* health.register("readiness", { name: "z", run: Effect.succeed("not yet") })
      yield* health.register("readiness", { name: "a", run: Effect.die(new Error("broken")) })
      yield* health.register("liveness", { name: "loop", run: Effect.succeed(undefined) })
      assert.deepStrictEqual(yield* ask("/readyz", "verbose"), [
        500,
        "[-]a failed: the check itself failed: Error: broken\n[-]z failed: not yet\nreadyz check failed\n"
      ])
      assert.deepStrictEqual(yield* ask("/readyz", "exclude=a&exclude=z"), [200, "ok"])
      assert.deepStrictEqual(yield* ask("/readyz/z"), [500, "internal server error: not yet\n"])
      assert.deepStrictEqual(yield* ask("/readyz/"), yield* ask("/readyz"))
      assert.deepStrictEqual(yield* ask("/readyz/z/"), yield* ask("/readyz/z"))
      assert.deepStrictEqual(yield* ask("/readyz/nope"), [404, "404 page not found\n"])
      for (const path of ["/healthz", "/livez", "/healthz/loop", "/livez/loop"]) {
        assert.deepStrictEqual(yield* ask(path), [200, "ok"])
      }
      for (const path of [
        "/",
        "/metrics",
        "/readyz/loop",
        "/readyz/z/x",
        "/readyz//",
        "/readyz//z",
        "//readyz",
        "/readyz/ping",
        "/toString"
      ]) {
        assert.strictEqual((yield* ask(path))[0], 404, path)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("an unknown name in exclude is a warning in a long response, and is logged with a short one", () =>
    Effect.gen(function* () {
      const lines: Array<unknown> = []
      const logger = Logger.make(({ message }) => void lines.push(message))
      const health = Health.makeUnsafe()
      yield* health.register("readiness", { name: "a", run: Effect.succeed(undefined) })
      const ask = (query: string) =>
        asking(health)("/readyz", query).pipe(
          Effect.provide(Logger.layer([logger])),
          Effect.provideService(References.MinimumLogLevel, "Debug")
        )
      assert.deepStrictEqual(yield* ask("verbose&exclude=a"), [200, "[+]a excluded: ok\nreadyz check passed\n"])
      assert.deepStrictEqual(lines, [])
      assert.deepStrictEqual(yield* ask("verbose&exclude=b&exclude=c%0A"), [
        200,
        '[+]a ok\nwarn: some health checks cannot be excluded: no matches for "b","c\\n"\nreadyz check passed\n'
      ])
      assert.deepStrictEqual(yield* ask("exclude=b"), [200, "ok"])
      assert.deepStrictEqual(lines, [["A probe excludes unknown checks"], ["A probe excludes unknown checks"]])
    }).pipe(Effect.scoped)
  )

  it.effect("have a ping check if there is no other", () =>
    Effect.gen(function* () {
      const ask = asking(Health.makeUnsafe())
      assert.deepStrictEqual(yield* ask("/readyz/ping"), [200, "ok"])
      assert.deepStrictEqual(yield* ask("/healthz", "verbose"), [200, "[+]ping ok\nhealthz check passed\n"])
    })
  )

  it.effect("use the later of two checks with one name, for as long as its scope is open", () =>
    Effect.gen(function* () {
      const health = Health.makeUnsafe()
      const ask = asking(health)
      yield* health.register("readiness", { name: "informer-sync", run: Effect.succeed("not started") })
      const scope = yield* Scope.make()
      const later = { name: "informer-sync", run: Effect.succeed(undefined) }
      yield* Scope.provide(health.register("readiness", later), scope)
      assert.deepStrictEqual(yield* ask("/readyz"), [200, "ok"])
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual((yield* ask("/readyz"))[0], 500)
    }).pipe(Effect.scoped)
  )
})
