import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { TestClock } from "effect/testing"
import * as ApiError from "../../src/kube/ApiError.ts"
import * as CallPolicy from "../../src/layers/callPolicy.ts"
import type { Request, Response } from "../../src/layers/Transport.ts"
import { runs } from "../support/runs.ts"

const request: Request = { method: "GET", path: "/a", context: { verb: "get", path: "/a" } }
const response: Response = { status: 200, body: {}, warnings: [] }

/** One attempt: its outcome, a Retry-After in seconds, and the milliseconds until the response. */
interface Attempt {
  readonly outcome: number | "reset" | "hang"
  readonly retryAfter?: number | undefined
  readonly takes?: number | undefined
}

/** Runs a script of attempts (the last one repeats) and returns when each began, when it ended, and how. */
const play = Effect.fnUntraced(function* (
  script: ReadonlyArray<Attempt>,
  options: { readonly repeat: CallPolicy.Repeat; readonly limit?: Duration.Input | undefined }
) {
  const began = yield* Clock.currentTimeMillis
  const starts: Array<number> = []
  let open = 0
  const send = () =>
    Effect.suspend(() => {
      const { outcome, retryAfter, takes = 0 } = script[Math.min(starts.length, script.length - 1)] ?? { outcome: 200 }
      const answer =
        outcome === "hang"
          ? Effect.never
          : outcome === "reset"
            ? Effect.fail(ApiError.network(request.context, new Error("reset")))
            : outcome === 200
              ? Effect.succeed(response)
              : Effect.fail(
                  ApiError.fromStatus({
                    context: request.context,
                    status: outcome,
                    body: undefined,
                    retryAfterSeconds: retryAfter
                  })
                )
      open++
      return Effect.flatMap(Clock.currentTimeMillis, (now) => {
        starts.push(now - began)
        return takes === 0 ? answer : Effect.delay(answer, takes)
      }).pipe(Effect.ensuring(Effect.sync(() => open--)))
    })
  const limit = options.limit === undefined ? undefined : Duration.fromInputUnsafe(options.limit)
  const call = CallPolicy.run(send, request, { repeat: options.repeat, limit, policy: CallPolicy.standard })
  const fiber = yield* Effect.forkChild(
    Effect.flatMap(Effect.result(call), (result) =>
      Effect.map(Clock.currentTimeMillis, (ended) => ({ result, ended: ended - began }))
    )
  )
  yield* TestClock.adjust(Duration.sum(limit ?? Duration.minutes(3), Duration.minutes(1)))
  const { ended, result } = yield* Fiber.join(fiber)
  return { starts, ended, open, failure: Result.isFailure(result) ? result.failure : undefined }
})

const tag = (error: ApiError.ApiError | undefined) => error?.reason._tag

