import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as ReplicaLoop from "../../../src/controllers/workload/replicaLoop.ts"
import { loadThrough, type Mutation } from "../../support/mutant.ts"
import { runs } from "../../support/runs.ts"
import { Action, check } from "./replicaModel.ts"

/** Short scripts are found by shrinking; where that is not wanted, a minimal length finds more. */
const property = (module: typeof ReplicaLoop, minLength: number, options: Arbitrary.CheckOptions) =>
  Arbitrary.checkEffect(
    Arbitrary.array(Arbitrary.schema(Action), { minLength, maxLength: 24 }),
    (actions) =>
      Effect.flatMap(check(module, actions), (wrong) =>
        wrong === undefined ? Effect.succeed(true) : Effect.fail(wrong)
      ).pipe(Effect.provide(TestClock.layer())),
    { size: 24, ...options }
  )

const expectations = "controllers/workload/expectations.ts"
const loop = "controllers/workload/replicaLoop.ts"
const trigger = "controllers/workload/podTrigger.ts"

const mutants: ReadonlyArray<readonly [path: string, mutation: Mutation]> = [
  [
    expectations,
    {
      title: "a deletion is counted twice",
      find: "book.deletions.delete(dependent)",
      replace: "book.deletions.delete([...book.deletions][0] ?? dependent)"
    }
  ],
  [
    expectations,
    { title: "expectations are ignored", find: "return book === undefined ? 0 :", replace: "return true ? 0 :" }
  ],
  [
    loop,
    {
      title: "pods that were never made stay expected",
      find: "for (let i = succeeded; i < count; i++) books.creationObserved(key)",
      replace: ""
    }
  ],
  [
    loop,
    {
      title: "a refused deletion stays expected",
      find: `        onFailure: (error) => {
          books.deletionObserved(key, Key.of(pod))`,
      replace: "        onFailure: (error) => {"
    }
  ],
  [
    trigger,
    {
      title: "a pod that is on its way out is not seen as deleted",
      find: `delta._tag === "Deleted" || pod.metadata.deletionTimestamp !== undefined`,
      replace: `delta._tag === "Deleted"`
    }
  ],
  [
    loop,
    {
      title: "creations are not expected",
      find: "  books.expectCreations(key, count, now)\n",
      replace: ""
    }
  ],
  [
    loop,
    {
      title: "deletions are not expected",
      find: "  books.expectDeletions(key, pods.map(Key.of), now)\n",
      replace: ""
    }
  ],
  [
    loop,
    {
      title: "the status is not told while pods are not managed",
      find: "if (!Replicas.isCurrent(owner, next, state.terminatingReplicas.isKept()))",
      replace: "if (mayManage && failure === undefined && !Replicas.isCurrent(owner, next, true) && active.length > 0)"
    }
  ]
]

describe("the replica loop, with a cache that lags as it likes", () => {
  for (const [what, minLength] of [
    ["scripts of any length", 0],
    ["long scripts", 16]
  ] as const) {
    it.effect(`never makes or deletes a pod on old news, and comes to rest with the truth: ${what}`, () =>
      Effect.map(property(ReplicaLoop, minLength, { runs: runs(300) }), (result) =>
        assert.isUndefined(Arbitrary.formatCheckFailure(result))
      )
    )
  }

  for (const [path, mutation] of mutants) {
    it.effect(`mutant is caught: ${mutation.title}`, () =>
      Effect.gen(function* () {
        const module = yield* Effect.promise(() => loadThrough<typeof ReplicaLoop>(loop, path, mutation))
        assert.strictEqual((yield* property(module, 16, { runs: 2000, maxShrinks: 0, seed: 4 }))._tag, "Falsified")
      })
    )
  }
})
