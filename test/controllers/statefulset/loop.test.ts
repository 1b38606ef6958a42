/** Random lives of a StatefulSet: users change their minds, the world turns in any order, processes end between any two writes. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as StatefulLoop from "../../../src/controllers/statefulset/loop.ts"
import { loadThrough } from "../../support/mutant.ts"
import { runs, seed } from "../../support/runs.ts"
import { check, Script } from "./check.ts"

const holds = (module: typeof StatefulLoop, options: Arbitrary.CheckOptions) =>
  Arbitrary.checkEffect(
    Arbitrary.schema(Script),
    (script) =>
      check(module, script).pipe(
        Effect.provide(TestClock.layer()),
        Effect.flatMap((wrong) => (wrong === undefined ? Effect.succeed(true) : Effect.fail(wrong)))
      ),
    { size: 25, seed, ...options }
  )

describe("the StatefulSet loop, whatever happens", () => {
  it.effect(
    "keeps every order there is, and brings all replicas up",
    () =>
      Effect.map(holds(StatefulLoop, { runs: runs(500), maxShrinks: 500 }), (result) =>
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
    title: "an ordered set waits for nobody",
    file: "statefulset/plan/decide.ts",
    find: "if (Spec.isOrdered(set)) {",
    replace: "if (Spec.isOrdered(set) && pod === undefined) {"
  },
  {
    title: "nobody waits until a replica has been ready for long enough",
    file: "statefulset/plan/decide.ts",
    find: 'if (!Identity.isAvailable(set, pod, look.now)) return wait("unavailable", provided)',
    replace: ""
  },
  {
    title: "nobody waits for a replica that is on its way out",
    file: "statefulset/plan/decide.ts",
    find: 'if (Identity.isGoing(pod)) return wait("terminating", provided)',
    replace: ""
  },
  {
    title: "ended replicas stay",
    file: "statefulset/plan/decide.ts",
    find: '[{ _tag: "Delete", ordinal, pod, why: "ended" }]',
    replace: "[]"
  },
  {
    title: "an ended replica is deleted again and again",
    file: "statefulset/plan/decide.ts",
    find: 'Identity.isGoing(pod) ? [] : [{ _tag: "Delete"',
    replace: 'pod === undefined ? [] : [{ _tag: "Delete"'
  },
  {
    title: "an ordered set makes all at once",
    file: "statefulset/plan/decide.ts",
    find: "if (isMove) return { deeds, isHalted: true, waiting: undefined }",
    replace: ""
  },
  {
    title: "those too many go while one of them is unwell",
    file: "statefulset/plan/decide.ts",
    find: "if (Spec.isOrdered(look.set) && member !== last && ",
    replace: "if (Spec.isOrdered(look.set) && member === last && "
  },
  {
    title: "those too many wait for one that has ended",
    file: "statefulset/plan/decide.ts",
    find: "&& !PodFacts.isTerminal(pod)) {",
    replace: ") {"
  },
  {
    title: "of those too many the last unwell one is waited for, for ever",
    file: "statefulset/plan/decide.ts",
    find: "look.condemned.findLast(",
    replace: "look.condemned.find("
  },
  {
    title: "those too many go from the lowest on",
    file: "statefulset/plan/look.ts",
    find: "b.ordinal - a.ordinal",
    replace: "a.ordinal - b.ordinal"
  },
  {
    title: "an update goes on beside scaling",
    file: "statefulset/plan/decide.ts",
    find: "if (condemned.isHalted) return { phases, waiting: condemned.waiting }",
    replace: ""
  },
  {
    title: "an update does not wait for those above",
    file: "statefulset/plan/outdated.ts",
    find: "if (Look.isUnavailable(look, place.pod)) return []",
    replace: ""
  },
  {
    title: "an update begins at the first replica",
    file: "statefulset/plan/outdated.ts",
    find: ".toReversed()",
    replace: ""
  },
  {
    title: "an update goes below the partition",
    file: "statefulset/plan/outdated.ts",
    find: "places.slice(Spec.partition(set) ?? 0)",
    replace: "places.slice(0)"
  },
  {
    title: "an update replaces what nobody asked for",
    file: "statefulset/plan/outdated.ts",
    find: "if (!Spec.isRolling(look.set)) return []",
    replace: ""
  },
  {
    title: "replicas below the partition come back new",
    file: "statefulset/plan/look.ts",
    find: "? current : update",
    replace: "? update : update"
  },
  {
    title: "the partition counts ordinals",
    file: "statefulset/plan/look.ts",
    find: "ordinal < Spec.start(set) + kept",
    replace: "ordinal < kept"
  },
  {
    title: "an update is done when all replicas are new, ready or not",
    file: "statefulset/plan/status.ts",
    find: "    counts.readyReplicas === desired &&\n",
    replace: ""
  },
  {
    title: "an update is never done",
    file: "statefulset/plan/status.ts",
    find: "counts.updatedReplicas === desired &&",
    replace: "counts.updatedReplicas === desired + 1 &&"
  },
  {
    title: "replicas that were just deleted count",
    file: "statefulset/plan/status.ts",
    find: "const stays = (pod: Pod): boolean => !Identity.isGoing(pod) && !gone.has(pod)",
    replace: "const stays = (pod: Pod): boolean => gone.has(pod) || pod !== undefined"
  },
  {
    title: "the status is written whether or not it is news",
    file: "statefulset/plan/status.ts",
    find: "return isSame ? before : next",
    replace: "return next"
  },
  {
    title: "a conflict of the status is not repeated, and nobody comes back",
    file: "statefulset/sync.ts",
    find: 'if (written._tag === "Failure") return yield* written.failure',
    replace: ""
  },
  {
    title: "nobody comes back when a replica will be available",
    file: "statefulset/sync.ts",
    find: "return delay === undefined ? Reconcile.done : Reconcile.after(delay)",
    replace: "return delay === undefined ? Reconcile.done : Reconcile.done"
  },
  {
    title: "claims are not given away with those too many",
    file: "statefulset/plan/retention.ts",
    find: "const goesWithPod = whenScaled && !Spec.isInRange(set, ordinal)",
    replace: "const goesWithPod = whenScaled && whenDeleted && !Spec.isInRange(set, ordinal)"
  },
  {
    title: "claims stay with pods that are wanted again",
    file: "statefulset/plan/retention.ts",
    find: "const goesWithPod = whenScaled && !Spec.isInRange(set, ordinal)",
    replace: "const goesWithPod = whenScaled"
  },
  {
    title: "claims that are kept stay the set's",
    file: "statefulset/plan/retention.ts",
    find: "return isRight ? undefined : [...others, ...after]",
    replace: "return isRight || after.length === 0 ? undefined : [...others, ...after]"
  },
  {
    title: "a new pod takes the claim that goes with the one before",
    file: "statefulset/plan/decide.ts",
    find: 'if (storage.isStale) return wait("claims")',
    replace: ""
  },
  {
    title: "a claim that is gone wakes nobody",
    file: "statefulset/triggers.ts",
    find: "if (key !== undefined && set !== undefined && claims(set, template)) return [key]",
    replace: ""
  },
  {
    title: "who a replica is stays forgotten",
    file: "statefulset/identity.ts",
    find: "metadata.name === podName(set, ordinal) && metadata.labels?.[nameLabel] === metadata.name",
    replace: "metadata.name === podName(set, ordinal)"
  },
  {
    title: "its own revision is a collision",
    file: "statefulset/history.ts",
    find: "if (History.isOf(holder, template)) return { revision: holder, collisions }",
    replace: ""
  },
  {
    title: "a template that comes back keeps its number",
    file: "statefulset/plan/revisions.ts",
    find: "return current === newest ?",
    replace: "return current !== undefined ?"
  },
  {
    title: "revisions in use are deleted",
    file: "statefulset/plan/revisions.ts",
    find: "revisions.filter(({ metadata }) => !isUsed(metadata.name))",
    replace:
      "revisions.filter(({ metadata }) => !isUsed(metadata.name) || metadata.name !== set.status?.updateRevision)"
  },
  {
    title: "revisions are kept for ever",
    file: "statefulset/plan/revisions.ts",
    find: "unused.slice(0, unused.length - limit)",
    replace: "unused.slice(0, 0)"
  },
  {
    title: "what fails is forgotten",
    file: "statefulset/sync.ts",
    find: "if (failure !== undefined) return yield* failure",
    replace: ""
  },
  {
    title: "after what fails the next replica is made all the same",
    file: "statefulset/work.ts",
    find: "if (failure !== undefined) return failure",
    replace: ""
  }
]

describe("mutants of the StatefulSet loop", () => {
  for (const { file, find, replace, title } of mutants) {
    it.effect(
      title,
      () =>
        Effect.gen(function* () {
          const mutation = { title, find, replace }
          const mutant = yield* Effect.promise(() =>
            loadThrough<typeof StatefulLoop>("controllers/statefulset/loop.ts", `controllers/${file}`, mutation)
          )
          const result = yield* holds(mutant, { runs: 3000, maxShrinks: 0, seed: 1 })
          assert.strictEqual(result._tag, "Falsified")
        }),
      60_000
    )
  }
})
