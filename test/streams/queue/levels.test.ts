/**
 * Level-based, not edge-based: a reconcile receives a key, so the final state does not depend on the order, number and content of the events
 * that queued it. Source: controller-runtime's pkg/reconcile.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Schema from "effect/Schema"
import { TestClock } from "effect/testing"
import type { PartialObjectMetadata } from "../../../src/kube/Meta.ts"
import type { Delta } from "../../../src/streams/store/Store.ts"
import * as KeyedQueue from "../../../src/streams/queue/KeyedQueue.ts"
import * as Reconcile from "../../../src/streams/reconcile/Reconcile.ts"
import * as Trigger from "../../../src/streams/store/trigger.ts"
import { runs } from "../../support/runs.ts"

const int = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const Plan = Schema.Struct({
  /** The object changes, an event about any of its states arrives, or time passes. */
  steps: Schema.Array(Schema.Struct({ do: Schema.Literals(["change", "event", "wait"]), n: int(0, 9) })),
  /** How long each run takes, in milliseconds; one that takes 0 fails. */
  runs: Schema.NonEmptyArray(int(0, 5)),
  last: int(0, 9)
})
type Plan = typeof Plan.Type

const state = (version: number): PartialObjectMetadata => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", namespace: "default", resourceVersion: String(version) }
})

/** An event about the object at that version, whatever its present version is. */
const event = (version: number, n: number): Delta<PartialObjectMetadata> => {
  const object = state(version)
  if (n % 3 === 0) return { _tag: "Created", object, initial: n % 2 === 0 }
  if (n % 3 === 1) return { _tag: "Updated", object, previous: n === 4 ? object : state(Math.max(0, version - 1)) }
  return { _tag: "Deleted", object, stateUnknown: n % 2 === 0 }
}

/** Advances time until no work is left. */
const atRest = Effect.fnUntraced(function* (queue: KeyedQueue.KeyedQueue) {
  const left = () => {
    const { processing, ready, waiting } = queue.stats()
    return processing + ready + waiting
  }
  while (left() > 0) yield* TestClock.adjust("1 second")
})

/** The final version of the object, and the version that was reconciled last. */
const outcome = (plan: Plan) =>
  Effect.gen(function* () {
    const queue = yield* KeyedQueue.make()
    let [desired, actual, attempts] = [0, -1, 0]
    const reconcile = () =>
      Effect.gen(function* () {
        const seen = desired
        // After ten attempts every run succeeds.
        const millis = attempts >= 10 ? 1 : (plan.runs[attempts % plan.runs.length] ?? 1)
        attempts++
        if (millis === 0) return yield* Effect.fail("no")
        yield* Effect.sleep(millis)
        actual = seen
      })
    yield* Effect.forkScoped(Reconcile.run(queue, { concurrency: 2, reconcile }), { startImmediately: true })
    const queueEvent = (n: number) => queue.addAllUnsafe(Trigger.self(event(Math.min(desired, n), n)))
    for (const { do: what, n } of plan.steps) {
      if (what === "change") desired++
      if (what === "event") queueEvent(n)
      if (what === "wait") yield* TestClock.adjust(n)
    }
    queueEvent(plan.last)
    yield* atRest(queue)
    return { desired, actual }
  }).pipe(Effect.scoped, Effect.provide(TestClock.layer()))

describe("level-based", () => {
  it.effect("a thousand orders of events about one object end with the same state", () =>
    Effect.gen(function* () {
      const result = yield* Arbitrary.checkEffect(
        Arbitrary.schema(Plan),
        (plan) => Effect.map(outcome(plan), ({ actual, desired }) => actual === desired),
        { size: 30, runs: runs(1000) }
      )
      assert.isUndefined(Arbitrary.formatCheckFailure(result))
    })
  )

  it.effect("ten thousand events about a key in flight cause one more run", () =>
    Effect.gen(function* () {
      const queue = yield* KeyedQueue.make()
      const gate = Latch.makeUnsafe(false)
      let begun = 0
      const reconcile = () =>
        Effect.andThen(
          Effect.sync(() => void begun++),
          gate.await
        )
      yield* Effect.forkScoped(Reconcile.run(queue, { concurrency: 4, reconcile }), { startImmediately: true })
      queue.addAllUnsafe(Trigger.self(event(0, 0)))
      yield* TestClock.adjust(0)
      assert.strictEqual(begun, 1)
      for (let n = 0; n < 10_000; n++) queue.addAllUnsafe(Trigger.self(event(n, n % 10)))
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(begun, 1)
      yield* gate.open
      yield* atRest(queue)
      assert.strictEqual(begun, 2)
    })
  )
})
