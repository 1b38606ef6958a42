/** Properties of values: a statement about every value that an arbitrary generates. */
import { assert, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { runs, seed } from "./runs.ts"

/** A test: `holds` for each value that is drawn. A failure shows the smallest value for which it does not. */
export const checkProperty = <A>(
  title: string,
  values: Arbitrary.Arbitrary<A>,
  holds: (value: A) => boolean | Effect.Effect<boolean, unknown>,
  options: Arbitrary.CheckOptions = { runs: runs(300) }
): void => {
  it.effect(title, () =>
    Effect.map(Arbitrary.checkEffect(values, holds, options), (result) =>
      assert.strictEqual(result._tag, "Passed", Arbitrary.formatCheckFailure(result))
    )
  )
}

/** A test: `run` returns no violation for any sequence that is drawn, each under a clock of its own. Default of `timeout`: two minutes. */
export const checkSequences = <A, E>(
  title: string,
  sequences: Arbitrary.Arbitrary<A>,
  run: (sequence: A) => Effect.Effect<ReadonlyArray<string>, E>,
  { timeout = 120_000, ...options }: Arbitrary.CheckOptions & { readonly timeout?: number } = {
    runs: runs(25),
    maxShrinks: 50,
    seed
  }
): void => {
  const check = (sequence: A) =>
    run(sequence).pipe(
      Effect.provide(TestClock.layer()),
      Effect.flatMap((violations) => (violations.length === 0 ? Effect.succeed(true) : Effect.fail(violations)))
    )
  it.effect(
    title,
    () =>
      Effect.map(Arbitrary.checkEffect(sequences, check, options), (result) =>
        assert.strictEqual(result._tag, "Passed", Arbitrary.formatCheckFailure(result))
      ),
    timeout
  )
}

/** What an arbitrary yields. */
export type ValueOf<A> = A extends Arbitrary.Arbitrary<infer T> ? T : never

export const int = (minimum: number, maximum: number): Arbitrary.Arbitrary<number> =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))

export const oneOf = <const A extends ReadonlyArray<string | number | boolean>>(
  ...values: A
): Arbitrary.Arbitrary<A[number]> => Arbitrary.schema(Schema.Literals(values))
