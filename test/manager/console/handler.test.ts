/** The console over HTTP: who may read what, and with which headers. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { ConfigMap } from "../../../src/kube/resources.ts"
import * as Inspection from "../../../src/layers/Inspection.ts"
import { type Request, Transport } from "../../../src/layers/Transport.ts"
import * as Stream from "effect/Stream"
import * as Access from "../../../src/manager/console/access.ts"
import * as Guard from "../../../src/manager/metrics/guard.ts"
import { storeOf } from "../../support/stores.ts"
import * as LoopMetrics from "../../../src/streams/reconcile/loopMetrics.ts"
import * as KeyedQueue from "../../../src/streams/queue/KeyedQueue.ts"
import { ask, json, make, token } from "./asking.ts"

const api = ["/console/api/stream", "/console/api/search?q=a", "/console/api/objects/pods/a/b", "/console/api/x"]

const alone = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(
    Effect.provideService(Inspection.Inspection, Inspection.makeUnsafe()),
    Effect.provideService(Metric.MetricRegistry, new Map()),
    Effect.scoped
  )

describe("the console", () => {
  it.effect("gives its page to everyone, and its data only to who has the token", () =>
    alone(
      Effect.gen(function* () {
        const handle = yield* make()
        for (const path of ["/console/", "/console/index.html", "/console/app-abc.js"]) {
          assert.strictEqual((yield* ask(handle, path, { bearer: null })).status, 200, path)
        }
        for (const bearer of [null, "", "wrong", `${token}x`, token.slice(1)]) {
          for (const path of api) {
            const response = yield* ask(handle, path, { bearer })
            assert.strictEqual(response.status, 401, path)
            assert.deepStrictEqual(json(response), { message: "the token is missing or is not valid" })
          }
        }
        assert.deepStrictEqual(
          yield* Effect.forEach(api, (path) => Effect.map(ask(handle, path), ({ status }) => status)),
          [200, 200, 200, 404]
        )
      })
    )
  )

  it.effect("sends the browser from / and /console to the page", () =>
    alone(
      Effect.gen(function* () {
        const handle = yield* make()
        for (const path of ["/", "/console"]) {
          const { headers, status } = yield* ask(handle, path, { bearer: null })
          assert.deepStrictEqual([status, headers?.["location"]], [308, "/console/"])
        }
      })
    )
  )

  it.effect("is read-only: other methods than GET and HEAD get 405, with and without a token", () =>
    alone(
      Effect.gen(function* () {
        const handle = yield* make()
        for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]) {
          for (const path of ["/console/", ...api]) {
            const { headers, status } = yield* ask(handle, path, { method })
            assert.deepStrictEqual([status, headers?.["allow"]], [405, "GET, HEAD"])
          }
        }
        assert.strictEqual((yield* ask(handle, "/console/", { method: "HEAD" })).status, 200)
      })
    )
  )

  it.effect("forbids, with every response, scripts and requests of other origins, frames, forms and caching", () =>
    alone(
      Effect.gen(function* () {
        const handle = yield* make()
        for (const path of ["/", "/console/", "/console/app-abc.js", "/console/none", ...api]) {
          for (const bearer of [token, null]) {
            const { headers = {} } = yield* ask(handle, path, { bearer })
            const policy = (headers["content-security-policy"] ?? "").split("; ")
            assert.includeMembers(policy, [
              "default-src 'none'",
              "script-src 'self'",
              "style-src 'self'",
              "connect-src 'self'",
              "img-src 'self' data:",
              "frame-ancestors 'none'",
              "base-uri 'none'",
              "form-action 'none'"
            ])
            assert.notMatch(policy.join(), /unsafe|\*|https?:/)
            assert.deepInclude(headers, {
              "cross-origin-opener-policy": "same-origin",
              "cross-origin-resource-policy": "same-origin",
              "referrer-policy": "no-referrer",
              "x-content-type-options": "nosniff"
            })
            if (path !== "/console/app-abc.js") assert.strictEqual(headers["cache-control"], "no-store")
            assert.isUndefined(headers["access-control-allow-origin"])
          }
        }
      })
    )
  )

  it.effect("serves no other files than those of the page", () =>
    alone(
      Effect.gen(function* () {
        const handle = yield* make()
        for (const path of [
          "/console/../package.json",
          "/console//etc/passwd",
          "/console/api",
          "/x",
          "/console/constructor"
        ]) {
          assert.strictEqual((yield* ask(handle, path)).status, 404, path)
        }
        const { status } = yield* ask(yield* make({ files: undefined }), "/console/")
        assert.strictEqual(status, 503)
      })
    )
  )

  it.effect("an object's view names the controllers that reconcile it next", () =>
    alone(
      Effect.gen(function* () {
        const inspection = yield* Inspection.Inspection
        yield* inspection.stores.show(Effect.succeed([{ resource: ConfigMap, store: storeOf([]) }]))
        const metrics = yield* LoopMetrics.of("worker")
        const queue = yield* KeyedQueue.make({ metrics: metrics.queue("worker") })
        yield* queue.add("default/a", { rateLimited: true })
        yield* queue.add("default/b", { after: "1 minute" })
        const worker = { name: "worker", for: ConfigMap, reads: [], needsLeader: false }
        const handle = yield* make({ controllers: [worker] })
        const dueOf = (name: string) =>
          Effect.map(ask(handle, `/console/api/objects/configmaps/default/${name}`), (response) => json(response))
        assert.deepInclude(yield* dueOf("b"), {
          due: [{ controller: "worker", at: 60_000, failures: 0 }],
          exists: false
        })
        assert.deepInclude(yield* dueOf("a"), { due: [{ controller: "worker", at: 5, failures: 1 }] })
        assert.deepInclude(yield* dueOf("c"), { due: [], kind: "ConfigMap" })
        for (const path of ["pods", "pods/a/b/c", "pods//a", "pods/"]) {
          assert.strictEqual((yield* ask(handle, `/console/api/objects/${path}`)).status, 404, path)
        }
      })
    )
  )
})

/** An API server that knows alice and bob, and lets alice get the console. */
const reviewed = Effect.gen(function* () {
  const asked: Array<unknown> = []
  const send = ({ body }: Request) => {
    const review = body as { readonly kind: string; readonly spec: Record<string, unknown> }
    const { token: name, user } = review.spec
    if (review.kind === "SubjectAccessReview") asked.push(review.spec["nonResourceAttributes"])
    const isKnown = name === "alice" || name === "bob"
    const status =
      review.kind === "TokenReview"
        ? { authenticated: isKnown, ...(isKnown ? { user: { username: name } } : {}) }
        : { allowed: user === "alice" }
    return Effect.succeed({ status: 201, body: { ...review, status }, warnings: [] })
  }
  const client = Layer.provide(
    KubeClient.layer,
    Layer.succeed(Transport, Transport.of({ send, watch: () => Stream.never }))
  )
  return { asked, access: Access.byReview(yield* Effect.provide(Guard.make, client)) }
})

describe("the console that is not on loopback", () => {
  it.effect("asks the API server who the token's user is, and whether it may get /console, whatever the path", () =>
    alone(
      Effect.gen(function* () {
        const { access, asked } = yield* reviewed
        const handle = yield* make({ access })
        for (const path of api.slice(0, 3)) {
          assert.strictEqual((yield* ask(handle, path, { bearer: "alice" })).status, 200)
          const forbidden = yield* ask(handle, path, { bearer: "bob" })
          assert.strictEqual(forbidden.status, 403)
          assert.isObject(json(forbidden))
          const unknown = yield* ask(handle, path, { bearer: "mallory" })
          assert.strictEqual(unknown.status, 401)
          assert.isObject(json(unknown))
          assert.strictEqual((yield* ask(handle, path, { bearer: null })).status, 401)
        }
        assert.deepStrictEqual(asked, [
          { path: "/console", verb: "get" },
          { path: "/console", verb: "get" }
        ])
        assert.strictEqual((yield* ask(handle, "/console/", { bearer: null })).status, 200)
        assert.strictEqual((yield* ask(handle, "/console/api/x", { bearer: "alice" })).status, 404)
      })
    )
  )
})
