/**
 * A token bucket as a function of time: how long whoever asks now has to wait. It never refuses; a debt makes the next one
 * wait longer, so that many keys failing at once come back no faster than the rate. Source: client-go's default limiter.
 */
export interface Options {
  /** Tokens gained a second; more than zero. */
  readonly perSecond: number
  /** The most it holds, and what it holds at first; at least one. */
  readonly burst: number
}

/** Takes a token at each call and answers in how many milliseconds it may be used; 0 while there are tokens. */
export const make = ({ burst, perSecond }: Options, now: () => number): (() => number) => {
  const perMilli = perSecond / 1000
  let tokens = burst
  let at = now()
  return () => {
    const time = now()
    tokens = Math.min(burst, tokens + Math.max(0, time - at) * perMilli) - 1
    at = time
    return tokens >= 0 ? 0 : -tokens / perMilli
  }
}
