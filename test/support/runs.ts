/**
 * How often a property runs. The suite uses the numbers as written; `npm run soak` sets `PROPERTY_FACTOR` and runs the very
 * same properties longer.
 */
const factor = Number(process.env["PROPERTY_FACTOR"] ?? "1")

export const runs = (n: number): number =>
  Math.max(1, Math.round(n * (Number.isFinite(factor) && factor > 0 ? factor : 1)))

/**
 * Where the random numbers of every property begin (`seed.ts` sets it up). `npm run soak` sets `PROPERTY_SEED=random` and begins elsewhere each
 * time; the replay token of a failure says where.
 */
export const seed: number | string | undefined =
  process.env["PROPERTY_SEED"] === "random" ? undefined : (process.env["PROPERTY_SEED"] ?? 1)

/** Whether faults that take their time are to take all of it: `npm run soak` sets `SOAK=1`, the suite has short forms of them. */
export const full: boolean = process.env["SOAK"] === "1"
