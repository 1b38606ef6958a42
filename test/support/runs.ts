/**
 * How often a property runs. The suite uses the numbers as written; `npm run soak` sets `PROPERTY_FACTOR` and runs the very
 * same properties longer.
 */
const factor = Number(process.env["PROPERTY_FACTOR"] ?? "1")

export const runs = (n: number): number =>
  Math.max(1, Math.round(n * (Number.isFinite(factor) && factor > 0 ? factor : 1)))
