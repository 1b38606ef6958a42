/** Random lives of a CronJob: the world turns in any order, processes end between any two writes, and no time is run twice. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as CronJobLoop from "../../../src/controllers/cronjob/loop.ts"
import * as Runs from "../../../src/controllers/cronjob/plan/runs.ts"
import { loadThrough } from "../../support/mutant.ts"
import { runs, seed } from "../../support/runs.ts"
import { check } from "./model/check.ts"
import { Action, Setup } from "./model/script.ts"
import { World } from "./model/World.ts"

const scripts = Arbitrary.schema(Schema.Struct({ setup: Setup, actions: Schema.Array(Action) }))

const holds = (module: typeof CronJobLoop, options: Arbitrary.CheckOptions) =>
  Arbitrary.checkEffect(
    scripts,
    (script) =>
      check(module, script).pipe(
        Effect.provide(TestClock.layer()),
        Effect.flatMap((wrong) => (wrong === undefined ? Effect.succeed(true) : Effect.fail(wrong)))
      ),
    { size: 40, seed, ...options }
  )

describe("the CronJob loop, whatever happens", () => {
  it.effect(
    "runs no time twice, nothing beside what is to be alone, and comes to rest with the truth",
    () =>
      Effect.map(holds(CronJobLoop, { runs: runs(600), maxShrinks: 500 }), (result) =>
        assert.strictEqual(result._tag, "Passed", Arbitrary.formatCheckFailure(result))
      ),
    120_000
  )

  it.effect("makes four weeks of runs in a moment, each once", () =>
    Effect.gen(function* () {
      const world = new World(CronJobLoop, { policy: "Forbid", succeededKept: 2, failedKept: 1, deadline: 0 }, 0)
      yield* world.start(0, 0)
      world.changeSpec({ schedule: "*/15 * * * 1-5", timeZone: "Europe/Berlin" })
      const weeks = 4 * 7 * 86_400_000
      while (world.now < weeks) {
        yield* world.rest()
        while (world.unfinished().length > 0) world.finish(0, world.made.size % 5 === 0 ? "Failed" : "Complete")
        yield* world.rest()
        yield* world.wait(Math.max(1, (world.due ?? weeks) - world.now))
      }
      assert.isUndefined(world.wrong)
      // Twenty working days of ninety-six runs, but the last; 1970 began when it was one o'clock on a Thursday in Berlin.
      assert.strictEqual(world.made.size, 20 * 96 - 1)
      assert.deepStrictEqual(Runs.activeOf(Runs.statusOf(world.cronJob)), [])
      assert.lengthOf([...world.jobs], 3)
    }).pipe(Effect.provide(TestClock.layer()))
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
    title: "a run is deleted before it is written down",
    file: "plan/history.ts",
    find: "<= last)",
    replace: "< Infinity)"
  },
  {
    title: "one run too many is kept",
    file: "plan/history.ts",
    find: "slice(0, ended.length - limit)",
    replace: "slice(0, ended.length - limit - 1)"
  },
  {
    title: "a run that was made and not written down is a stranger",
    file: "plan/account.ts",
    find: "if (isUnwritten) status = Runs.withActive(",
    replace: "if (isUnwritten && status === undefined) status = Runs.withActive("
  },
  {
    title: "a run that has ended stays on the list",
    file: "plan/account.ts",
    find: "if (end !== undefined && isActive) {",
    replace: "if (end !== undefined && isActive && name === uid) {"
  },
  {
    title: "a run that is gone stays on the list",
    file: "plan/account.ts",
    find: "Runs.activeOf(status).filter((one) => !gone.includes(one))",
    replace: "Runs.activeOf(status)"
  },
  {
    title: "nobody notes a success",
    file: "plan/account.ts",
    find: 'if (end === "Complete") status = succeededAt(status, job)',
    replace: ""
  },
  {
    title: "a new term acts on what its cache shows",
    file: "handover.ts",
    find: "if (books.isOurs(uid)) return true",
    replace: "if (uid !== undefined) return true"
  },
  {
    title: "a new term does not ask for runs",
    file: "handover.ts",
    find: "run.isAlone &&",
    replace: "run.isAlone && uid === undefined &&"
  },
  {
    title: "an old answer is believed",
    file: "handover.ts",
    find: "known.asked > books.inDoubtSince(uid)",
    replace: "known.asked >= 0"
  },
  {
    title: "a lost answer is taken for a refusal",
    file: "handover.ts",
    find: "books.disown(uid)",
    replace: "undefined"
  },
  {
    title: "the list is empty before the runs are gone",
    file: "sync.ts",
    find: "if (removed.failure !== undefined) {",
    replace: "if (removed.failure === undefined && status === undefined) {"
  },
  {
    title: "what is to be replaced stays",
    file: "plan/decide.ts",
    find: 'const replaces = concurrencyPolicy === "Replace" ? active : []',
    replace: "const replaces = active.slice(active.length)"
  },
  {
    title: "nothing is forbidden",
    file: "plan/decide.ts",
    find: 'if (concurrencyPolicy === "Forbid" && active.length > 0)',
    replace: 'if (concurrencyPolicy === "Forbid" && active.length > 9)'
  },
  {
    title: "the first of the times that were missed is run",
    file: "plan/due.ts",
    find: "const time = missed === 0 ? first : (Schedule.latest(schedule, earliest, now) ?? first)",
    replace: "const time = first"
  },
  {
    title: "after a failure nobody comes back for the next time",
    file: "sync.ts",
    find: "decision.wait === undefined ? Reconcile.done : Reconcile.after(decision.wait)",
    replace: "Reconcile.done"
  }
]

describe("mutants of the CronJob loop", () => {
  for (const { file, find, replace, title } of mutants) {
    it.effect(
      title,
      () =>
        Effect.gen(function* () {
          const mutation = { title, find, replace }
          const mutant = yield* Effect.promise(() =>
            loadThrough<typeof CronJobLoop>("controllers/cronjob/loop.ts", `controllers/cronjob/${file}`, mutation)
          )
          const result = yield* holds(mutant, { runs: 3000, maxShrinks: 0, seed: 1 })
          assert.strictEqual(result._tag, "Falsified")
        }),
      60_000
    )
  }
})
