/** Whatever happens to Memcacheds, in the end all is as it should be; and copies of the operator with a fault written in are found out. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as Memcacheds from "../../../src/controllers/Memcached.ts"
import { loadThrough, type Mutation } from "../../support/mutant.ts"
import { runs, seed } from "../../support/runs.ts"
import { History, type Module, play } from "./play.ts"

const check = (module: Module, options: Arbitrary.CheckOptions) =>
  Arbitrary.checkEffect(
    Arbitrary.schema(History),
    (history) =>
      play(module, history).pipe(
        Effect.provide(TestClock.layer()),
        Effect.flatMap((said) => (said.length === 0 ? Effect.succeed(true) : Effect.fail(said)))
      ),
    { size: 8, maxShrinks: 40, seed, ...options }
  )

const mutants: ReadonlyArray<Mutation & { readonly path: string }> = [
  {
    path: "controllers/Memcached.ts",
    title: "changes of its Deployment are not seen",
    find: "owns: [Deployment]",
    replace: "owns: [Controller.owned(Deployment, { predicate: () => false })]"
  },
  {
    path: "controllers/Memcached.ts",
    title: "nothing is done before it goes",
    find: "    finalizers: {",
    replace: "    ...{} as {}, unused: {"
  },
  {
    path: "controllers/Memcached.ts",
    title: "what was in the way is not looked at again",
    find: 'isBlocked ? Reconcile.after("30 seconds") : Reconcile.done',
    replace: "Reconcile.done"
  },
  {
    path: "controllers/memcached/plan.ts",
    title: "it owns nothing",
    find: "ownerReferences: [Owner.reference(Memcached, memcached)]",
    replace: "ownerReferences: []"
  },
  {
    path: "controllers/memcached/plan.ts",
    title: "drift is not repaired",
    find: "Equality.covers(live.spec, wanted.spec)",
    replace: "true"
  },
  {
    path: "layers/controller/writes/finalize.ts",
    title: "the finalizer stays",
    find: "Effect.andThen(work(object), takeOff(store, name))",
    replace: "work(object)"
  }
]

describe("memcached, in any history", () => {
  it.effect(
    "converges, leaves no orphan, falls silent, and finalizes once",
    () =>
      Effect.gen(function* () {
        const result = yield* check(Memcacheds, { runs: runs(12) })
        assert.isUndefined(Arbitrary.formatCheckFailure(result))
      }),
    600_000
  )

  for (const { path, ...mutation } of mutants) {
    it.effect(
      `mutant is caught: ${mutation.title}`,
      () =>
        Effect.gen(function* () {
          const mutant = yield* Effect.promise(() => loadThrough<Module>("controllers/Memcached.ts", path, mutation))
          const result = yield* check(mutant, { runs: 100, maxShrinks: 0, seed: 1 })
          assert.strictEqual(result._tag, "Falsified")
        }),
      600_000
    )
  }
})