describe("callPolicy", () => {
  it.effect("transient failures of repeatable calls are retried five times, with growing, jittered waits", () =>
    Effect.gen(function* () {
      const { failure, starts } = yield* play([{ outcome: 503 }], { repeat: "repeatable" })
      assert.strictEqual(tag(failure), "ServerError")
      assert.strictEqual(starts.length, 6)
      const gaps = starts.slice(1).map((at, i) => at - (starts[i] ?? 0))
      gaps.forEach((gap, i) => {
        const expected = 100 * 2 ** i
        assert.isTrue(gap >= Math.floor(expected * 0.8) && gap <= Math.ceil(expected * 1.2), gaps.join(", "))
      })
    })
  )

  it.effect("each transient failure is retried, no other", () =>
    Effect.gen(function* () {
      for (const outcome of [429, 500, 502, 503, 504, 408, "reset"] as const) {
        const played = yield* play([{ outcome }, { outcome: 200 }], { repeat: "repeatable" })
        assert.deepStrictEqual([tag(played.failure), played.starts.length], [undefined, 2], String(outcome))
      }
      for (const outcome of [400, 401, 403, 404, 405, 409, 410, 413, 415, 422] as const) {
        const played = yield* play([{ outcome }, { outcome: 200 }], { repeat: "repeatable" })
        assert.deepStrictEqual([played.failure?.status, played.starts.length], [outcome, 1], String(outcome))
      }
    })
  )

  it.effect("Retry-After is a lower bound of the wait, up to thirty seconds", () =>
    Effect.gen(function* () {
      const script = (retryAfter: number) => [{ outcome: 429, retryAfter }, { outcome: 200 }]
      const asked = yield* play(script(7), { repeat: "repeatable" })
      assert.deepStrictEqual(asked.starts, [0, 7000])
      const capped = yield* play(script(3600), { repeat: "repeatable", limit: "10 minutes" })
      assert.deepStrictEqual(capped.starts, [0, 30_000])
    })
  )

  it.effect("without time for another attempt a call fails at once with the server's error", () =>
    Effect.gen(function* () {
      const played = yield* play([{ outcome: 429, retryAfter: 20 }], { repeat: "once", limit: "15 seconds" })
      assert.deepStrictEqual([tag(played.failure), played.ended, played.starts.length], ["TooManyRequests", 0, 1])
      assert.deepStrictEqual(played.failure && ApiError.retryAfter(played.failure), Duration.seconds(20))
    })
  )

  it.effect("an attempt may take longer than the server's own limit, and the call fails with the server's error", () =>
    Effect.gen(function* () {
      const slow = yield* play([{ outcome: 200, takes: 69_999 }], { repeat: "once" })
      assert.deepStrictEqual([slow.failure, slow.ended], [undefined, 69_999])
      const late = yield* play([{ outcome: 504, takes: 60_000 }], { repeat: "repeatable" })
      assert.deepStrictEqual([late.failure?.status, late.ended, late.starts.length], [504, 60_000, 1])
      const dead = yield* play([{ outcome: "hang" }], { repeat: "repeatable" })
      assert.deepStrictEqual([tag(dead.failure), dead.failure?.status], ["Timeout", undefined])
      assert.deepStrictEqual([dead.ended, dead.starts.length, dead.open], [70_000, 1, 0])
    })
  )

  it.effect("no attempt begins after half a minute, and the last one still has its full time", () =>
    Effect.gen(function* () {
      const asked = [
        { outcome: 429, retryAfter: 29 },
        { outcome: 200, takes: 60_000 }
      ]
      const played = yield* play(asked, { repeat: "once" })
      assert.deepStrictEqual([played.failure, played.starts, played.ended], [undefined, [0, 29_000], 89_000])
      const refused = yield* play([{ outcome: 429, retryAfter: 31 }], { repeat: "once" })
      assert.deepStrictEqual([tag(refused.failure), refused.ended], ["TooManyRequests", 0])
    })
  )

  it.effect("a call that hangs fails at its deadline with Timeout, and its attempt is interrupted", () =>
    Effect.gen(function* () {
      const played = yield* play([{ outcome: 503 }, { outcome: "hang" }], {
        repeat: "repeatable",
        limit: "30 seconds"
      })
      assert.deepStrictEqual([tag(played.failure), played.failure?.status], ["Timeout", undefined])
      assert.deepStrictEqual([played.ended, played.open], [30_000, 0])
      assert.include(played.failure?.message ?? "", "no answer within 30s")
    })
  )

  it.effect("a call that is interrupted during a wait sends no more requests (regression case 8)", () =>
    Effect.gen(function* () {
      let sent = 0
      const send = () =>
        Effect.suspend(() => {
          sent++
          return Effect.fail(ApiError.fromStatus({ context: request.context, status: 503, body: undefined }))
        })
      const limit = Duration.seconds(30)
      const fiber = yield* Effect.forkChild(
        CallPolicy.run(send, request, { repeat: "repeatable", limit, policy: CallPolicy.standard })
      )
      yield* TestClock.adjust("50 millis")
      yield* Fiber.interrupt(fiber)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(sent, 1)
      assert.isTrue(Exit.isFailure(yield* Fiber.await(fiber)))
    })
  )
})

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const Situation = Arbitrary.schema(
  Schema.Struct({
    plan: Schema.Array(
      Schema.Struct({
        outcome: Schema.Literals([200, 404, 409, 429, 500, 503, 504, "reset", "hang"]),
        retryAfter: Schema.UndefinedOr(between(0, 90)),
        takes: between(0, 20_000)
      })
    ).check(Schema.isMinLength(1), Schema.isMaxLength(8)),
    limit: Schema.UndefinedOr(between(1000, 120_000)),
    repeat: Schema.Literals(["repeatable", "once"])
  })
)

/** What must hold for every call, whatever the server does. */
const holds = Effect.fnUntraced(function* (
  plan: ReadonlyArray<Attempt>,
  limit: number | undefined,
  repeat: CallPolicy.Repeat
) {
  const { ended, failure, open, starts } = yield* play(plan, { repeat, limit })
  const at = (i: number) => plan[Math.min(i, plan.length - 1)] as Attempt
  const count = starts.length
  assert.strictEqual(open, 0, "nothing is left running")
  assert.isAtMost(ended, limit ?? 30_000 + 70_000, "the deadline holds")
  assert.isTrue(
    starts.every((at) => at < (limit ?? 30_000)),
    "no attempt begins when it is too late"
  )
  assert.isAtMost(count, 6, "attempts are capped")
  for (let i = 0; i + 1 < count; i++) {
    const { outcome, retryAfter, takes = 0 } = at(i)
    const repeatable = outcome === "reset" || (typeof outcome === "number" && (outcome >= 500 || outcome === 429))
    assert.isTrue(repeat === "repeatable" ? repeatable : outcome === 429, `no attempt after ${outcome}`)
    const waited = (starts[i + 1] ?? 0) - (starts[i] ?? 0) - takes
    const asked = outcome === "reset" || retryAfter === undefined ? 0 : Math.min(retryAfter, 30) * 1000
    assert.isAtLeast(waited, Math.max(asked, 80), "the server's wish and our own backoff are lower bounds")
    assert.isAtMost(waited, Math.max(asked, 6000), "waits are bounded")
  }
  const last = at(count - 1).outcome
  if (failure === undefined) assert.strictEqual(last, 200)
  else if (failure.status === undefined && failure.reason._tag === "Timeout")
    assert.strictEqual(ended, limit ?? (starts.at(-1) ?? 0) + 70_000)
  else if (failure.status !== undefined) assert.strictEqual(failure.status, last, "the last answer is the one told")
})

const property = Arbitrary.checkEffect(
  Situation,
  ({ limit, plan, repeat }) =>
    holds(plan, limit, repeat).pipe(
      Effect.as(true),
      Effect.catchCause((cause) => Effect.fail(Cause.pretty(cause)))
    ),
  { runs: runs(300) }
)

it.effect("whatever a server does, time and attempts are bounded, and only repeatable calls are retried", () =>
  Effect.gen(function* () {
    assert.isUndefined(Arbitrary.formatCheckFailure(yield* property))
  })
)
