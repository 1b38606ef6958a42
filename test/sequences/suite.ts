/** Checks the invariants over random operation sequences, in the form that a test reports. */
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { seed } from "../support/runs.ts"
import * as Invariants from "./invariants.ts"
import type { Entry } from "./log.ts"
import { run } from "./run.ts"
import type * as Steps from "./steps.ts"

export type Invariant = (log: ReadonlyArray<Entry>) => ReadonlyArray<string>

/** Hold whatever happens. */
export const always: ReadonlyArray<Invariant> = [
  Invariants.asksForNoMore,
  Invariants.neverCreatesTooMany,
  Invariants.formsForest
]

/** Hold as long as machines and networks do their part. */
export const withoutFaults: ReadonlyArray<Invariant> = [
  ...always,
  Invariants.neverOrphans,
  Invariants.neverTooMany,
  Invariants.neverTooFew,
  Invariants.neverTwoGenerations
]

/** At most so many steps a sequence. */
const size = 14

/** A failure comes with the shortest sequence that still fails, and with the token that replays it. */
export const check = <A extends Steps.Sequence>(
  sequences: Arbitrary.Arbitrary<A>,
  invariants: ReadonlyArray<Invariant>,
  options: Arbitrary.CheckOptions
) =>
  Arbitrary.checkEffect(
    sequences,
    (sequence) =>
      run(sequence, invariants).pipe(
        Effect.provide(TestClock.layer()),
        Effect.flatMap((said) => (said.length === 0 ? Effect.succeed(true) : Effect.fail(said)))
      ),
    { size, maxShrinks: 200, seed, ...options }
  )
