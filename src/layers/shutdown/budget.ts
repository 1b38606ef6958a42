/**
 * How the time of an orderly stop is divided: one budget, counted from the moment the stop begins, and for each stage the moment
 * at which it has to be over, so that whatever one stage leaves is there for the next. Work may take nearly all of it; a small
 * reserve is kept for what must come after the work, however long that takes. Pure. Source: framework.md 2.2, 5.1.
 */

/** In this order. `drain`: work finishes. `release`: leases are given back. `flush`: events are sent. `end`: all is closed. */
export type Stage = "drain" | "release" | "flush" | "end"

export interface Options {
  /** Milliseconds from the beginning to the end; 0 leaves the work no time; infinity is no limit. */
  readonly timeout: number
  /** `interrupt`: work gets no time, whatever the timeout. */
  readonly mode: "drain" | "interrupt"
}

/** Milliseconds that are kept for what comes after the work, at most. */
export const reserve = 2000

/** Milliseconds after the beginning at which each stage is over at the latest; they never decrease. */
export const limits = ({ mode, timeout }: Options): Readonly<Record<Stage, number>> => {
  const end = timeout > 0 ? timeout : reserve
  const kept = end === Infinity ? 0 : Math.min(reserve, timeout > 0 ? timeout / 4 : reserve)
  return {
    drain: mode === "interrupt" ? 0 : end - kept,
    release: end - kept / 2,
    flush: end - (3 * kept) / 8,
    end
  }
}
