/**
 * The fence in virtual time: a term that expires, is renewed or is lost at random, a transport in which requests wait at random before their
 * first byte is sent, and a server that fails, throttles and responds late. The test's transport reads the clock itself: a write that it
 * starts while leadership is uncertain is a violation.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import * as ApiError from "../../src/kube/ApiError.ts"
import * as Patch from "../../src/kube/Patch.ts"
import { ConfigMap } from "../../src/kube/resources.ts"
import * as Fence from "../../src/layers/fence.ts"
import { type Client, KubeClient } from "../../src/layers/KubeClient.ts"
import { LeaderLost, type Term } from "../../src/layers/Leadership.ts"
import { type Request, type Response, Transport } from "../../src/layers/Transport.ts"
import { runs } from "../support/runs.ts"

const int = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const Attempt = Schema.Struct({
  /** Milliseconds before the first byte is sent. */
  queued: int(0, 6_000),
  outcome: Schema.Literals([200, 200, 404, 409, 429, 429, 429, 503, "reset"]),
  /** Milliseconds from the first byte to the response. */
  takes: int(0, 6_000)
})

const Situation = Schema.Struct({
  term: Schema.Struct({
    /** When the proof would run out, each renewal moving it on by so much if it comes in time. */
    proof: int(1, 5_000),
    renewals: Schema.Array(Schema.Struct({ at: int(0, 15_000), valid: int(1, 8_000) })).check(Schema.isMaxLength(4)),
    /** The term is lost at this time, if it lasts so long. */
    stolen: Schema.NullOr(int(0, 20_000)),
    /** Milliseconds from the end of the term until it is noticed. */
    late: Schema.Union([Schema.Literal(0), int(0, 10_000)])
  }),
  /** A transport that ignores `mayStartUnsafe` and has no queue. */
  careless: Schema.Boolean,
  calls: Schema.Array(
    Schema.Struct({
      at: int(0, 20_000),
      verb: Schema.Literals(["get", "create", "update", "patch", "delete"]),
      attempts: Schema.Array(Attempt).check(Schema.isMinLength(1), Schema.isMaxLength(4))
    })
  ).check(Schema.isMinLength(1), Schema.isMaxLength(8))
})
type Situation = typeof Situation.Type
type Call = Situation["calls"][number]

const now: Effect.Effect<number> = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1e6)

/** Until when the plan says that this process is certainly the leader. */
const endOf = ({ proof, renewals, stolen }: Situation["term"]): number => {
  let until = proof
  for (const { at, valid } of [...renewals].sort((a, b) => a.at - b.at)) {
    if (at < until) until = Math.max(until, at + valid)
  }
  return stolen === null ? until : Math.min(until, stolen)
}

const termOf = Effect.fnUntraced(function* (plan: Situation["term"]) {
  const clock = yield* Clock.Clock
  const began = clock.monotonicTimeNanosUnsafe()
  const lost = yield* Deferred.make<LeaderLost>()
  const end = endOf(plan)
  yield* Effect.forkScoped(
    Effect.delay(Deferred.succeed(lost, new LeaderLost({ reason: "NotRenewed", message: "over" })), end + plan.late)
  )
  const term: Term = {
    lost: Deferred.await(lost),
    isValidUnsafe: () => Number(clock.monotonicTimeNanosUnsafe() - began) / 1e6 < end
  }
  return { term, end, told: end + plan.late }
})

interface Attempted {
  readonly method: string
  /** Milliseconds: when its first byte was sent, and when it ended, with a response or without. */
  started?: number
  ended?: number
}

const answerOf = (request: Request, outcome: Call["attempts"][number]["outcome"]) => {
  if (outcome === "reset") return Effect.fail(ApiError.network(request.context, new Error("reset")))
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "default" } }
  return outcome === 200
    ? Effect.succeed<Response>({ status: 200, body, warnings: [] })
    : Effect.fail(ApiError.fromStatus({ context: request.context, status: outcome, body: undefined }))
}

/** The attempts of a request are found by the name of its object. */
const wire = (situation: Situation, attempted: Array<Attempted>): Transport["Service"] => {
  const counts = new Map<number, number>()
  return {
    watch: () => Stream.never,
    send: (request) =>
      Effect.suspend(() => {
        const call = Number(/-(\d+)$/.exec(String(request.context.name))?.[1])
        const count = counts.get(call) ?? 0
        counts.set(call, count + 1)
        const { attempts } = situation.calls[call] as Call
        const { outcome, queued, takes } = attempts[Math.min(count, attempts.length - 1)] as Call["attempts"][number]
        const attempt: Attempted = { method: request.method }
        attempted.push(attempt)
        const begin = Effect.flatMap(now, (at) => {
          if (!situation.careless && request.mayStartUnsafe?.() === false) {
            return Effect.fail(ApiError.leaderFenced(request.context))
          }
          attempt.started = at
          return Effect.delay(answerOf(request, outcome), takes)
        })
        return Effect.ensuring(
          situation.careless ? begin : Effect.delay(begin, queued),
          Effect.map(now, (at) => (attempt.ended = at))
        )
      })
  }
}

