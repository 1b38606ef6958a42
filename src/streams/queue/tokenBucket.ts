/**
 * A token bucket as a function of time. Either a caller waits, and a debt makes the next one wait longer, so that many keys failing at once come
 * back no faster than the rate; or it is refused, which costs nothing. Source: golang.org/x/time/rate, Reserve and Allow.
 */
export interface Options {
  /** Tokens gained a second; more than zero. */
  readonly perSecond: number
  /** The most it holds, and what it holds at first; at least one. */
  readonly burst: number
}

/** Takes a token at each call and answers in how many milliseconds it may be used; 0 while there are tokens. */
export const make = (options: Options, now: () => number): (() => number) => {
  const bucket = filling(options, now)
  return () => {
    bucket.fill()
    bucket.tokens--
    return bucket.tokens >= 0 ? 0 : (-bucket.tokens * 1000) / options.perSecond
  }
}

/** Takes a token at each call where there is one; false where there is none. */
export const refusing = (options: Options, now: () => number): (() => boolean) => {
  const bucket = filling(options, now)
  return () => {
    bucket.fill()
    if (bucket.tokens < 1) return false
    bucket.tokens--
    return true
  }
}

const filling = ({ burst, perSecond }: Options, now: () => number) => {
  let at = now()
  const bucket = {
    tokens: burst,
    fill: (): void => {
      const time = now()
      bucket.tokens = Math.min(burst, bucket.tokens + (Math.max(0, time - at) * perSecond) / 1000)
      at = time
    }
  }
  return bucket
}
