/** Random lives of a Job: the world turns in any order, processes end between any two writes, and each pod is counted once. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as JobLoop from "../../../src/controllers/job/loop.ts"
import { loadThrough } from "../../support/mutant.ts"
import { runs, seed } from "../../support/runs.ts"
import { check } from "./model/check.ts"
import { Action, Setup } from "./model/script.ts"

const scripts = Arbitrary.schema(Schema.Struct({ setup: Setup, actions: Schema.Array(Action) }))

const holds = (module: typeof JobLoop, options: Arbitrary.CheckOptions) =>
  Arbitrary.checkEffect(
    scripts,
    (script) =>
      check(module, script).pipe(
        Effect.provide(TestClock.layer()),
        Effect.flatMap((wrong) => (wrong === undefined ? Effect.succeed(true) : Effect.fail(wrong)))
      ),
    { size: 25, seed, ...options }
  )

describe("the Job loop, whatever happens", () => {
  it.effect(
    "counts each pod once, runs no more than it may, and ends once",
    () =>
      Effect.map(holds(JobLoop, { runs: runs(400), maxShrinks: 500 }), (result) =>
        assert.strictEqual(result._tag, "Passed", Arbitrary.formatCheckFailure(result))
      ),
    120_000
  )
})

interface Mutant {
  readonly title: string
  readonly file: string
  readonly find: string
  readonly replace: string
}

const mutants: ReadonlyArray<Mutant> = [
  {
    title: "a failed pod is let go and not written down",
    file: "plan/tracking.ts",
    find: "if (isCounted) failed.push(uid)",
    replace: "if (isCounted && index === -1) failed.push(uid)"
  },
  {
    title: "a pod that has succeeded is let go and not written down",
    file: "plan/tracking.ts",
    find: "else if (!uncounted.succeeded.has(uid)) succeeded.push(uid)",
    replace: ""
  },
  {
    title: "an index that has succeeded is forgotten",
    file: "plan/tracking.ts",
    find: "if (isNewIn(progress, index)) indexes.push(index)",
    replace: ""
  },
  {
    title: "a pod is counted while it is held",
    file: "plan/tracking.ts",
    find: "failed: failed.filter((uid) => held.has(uid)) }",
    replace: "failed: failed.filter((uid) => held.has(uid) && uid === held.size.toString()) }"
  },
  {
    title: "a pod that could not be let go is counted",
    file: "work.ts",
    find: "kept.add(pod)",
    replace: ""
  },
  {
    title: "nobody remembers who was let go",
    file: "work.ts",
    find: "books.release(key, uid)",
    replace: ""
  },
  {
    title: "as many pods at once as are missing",
    file: "plan/manage.ts",
    find: "Math.min(completions - succeeded, Spec.parallelism(job))",
    replace: "completions - succeeded"
  },
  {
    title: "nobody remembers that pods were asked for",
    file: "work.ts",
    find: "expectations.expectCreations(key, count, now)",
    replace: ""
  },
  {
    title: "over while some are on their way out",
    file: "plan/tracking.ts",
    find: "|| (status.terminating ?? 0) > 0",
    replace: ""
  },
  {
    title: "over although some could not be deleted",
    file: "work.ts",
    find: "gone.length === look.active.length && look.isSettled",
    replace: "look.isSettled"
  },
  {
    title: "an end is told at once",
    file: "plan/tracking.ts",
    find: "verdict === undefined || verdict.isStored ? undefined : Verdict.interim(verdict)",
    replace: "undefined as Conditions.Claim | undefined"
  },
  {
    title: "a new term acts on what its cache shows",
    file: "handover.ts",
    find: "books.isOurs(uid) ||",
    replace: "uid !== undefined ||"
  },
  {
    title: "a lost answer is taken for a refusal",
    file: "../workload/handover.ts",
    find: "if (uid !== undefined && ApiError.hasReason(error, ...unanswered)) disown(uid)",
    replace: ""
  },
  {
    title: "a pod of a living Job is let go",
    file: "orphans.ts",
    find: "!Spec.isManagedElsewhere(job) && Spec.isFinished(job) ?",
    replace: "!Spec.isManagedElsewhere(job) ?"
  },
  {
    title: "an end is forgotten until the cache shows it",
    file: "sync.ts",
    find: "|| books.hasEnded(uid)",
    replace: ""
  },
  {
    title: "pods are made for a suspended Job",
    file: "plan/manage.ts",
    find: "if (Spec.isSuspended(look.job)) return deletion(look.active)",
    replace: ""
  }
]

describe("mutants of the Job loop", () => {
  for (const { file, find, replace, title } of mutants) {
    it.effect(
      title,
      () =>
        Effect.gen(function* () {
          const mutation = { title, find, replace }
          const mutant = yield* Effect.promise(() =>
            loadThrough<typeof JobLoop>("controllers/job/loop.ts", `controllers/job/${file}`, mutation)
          )
          const result = yield* holds(mutant, { runs: 3000, maxShrinks: 0, seed: 1 })
          assert.strictEqual(result._tag, "Falsified")
        }),
      60_000
    )
  }
})
