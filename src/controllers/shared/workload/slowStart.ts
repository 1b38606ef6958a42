/**
 * Repeats one call in batches of 1, 2, 4, 8 …, and stops after a batch with a failure, so that a quota or a rejecting webhook causes a few failed
 * calls instead of hundreds. Source: pkg/controller/replicaset: slowStartBatch.
 */
import * as Effect from "effect/Effect"

export interface Outcome<out E> {
  /** Calls that succeeded; the others failed or were never made. */
  readonly succeeded: number
  /** The first failure in time; undefined if every call was made and succeeded. */
  readonly failure: { readonly error: E } | undefined
}

/** Sizes of the batches while nothing fails; their sum is the count. */
export const batches = (count: number): ReadonlyArray<number> => {
  const sizes: Array<number> = []
  for (let left = count, size = 1; left > 0; left -= size, size *= 2) sizes.push(Math.min(size, left))
  return sizes
}

/** Never fails: the outcome has the first failure. The calls of a batch run concurrently. */
export const run = Effect.fnUntraced(function* <A, E, R>(
  count: number,
  call: Effect.Effect<A, E, R>
): Effect.fn.Return<Outcome<E>, never, R> {
  const outcome: { -readonly [K in keyof Outcome<E>]: Outcome<E>[K] } = { succeeded: 0, failure: undefined }
  const counted = Effect.matchEager(call, {
    onSuccess: () => void outcome.succeeded++,
    onFailure: (error) => void (outcome.failure ??= { error })
  })
  for (const size of batches(count)) {
    const batch = Array.from({ length: size }, () => counted)
    yield* Effect.all(batch, { concurrency: "unbounded", discard: true })
    if (outcome.failure !== undefined) break
  }
  return outcome
})
