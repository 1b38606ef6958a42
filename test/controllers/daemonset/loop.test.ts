/** Random lives of a DaemonSet: nodes come and go, the world turns in any order, processes end between any two writes. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as DaemonLoop from "../../../src/controllers/daemonset/loop.ts"
import { loadThrough } from "../../support/mutant.ts"
import { runs, seed } from "../../support/runs.ts"
import { check, Script } from "./check.ts"

const holds = (module: typeof DaemonLoop, options: Arbitrary.CheckOptions) =>
  Arbitrary.checkEffect(
    Arbitrary.schema(Script),
    (script) =>
      check(module, script).pipe(
        Effect.provide(TestClock.layer()),
        Effect.flatMap((wrong) => (wrong === undefined ? Effect.succeed(true) : Effect.fail(wrong)))
      ),
    { size: 25, seed, ...options }
  )

describe("the DaemonSet loop, whatever happens", () => {
  it.effect(
    "leaves no node without its daemon, gives none two, and takes no more at once than it may",
    () =>
      Effect.map(holds(DaemonLoop, { runs: runs(400), maxShrinks: 500 }), (result) =>
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
    title: "nobody remembers what was asked for",
    file: "daemonset/work.ts",
    find: "    create.length,\n    remove.map(({ pod }) => Key.of(pod)),",
    replace: "    0,\n    [],"
  },
  {
    title: "pods that were never made stay expected",
    file: "daemonset/work.ts",
    find: "for (let i = succeeded; i < create.length; i++) books.creationObserved(Key.of(set))",
    replace: ""
  },
  {
    title: "deletions that were refused stay expected",
    file: "daemonset/work.ts",
    find: "          lower(deletion)\n          failure ??= error",
    replace: "          failure ??= error"
  },
  {
    title: "an update goes on beside what else there is to do",
    file: "daemonset/sync.ts",
    find: "const step = Step.isNothing(managed) ? Rolling.decide(look) : managed",
    replace:
      "const rolled = Rolling.decide(look)\n  const step = { create: [...managed.create, ...rolled.create], remove: [...managed.remove, ...rolled.remove] }"
  },
  {
    title: "an update takes one node too many",
    file: "daemonset/plan/rolling.ts",
    find: "Math.max(0, maxUnavailable - unavailable)",
    replace: "Math.max(0, maxUnavailable - unavailable + 1)"
  },
  {
    title: "nodes whose pod is on its way out do not count as unavailable",
    file: "daemonset/plan/rolling.ts",
    find: "    unavailable++\n    if (only",
    replace: "    if (only !== undefined) unavailable++\n    if (only"
  },
  {
    title: "the old pod goes before the new one works",
    file: "daemonset/plan/manage.ts",
    find: "(!PodFacts.isReady(oldest) || Look.isAvailable(look, newest))",
    replace: "(!PodFacts.isReady(oldest) || PodFacts.isReady(oldest))"
  },
  {
    title: "old pods that do not work stay",
    file: "daemonset/plan/rolling.ts",
    find: "remove: [...broken, ...working.slice(0, room)]",
    replace: "remove: [...working.slice(0, room)]"
  },
  {
    title: "failed pods stay",
    file: "daemonset/plan/manage.ts",
    find: 'if (held === 0) ended.push({ pod, why: "failed" })',
    replace: ""
  },
  {
    title: "nobody comes back for a failed pod",
    file: "daemonset/sync.ts",
    find: "      done.wait ?? Infinity,\n",
    replace: ""
  },
  {
    title: "taints are not looked at",
    file: "daemonset/plan/eligibility.ts",
    find: '["NoSchedule", "NoExecute"]) === undefined) return welcome',
    replace: '["NoExecute"]) === undefined) return welcome'
  },
  {
    title: "pods stay where nothing may run",
    file: "daemonset/plan/eligibility.ts",
    find: "? endured : unwanted",
    replace: "? endured : endured"
  },
  {
    title: "a node that changes wakes nobody",
    file: "daemonset/triggers.ts",
    find: 'if (delta._tag === "Updated" && isSamePlace(delta.previous, object)) return none',
    replace: 'if (delta._tag === "Updated") return none'
  },
  {
    title: "a new node wakes nobody",
    file: "daemonset/triggers.ts",
    find: 'delta._tag === "Created" && delta.initial',
    replace: 'delta._tag === "Created"'
  },
  {
    title: "a node that goes wakes nobody",
    file: "daemonset/triggers.ts",
    find: 'if (delta._tag === "Deleted") return isThere',
    replace: 'if (delta._tag === "Deleted") return false'
  },
  {
    title: "its own revision is a collision",
    file: "daemonset/history.ts",
    find: "if (History.isOf(holder, set.spec?.template)) return holder",
    replace: ""
  },
  {
    title: "a template that comes back keeps its number",
    file: "revisions/history.ts",
    find: "Math.max(next, current?.revision ?? 0)",
    replace: "current?.revision ?? next"
  },
  {
    title: "revisions in use are deleted",
    file: "revisions/history.ts",
    find: '.filter((revision) => !isUsed(hashOf(revision) ?? ""))',
    replace: ""
  },
  {
    title: "a generation is observed although nothing was done",
    file: "daemonset/sync.ts",
    find: "Effect.result(tell(ports, look, done.wasManaged))",
    replace: "Effect.result(tell(ports, look, false))"
  },
  {
    title: "a new term acts on what its cache shows",
    file: "daemonset/handover.ts",
    find: "if (trust.isOurs(uid))",
    replace: "if (true)"
  },
  {
    title: "a lost answer is taken for a refusal",
    file: "workload/handover.ts",
    find: "if (uid !== undefined && ApiError.hasReason(error, ...unanswered)) disown(uid)",
    replace: ""
  },
  {
    title: "updated pods are not counted",
    file: "daemonset/plan/status.ts",
    find: "updatedNumberScheduled: updated,",
    replace: "updatedNumberScheduled: 0,"
  },
  {
    title: "the status is written whether or not it is news",
    file: "daemonset/plan/status.ts",
    find: "return isSame ? before : next",
    replace: "return next"
  },
  {
    title: "a conflict of the status is not repeated, and nobody comes back",
    file: "daemonset/sync.ts",
    find: 'if (written._tag === "Failure") return yield* written.failure',
    replace: 'if (written._tag === "Failure") return'
  }
]

describe("mutants of the DaemonSet loop", () => {
  for (const { file, find, replace, title } of mutants) {
    it.effect(
      title,
      () =>
        Effect.gen(function* () {
          const mutation = { title, find, replace }
          const mutant = yield* Effect.promise(() =>
            loadThrough<typeof DaemonLoop>("controllers/daemonset/loop.ts", `controllers/${file}`, mutation)
          )
          const result = yield* holds(mutant, { runs: 3000, maxShrinks: 0, seed: 1 })
          assert.strictEqual(result._tag, "Falsified")
        }),
      60_000
    )
  }
})
