import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as Scope from "effect/Scope"
import * as Health from "../../src/layers/Health.ts"
import { Listener } from "../../src/layers/http/Listener.ts"
import { Process } from "../../src/layers/Process.ts"
import { listener } from "../../src/platform/listener/Listener.ts"
import { thisProcess } from "../../src/platform/Process.ts"
import { type Handler, noBody, notFound, text } from "../../src/layers/http/handler.ts"
import * as Servers from "../../src/manager/servers.ts"
import { Transport } from "../../src/layers/Transport.ts"

const alone = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(
    Effect.provideService(Metric.MetricRegistry, new Map()),
    Effect.provideService(Health.Health, Health.makeUnsafe()),
    Effect.provideService(Listener, listener),
    Effect.provideService(Process, thisProcess),
    Effect.scoped
  )

const taken = listener.listen({
  name: "other",
  setting: "other",
  address: { host: "127.0.0.1", port: 0 },
  handle: () => Effect.succeed(text(200, ""))
})

describe("where the servers listen", () => {
  it("is the address of the setting; on the embedded cluster a default address is on loopback", () => {
    const address = { host: undefined, port: 8080 }
    assert.isUndefined(Servers.place(undefined, { byDefault: false, embedded: true }))
    for (const said of [
      { byDefault: true, embedded: false },
      { byDefault: false, embedded: true }
    ]) {
      assert.deepStrictEqual(Servers.place(address, said), { address, isOptional: false })
    }
    assert.deepStrictEqual(Servers.place(address, { byDefault: true, embedded: true }), {
      address: { host: "127.0.0.1", port: 8080 },
      isOptional: true
    })
  })

  it.live("an address in use ends the start if a setting names it, and is skipped if it is a default", () =>
    alone(
      Effect.gen(function* () {
        const { port } = yield* taken
        const address = { host: "127.0.0.1", port }
        const start = (isOptional: boolean) =>
          Effect.exit(
            Servers.start({ probes: { address, isOptional }, metrics: { address, isOptional }, controllers: [] })
          )
        assert.isTrue(Exit.isFailure(yield* start(false)))
        assert.isTrue(Exit.isSuccess(yield* start(true)))
      })
    )
  )

  it.live("with one address for both, one server answers probes without authorization and metrics", () =>
    alone(
      Effect.gen(function* () {
        const address = yield* Effect.map(Effect.scoped(taken), ({ port }) => ({ host: "127.0.0.1", port }))
        const place = { address, isOptional: false }
        yield* Servers.start({ probes: place, metrics: place, controllers: [] })
        const status = (path: string) =>
          Effect.promise(() =>
            fetch(`http://127.0.0.1:${address.port}${path}`, { headers: { connection: "close" } }).then(
              async (response) => [response.status, (await response.text()).length > 0] as const
            )
          )
        assert.deepStrictEqual(yield* status("/healthz"), [200, true])
        assert.deepStrictEqual(yield* status("/readyz/informer-sync"), [500, true])
        assert.deepStrictEqual(yield* status("/metrics"), [200, true])
        assert.deepStrictEqual(yield* status("/metrics/slis"), [200, true])
        assert.deepStrictEqual(yield* status("/healthzz"), [404, true])
      })
    )
  )

  it.live("both servers respond until their scope closes, and are ready once the checks pass", () =>
    alone(
      Effect.gen(function* () {
        const address = yield* Effect.map(Effect.scoped(taken), ({ port }) => ({ host: "127.0.0.1", port }))
        const place = { address, isOptional: false }
        const ask = (path: string) =>
          Effect.promise(() =>
            fetch(`http://127.0.0.1:${address.port}${path}`, { headers: { connection: "close" } }).then(
              async (response) => [response.status, await response.text()] as const,
              () => undefined
            )
          )
        const scope = yield* Scope.make()
        yield* Scope.provide(Servers.start({ probes: place, metrics: undefined, controllers: [] }), scope)
        assert.deepStrictEqual(yield* ask("/healthz"), [200, "ok"])
        assert.deepStrictEqual(yield* ask("/readyz?verbose"), [
          500,
          "[-]informer-sync failed: the informers are not running\nreadyz check failed\n"
        ])
        const health = yield* Health.Health
        yield* health.register("readiness", { name: "informer-sync", run: Effect.succeed(undefined) })
        assert.deepStrictEqual(yield* ask("/readyz"), [200, "ok"])
        yield* Scope.close(scope, Exit.void)
        assert.isUndefined(yield* ask("/readyz"))
        yield* Servers.start({ probes: undefined, metrics: place, controllers: [{ name: "pod-count" }] })
        const [status, body] = (yield* ask("/metrics")) ?? [0, ""]
        assert.strictEqual(status, 200)
        assert.include(body, 'controller_runtime_reconcile_total{controller="pod-count",result="requeue_after"} 0')
        assert.strictEqual((yield* ask("/readyz"))?.[0], 404)
      })
    )
  )

  it.live("one path has one handler: a further handler replaces neither the metrics nor a page", () =>
    alone(
      Effect.gen(function* () {
        const metrics = { address: { host: "127.0.0.1", port: 0 }, isOptional: false }
        const pages = { effective: [], controllers: [], disabled: ["other"] }
        const start = (path: string) =>
          Servers.start({
            probes: undefined,
            metrics,
            controllers: [],
            secure: {
              transport: Transport.layerNoop,
              files: undefined,
              pages,
              handlers: { [path]: () => Effect.succeed(text(200, "mine")) }
            }
          })
        for (const path of [
          "/metrics",
          "/metrics/slis",
          "/configz",
          "/debug/controllers",
          "/debug/controllers/other",
          "/debug/flags/v"
        ]) {
          const error = yield* Effect.flip(start(path))
          assert.strictEqual(error.message, `the metrics server has a page at ${path} already`)
        }
        yield* start("/mine")
      })
    )
  )

  it.effect("further pages are behind the authorization and do not change the metrics", () =>
    Effect.gen(function* () {
      const metrics: Handler = ({ path }) => Effect.succeed(path === "/metrics" ? text(200, "metrics") : notFound)
      const handle = yield* Servers.withPages(metrics, {
        pages: { effective: [], controllers: [], disabled: [] },
        handlers: { "/mine": ({ method }) => Effect.succeed(text(200, `mine ${method}`)) }
      })
      const ask = (method: string, path: string) =>
        Effect.map(
          handle({ method, path, query: new URLSearchParams(), bearer: undefined, body: noBody }),
          ({ body, status }) => [status, body]
        )
      assert.deepStrictEqual(yield* ask("DELETE", "/mine"), [200, "mine DELETE"])
      assert.deepStrictEqual(yield* ask("GET", "/metrics"), [200, "metrics"])
      assert.deepStrictEqual(yield* ask("HEAD", "/metrics"), [200, "metrics"])
      for (const path of ["/metrics", "/metrics/slis"]) assert.strictEqual((yield* ask("PUT", path))[0], 405)
      assert.strictEqual((yield* ask("PUT", "/configz"))[0], 405)
      assert.strictEqual((yield* ask("GET", "/configz"))[0], 200)
      for (const nowhere of ["/mine/", "/toString", "/"]) assert.strictEqual((yield* ask("GET", nowhere))[0], 404)
    })
  )
})
