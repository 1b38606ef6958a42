import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import * as ApiError from "../../../src/kube/ApiError.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { noBody, text } from "../../../src/layers/http/handler.ts"
import * as Guard from "../../../src/manager/metrics/guard.ts"
import { type Request, Transport } from "../../../src/layers/Transport.ts"

interface Review {
  readonly kind: string
  readonly spec: { readonly token?: string; readonly user?: string; readonly [field: string]: unknown }
}

/** An API server that knows alice and bob by their tokens, and lets alice read. */
const apiServer = () => {
  const state = { sent: [] as Array<Review>, isAway: false, isSilent: false, mayAlice: true }
  const answer = (request: Request) => {
    const review = request.body as Review
    state.sent.push(review)
    if (state.isAway) return Effect.fail(ApiError.network(request.context, new Error("away")))
    if (state.isSilent) return Effect.never
    const name = review.spec.token?.replace("token-of-", "")
    const isKnown = name === "alice" || name === "bob"
    const status =
      review.kind === "TokenReview"
        ? { authenticated: isKnown, user: isKnown ? { username: name, groups: ["people"], uid: "1" } : {} }
        : { allowed: review.spec.user === "alice" && state.mayAlice }
    return Effect.succeed({ status: 201, body: { ...review, status }, warnings: [] })
  }
  const transport = Layer.succeed(Transport, Transport.of({ send: answer, watch: () => Stream.never }))
  return { state, layer: Layer.provide(KubeClient.layer, transport) }
}

const asking = Effect.map(Guard.make, (guard) => {
  const handle = guard(() => Effect.succeed(text(200, "metrics")))
  return (name: string | undefined, path = "/metrics") =>
    Effect.map(
      handle({
        method: "GET",
        path,
        query: new URLSearchParams(),
        bearer: name === undefined ? undefined : Redacted.make(`token-of-${name}`),
        body: noBody
      }),
      (answer) => answer.status
    )
})

