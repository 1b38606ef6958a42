/**
 * A token bucket as a function of time. A caller either reserves a token and waits, and the next one then waits longer, so that many keys that
 * fail at once are retried no faster than the rate; or it takes a token only if there is one. Source: golang.org/x/time/rate, Reserve and Allow.
 */
export interface Options {
  /** Tokens per second; more than zero. */
  readonly perSecond: number
  /** The most tokens that it holds, and the number at the start; at least one. */
  readonly burst: number
}

/** Ten retries a second and bursts of a hundred. Source: client-go util/workqueue: DefaultTypedControllerRateLimiter. */
export const clientGo: Options = { perSecond: 10, burst: 100 }

/** Reserves a token at each call and returns after how many milliseconds it may be used; 0 while there are tokens. */
export const make = (options: Options, now: () => number): (() => number) => {
  const bucket = filling(options, now)
  return () => {
    bucket.fill()
    bucket.tokens--
    return bucket.tokens >= 0 ? 0 : (-bucket.tokens * 1000) / options.perSecond
  }
}

/** Takes a token if there is one; false if there is none. */
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