const callOf = (client: Client, { verb }: Call, index: number) => {
  const target = { namespace: "default", name: `call-${index}` }
  const object = { metadata: { ...target, resourceVersion: "1" } }
  switch (verb) {
    case "get":
      return client.get(ConfigMap, target)
    case "create":
      return client.create(ConfigMap, { metadata: target })
    case "update":
      return client.update(ConfigMap, object)
    case "patch":
      return client.patch(ConfigMap, target, Patch.merge({}))
    case "delete":
      return client.delete(ConfigMap, target)
  }
}

const refusals = Effect.map(Metric.value(Fence.fencedWrites), ({ count }) => count)

/** Fails where a write starts while leadership is uncertain, is rejected while it is certain, or is rejected and not counted. */
const holdsIn = (situation: Situation) =>
  Effect.gen(function* () {
    const zero = yield* now
    const { end, term, told } = yield* termOf(situation.term)
    const attempted: Array<Attempted> = []
    const transport = Layer.succeed(Transport, wire(situation, attempted))
    const client = Fence.client(
      yield* Effect.provide(KubeClient, Layer.fresh(Layer.provide(KubeClient.layer, transport))),
      Effect.succeed(term)
    )
    const before = yield* refusals
    const fibers: Array<Fiber.Fiber<{ readonly exit: Exit.Exit<unknown, ApiError.ApiError>; readonly at: number }>> = []
    for (const [index, call] of situation.calls.entries()) {
      const run = Effect.flatMap(Effect.exit(callOf(client, call, index)), (exit) =>
        Effect.map(now, (at) => ({ exit, at }))
      )
      fibers.push(yield* Effect.forkChild(Effect.delay(run, call.at)))
    }
    yield* TestClock.adjust("3 minutes")
    let fenced = 0
    for (const [index, call] of situation.calls.entries()) {
      const fiber = fibers[index] as (typeof fibers)[number]
      const { at, exit } = yield* Fiber.join(fiber)
      const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
      const isFenced = ApiError.isApiError(error) && ApiError.hasReason(error, "LeaderFenced")
      if (call.verb === "get") {
        assert.isFalse(isFenced, "reads are not fenced")
        continue
      }
      if (isFenced) fenced++
      const over = at - zero
      if (call.at >= end) assert.isTrue(isFenced && over === call.at, "a write without proof is refused at once")
      assert.isAtMost(over, Math.max(call.at, told), "a write is over when the word of the end has come")
      const [first] = call.attempts
      const wait = situation.careless ? 0 : (first?.queued ?? 0)
      const whole = call.at + wait + (first?.takes ?? 0)
      if (first?.outcome === 200 && call.at + wait < end && whole < told) {
        assert.isTrue(Exit.isSuccess(exit), "a write that started with proof and was answered in time succeeds")
      }
    }
    for (const { ended = Infinity, method, started = -Infinity } of attempted) {
      if (method === "GET") continue
      assert.isBelow(started - zero, end, `a ${method} started without proof`)
      assert.isAtMost(ended - zero, told, `a ${method} is waited for although the word of the end has come`)
    }
    assert.strictEqual((yield* refusals) - before, fenced, "every refusal is counted")
  }).pipe(Effect.scoped, Effect.provide(TestClock.layer()))

describe("fence", () => {
  it.effect("for all delays, no write starts when leadership is uncertain, and all others do", () =>
    Effect.gen(function* () {
      const result = yield* Arbitrary.checkEffect(
        Arbitrary.schema(Situation),
        (situation) =>
          holdsIn(situation).pipe(
            Effect.as(true),
            Effect.catchCause((cause) => Effect.fail(Cause.pretty(cause)))
          ),
        { runs: runs(300) }
      )
      assert.isUndefined(Arbitrary.formatCheckFailure(result))
    })
  )

  it.effect("the failure says whether the write may have happened, and is not retried", () =>
    Effect.gen(function* () {
      const situation: Situation = {
        term: { proof: 1000, renewals: [], stolen: null, late: 0 },
        careless: false,
        calls: [
          { at: 500, verb: "patch", attempts: [{ queued: 0, outcome: 200, takes: 2000 }] },
          { at: 1500, verb: "update", attempts: [{ queued: 0, outcome: 200, takes: 0 }] }
        ]
      }
      const attempted: Array<Attempted> = []
      const { term } = yield* termOf(situation.term)
      const transport = Layer.succeed(Transport, wire(situation, attempted))
      const client = Fence.client(
        yield* Effect.provide(KubeClient, Layer.provide(KubeClient.layer, transport)),
        Effect.succeed(term)
      )
      const messages: Array<string> = []
      for (const [index, call] of situation.calls.entries()) {
        const run = Effect.flip(Effect.delay(callOf(client, call, index), call.at))
        yield* Effect.forkChild(Effect.map(run, ({ message }) => messages.push(message)))
      }
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(messages, [
        "given up, because this process no longer leads, or no longer has the shard; whether the server has done it is not known",
        "not sent: this process can no longer prove that it leads, or that it has the shard"
      ])
      assert.deepStrictEqual(
        attempted.map(({ method }) => method),
        ["PATCH"]
      )
    }).pipe(Effect.scoped)
  )
})