describe("who may read metrics", () => {
  it.effect("an authenticated and authorized user gets the metrics; others get 401 or 403", () => {
    const { layer, state } = apiServer()
    return Effect.gen(function* () {
      const ask = yield* asking
      assert.strictEqual(yield* ask(undefined), 401)
      assert.deepStrictEqual(state.sent, [])
      assert.strictEqual(yield* ask("mallory"), 401)
      assert.strictEqual(yield* ask("bob"), 403)
      assert.strictEqual(yield* ask("alice"), 200)
      assert.deepStrictEqual(state.sent.at(-1)?.spec, {
        user: "alice",
        uid: "1",
        groups: ["people"],
        nonResourceAttributes: { path: "/metrics", verb: "get" }
      })
    }).pipe(Effect.provide(layer))
  })

  it.effect("reviews are cached: users for one minute, permissions for five, denials for half a minute", () => {
    const { layer, state } = apiServer()
    return Effect.gen(function* () {
      const ask = yield* asking
      yield* ask("alice")
      yield* ask("alice")
      assert.deepStrictEqual(
        state.sent.map((review) => review.kind),
        ["TokenReview", "SubjectAccessReview"]
      )
      state.mayAlice = false
      yield* TestClock.adjust("4 minutes")
      assert.strictEqual(yield* ask("alice"), 200)
      assert.deepStrictEqual(
        state.sent.slice(2).map((review) => review.kind),
        ["TokenReview"]
      )
      yield* TestClock.adjust("61 seconds")
      assert.strictEqual(yield* ask("alice"), 403)
      state.mayAlice = true
      assert.strictEqual(yield* ask("alice"), 403)
      yield* TestClock.adjust("31 seconds")
      assert.strictEqual(yield* ask("alice"), 200)
      yield* ask("alice", "/debug")
      assert.strictEqual(state.sent.filter((review) => review.kind === "SubjectAccessReview").length, 4)
    }).pipe(Effect.provide(layer))
  })

  it.effect("an unreachable or silent API server denies the request, and the next request is reviewed again", () => {
    const { layer, state } = apiServer()
    return Effect.gen(function* () {
      const ask = yield* asking
      state.isAway = true
      assert.strictEqual(yield* ask("alice"), 500)
      state.isAway = false
      assert.strictEqual(yield* ask("alice"), 200)
      state.isSilent = true
      yield* TestClock.adjust("10 minutes")
      const late = yield* Effect.forkChild(ask("alice"), { startImmediately: true })
      yield* TestClock.adjust("10 seconds")
      const exit = late.pollUnsafe()
      assert.deepStrictEqual(exit?._tag === "Success" ? exit.value : exit, 500)
    }).pipe(Effect.provide(layer))
  })

  const reviews = (state: { readonly sent: ReadonlyArray<Review> }, kind = "TokenReview") =>
    state.sent.filter((review) => review.kind === kind).length

  it.effect("any number of unknown tokens causes few reviews, and a repeated one causes none", () => {
    const { layer, state } = apiServer()
    return Effect.gen(function* () {
      const ask = yield* asking
      const statuses = yield* Effect.forEach(Array.from({ length: 1000 }), (_, index) => ask(`stranger-${index}`))
      assert.deepStrictEqual([...new Set(statuses)], [401, 429])
      assert.isAtMost(reviews(state), 20)
      const before = reviews(state)
      assert.strictEqual(yield* ask("stranger-0"), 401)
      assert.strictEqual(reviews(state), before)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* ask("stranger-0"), 401, "it may have become somebody")
      assert.strictEqual(reviews(state), before + 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("known users are reviewed again while unknown tokens exhaust the rate limit", () => {
    const { layer, state } = apiServer()
    return Effect.gen(function* () {
      const ask = yield* asking
      assert.strictEqual(yield* ask("alice"), 200)
      for (let second = 0; second < 120; second++) {
        yield* Effect.forEach(Array.from({ length: 50 }), (_, index) => ask(`stranger-${second}-${index}`))
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* ask("alice"), 200)
      }
      // The rate, the burst, and one review of alice per minute.
      assert.isAtMost(reviews(state), 5 * 120 + 20 + 4)
    }).pipe(Effect.provide(layer))
  })

  it.effect("unknown tokens do not evict known users from the cache", () => {
    const { layer, state } = apiServer()
    return Effect.gen(function* () {
      const ask = yield* asking
      yield* ask("alice")
      for (let second = 0; second < 50; second++) {
        yield* Effect.forEach(Array.from({ length: 100 }), (_, index) => ask(`stranger-${second}-${index}`))
        yield* TestClock.adjust("1 second")
      }
      const before = state.sent.length
      assert.strictEqual(yield* ask("alice"), 200)
      assert.strictEqual(state.sent.length, before)
    }).pipe(Effect.provide(layer))
  })

  it.effect("a slow server gets few concurrent reviews of unknown tokens", () => {
    const { layer, state } = apiServer()
    return Effect.gen(function* () {
      const ask = yield* asking
      state.isSilent = true
      const fibers = yield* Effect.forEach(Array.from({ length: 100 }), (_, index) =>
        Effect.forkChild(ask(`stranger-${index}`), { startImmediately: true })
      )
      assert.strictEqual(reviews(state), 8)
      yield* TestClock.adjust("10 seconds")
      const statuses = yield* Effect.forEach(fibers, Fiber.join)
      assert.deepStrictEqual(
        [429, 500].map((status) => statuses.filter((one) => one === status).length),
        [92, 8]
      )
    }).pipe(Effect.provide(layer))
  })

  it.effect("a known user who requests path after path causes few reviews", () => {
    const { layer, state } = apiServer()
    return Effect.gen(function* () {
      const ask = yield* asking
      assert.strictEqual(yield* ask("alice"), 200)
      yield* Effect.forEach(Array.from({ length: 1000 }), (_, index) => ask("bob", `/${index}`))
      assert.isAtMost(reviews(state, "SubjectAccessReview"), 101)
      yield* TestClock.adjust("5 minutes")
      yield* Effect.forEach(Array.from({ length: 1000 }), (_, index) => ask("bob", `/${index}`))
      assert.strictEqual(yield* ask("alice"), 200)
    }).pipe(Effect.provide(layer))
  })
})
