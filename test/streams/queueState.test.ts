import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as QueueState from "../../src/streams/queueState.ts"
import { load, type Mutation } from "../support/mutant.ts"
import { runs } from "../support/runs.ts"
import { agrees, operations, steps } from "./queueModel.ts"

const property = (module: typeof QueueState, options: Arbitrary.CheckOptions) =>
  Arbitrary.checkEffect(
    operations,
    (program) =>
      Effect.try({
        try: () => {
          agrees(module, program, true)
          agrees(module, program, false)
          return true
        },
        catch: (error) => (error instanceof Error ? error.message : String(error))
      }),
    { size: 300, ...options }
  )

describe("the queue's state machine", () => {
  it.effect("agrees with the reference model over 10,000 random operations and more", () =>
    Effect.gen(function* () {
      steps.count = 0
      const result = yield* property(QueueState, { runs: runs(300) })
      assert.isUndefined(Arbitrary.formatCheckFailure(result))
      assert.isAtLeast(steps.count, 10_000)
    })
  )

  const mutants: ReadonlyArray<Mutation> = [
    {
      title: "dropped wake-up",
      find: "this.ready.push(entry)\n    this.options.onReady()",
      replace: "this.ready.push(entry)"
    },
    {
      title: "two workers on one key",
      find: "this.remember(entry, rank, due)",
      replace: "{ this.processing--; this.makeReady(entry) }"
    },
    {
      title: "backoff that never resets",
      find: "if (this.failed.size > 0) this.failed.delete(key)",
      replace: ""
    },
    { title: "later deadline wins", find: "else if (due < entry.due) this", replace: "else if (due > entry.due) this" },
    {
      title: "later deadline wins in flight",
      find: "if (due < entry.pendingDue)",
      replace: "if (due > entry.pendingDue)"
    },
    {
      title: "FIFO broken by an add that merges",
      find: "if (priority <= entry.priority)",
      replace: "if (priority < entry.priority)"
    },
    {
      title: "add while in flight forgotten",
      find: "if (entry.pending && this.mode",
      replace: "if (this.mode === 'draining' && this.mode"
    },
    {
      title: "lower priority wins",
      find: "if (priority > entry.priority) entry",
      replace: "if (priority < entry.priority) entry"
    },
    {
      title: "longer delay of rate limit and after",
      find: "Math.min(this.options.backoff(failures), after)",
      replace: "this.options.backoff(failures)"
    },
    {
      title: "timer not told of an earlier key",
      find: "if (this.delayed.peek() === entry) this",
      replace: "if (this.delayed.size === 1) this"
    },
    {
      title: "drain drops ready keys",
      find: "const dropped = drain ? Waiting : Ready",
      replace: "const dropped = Ready"
    },
    { title: "the end of a drain not told", find: 'if (this.mode === "draining") this.options.onReady()', replace: "" }
  ]
  for (const mutant of mutants) {
    it.effect(`mutant is caught: ${mutant.title}`, () =>
      Effect.gen(function* () {
        const module = yield* Effect.promise(() => load<typeof QueueState>("streams/queueState.ts", mutant))
        const result = yield* property(module, { runs: 400, seed: 1 })
        assert.strictEqual(result._tag, "Falsified")
      })
    )
  }
})
