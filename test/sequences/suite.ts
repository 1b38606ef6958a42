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

/** Hold under any faults. */
export const always: ReadonlyArray<Invariant> = [
  Invariants.neverDesiresTooMany,
  Invariants.neverCreatesTooMany,
  Invariants.formsForest
]

/** Hold as long as no node, no pod and no request fails. */
export const withoutFaults: ReadonlyArray<Invariant> = [
  ...always,
  Invariants.neverOrphans,
  Invariants.neverTooMany,
  Invariants.neverTooFew,
  Invariants.neverTwoGenerations
]

/** The most steps of a sequence. */
const size = 14

/** A failure names the shortest sequence that still fails, and the token that replays it. */
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
        Effect.flatMap((violations) => (violations.length === 0 ? Effect.succeed(true) : Effect.fail(violations)))
      ),
    { size, maxShrinks: 200, seed, ...options }
  )
