/**
 * Checks histories and says what it found as a test wants it. The loops are arguments, so that the same properties are asked of
 * copies with a fault written in.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as Deployment from "../../src/controllers/Deployment.ts"
import * as GarbageCollector from "../../src/controllers/GarbageCollector.ts"
import * as PodGC from "../../src/controllers/PodGC.ts"
import * as ReplicaSet from "../../src/controllers/ReplicaSet.ts"
import { seed } from "../support/runs.ts"
import * as Invariants from "./invariants.ts"
import type { Entry } from "./log.ts"
import { type Loops, play } from "./play.ts"
import type * as Steps from "./steps.ts"

export type Invariant = (log: ReadonlyArray<Entry>) => ReadonlyArray<string>

export const loops: Loops = {
  deployment: Deployment.make(),
  replicaset: ReplicaSet.make(),
  garbagecollector: GarbageCollector.make(),
  podgc: PodGC.make()
}

/** Hold whatever happens. */
export const always: ReadonlyArray<Invariant> = [
  Invariants.asksForNoMore,
  Invariants.neverCreatesTooMany,
  Invariants.formsForest
]

/** Hold as long as machines and networks do their part. */
export const inCalm: ReadonlyArray<Invariant> = [
  ...always,
  Invariants.neverOrphans,
  Invariants.neverTooMany,
  Invariants.neverTooFew,
  Invariants.neverTwoGenerations
]

/** At most so many steps a history. */
const size = 14

/** A failure comes with the shortest history that still fails, and with the token that replays it. */
export const check = <A extends Steps.History>(
  histories: Arbitrary.Arbitrary<A>,
  invariants: ReadonlyArray<Invariant>,
  options: Arbitrary.CheckOptions & { readonly loops?: Partial<Loops> | undefined }
) =>
  Arbitrary.checkEffect(
    histories,
    (history) =>
      play({ ...loops, ...options.loops }, history, invariants).pipe(
        Effect.provide(TestClock.layer()),
        Effect.flatMap((said) => (said.length === 0 ? Effect.succeed(true) : Effect.fail(said)))
      ),
    { size, maxShrinks: 200, seed, ...options }
  )
