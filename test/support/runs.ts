/**
 * How often a property runs. `npm test` uses the numbers as written; `npm run soak` sets `PROPERTY_FACTOR` and runs the same properties more
 * often.
 */
const factor = Number(process.env["PROPERTY_FACTOR"] ?? "1")

export const runs = (n: number): number =>
  Math.max(1, Math.round(n * (Number.isFinite(factor) && factor > 0 ? factor : 1)))

/**
 * The seed of the random numbers of every property (`seed.ts` sets it). `npm run soak` sets `PROPERTY_SEED=random` and uses another seed each
 * time; the replay token of a failure contains it.
 */
export const seed: number | string | undefined =
  process.env["PROPERTY_SEED"] === "random" ? undefined : (process.env["PROPERTY_SEED"] ?? 1)

/** Whether slow faults run at full length: `npm run soak` sets `SOAK=1`, and `npm test` has short forms of them. */
export const full: boolean = process.env["SOAK"] === "1"

/**
 * How often a random operation sequence runs on a whole cluster, which takes up to a second: `npm test` runs a quarter of the number as written, and
 * `SOAK=1` runs all.
 */
export const longRuns = (n: number): number => runs(full ? n : n / 4)
