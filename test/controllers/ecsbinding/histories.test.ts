/** Whatever happens to EcsBindings, in the end each is marked, once for each time that the mark was missing; and faults written in are found out. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as EcsBindings from "../../../src/controllers/EcsBinding.ts"
import { load, type Mutation } from "../../support/mutant.ts"
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

const condition = 'annotations?.[annotation] === "true"'

const mutants: ReadonlyArray<Mutation> = [
  { title: "it writes every time", find: condition, replace: 'name === ""' },
  { title: "it never writes", find: condition, replace: 'name !== ""' },
  { title: "any mark will do", find: condition, replace: "annotations?.[annotation] !== undefined" },
  {
    title: "it looks at new ones only",
    find: "for: EcsBinding,",
    replace: 'for: EcsBinding, predicate: (delta) => delta._tag === "Created",'
  },
  { title: "what fails is not tried again", find: "Effect.asVoid(", replace: "Effect.ignore(" },
  {
    title: "the annotations of others go",
    find: 'Patch.merge({ metadata: { annotations: { [annotation]: "true" } } })',
    replace: 'Patch.json([{ op: "add", path: "/metadata/annotations", value: { [annotation]: "true" } }])'
  }
]

describe("ecsbinding, in any history", () => {
  it.effect(
    "marks each once for each time that the mark is missing, and falls silent",
    () =>
      Effect.gen(function* () {
        const result = yield* check(EcsBindings, { runs: runs(10) })
        assert.isUndefined(Arbitrary.formatCheckFailure(result))
      }),
    600_000
  )

  for (const mutation of mutants) {
    it.effect(
      `mutant is caught: ${mutation.title}`,
      () =>
        Effect.gen(function* () {
          const mutant = yield* Effect.promise(() => load<Module>("controllers/EcsBinding.ts", mutation))
          const result = yield* check(mutant, { runs: 100, maxShrinks: 0, seed: 1 })
          assert.strictEqual(result._tag, "Falsified")
        }),
      600_000
    )
  }
})
