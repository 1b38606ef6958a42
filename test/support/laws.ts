/**
 * Laws: properties that can be asked of any copy of a module, so that the module is proven by them and they are proven by mutants of it.
 * A law that no mutant breaks may be empty; a mutant that breaks none shows a gap.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import { load, type Mutation } from "./mutant.ts"
import { runs } from "./runs.ts"

export interface Law<Module> {
  readonly title: string
  readonly check: (
    module: Module,
    options: Arbitrary.CheckOptions
  ) => Effect.Effect<Arbitrary.CheckResult<unknown, unknown>>
}

export const law = <Module, A>(
  title: string,
  values: Arbitrary.Arbitrary<A>,
  holds: (module: Module, value: A) => boolean
): Law<Module> => ({
  title,
  check: (module, options) => Arbitrary.checkEffect(values, (value) => holds(module, value), options)
})

/** `src/<path>` keeps the laws, and each mutant of it breaks one. */
export const prove = <Module>(options: {
  readonly path: string
  readonly module: Module
  readonly laws: ReadonlyArray<Law<Module>>
  readonly mutants: ReadonlyArray<Mutation>
}): void => {
  describe(`laws of ${options.path}`, () => {
    for (const { check, title } of options.laws) {
      it.effect(title, () =>
        Effect.map(check(options.module, { runs: runs(300) }), (result) =>
          assert.strictEqual(result._tag, "Passed", Arbitrary.formatCheckFailure(result))
        )
      )
    }
  })
  describe(`mutants of ${options.path}`, () => {
    for (const mutation of options.mutants) {
      it.effect(mutation.title, () =>
        Effect.gen(function* () {
          const mutant = yield* Effect.promise(() => load<Module>(options.path, mutation))
          let verdict = "no law is broken"
          for (const { check, title } of options.laws) {
            const result = yield* check(mutant, { runs: 500, maxShrinks: 0, seed: 1 })
            if (result._tag !== "Falsified") continue
            verdict = title
            break
          }
          assert.include(
            options.laws.map(({ title }) => title),
            verdict
          )
        })
      )
    }
  })
}

export { int, oneOf, type ValueOf } from "./property.ts"
