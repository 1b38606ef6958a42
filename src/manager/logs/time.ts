/** How the moment of a log line is written: the encodings of zap's command line, by their names there. Pure. */

export const encodings = ["epoch", "millis", "nanos", "iso8601", "rfc3339", "rfc3339nano"] as const

export type Encoding = (typeof encodings)[number]

/** Numbers are seconds, milliseconds and nanoseconds since 1970, texts are UTC. The clock of a line counts milliseconds. */
export const encode = (encoding: Encoding, date: Date): number | string => {
  const millis = date.getTime()
  switch (encoding) {
    case "epoch":
      return millis / 1000
    case "millis":
      return millis
    case "nanos":
      // Its digits are more than a double holds exactly: the milliseconds are exact, and the rest would be zero.
      return millis * 1_000_000
    case "iso8601":
      return date.toISOString()
    case "rfc3339":
      return `${date.toISOString().slice(0, 19)}Z`
    case "rfc3339nano":
      // As Go writes it: no zeros at the end of the fraction, and no fraction of zero.
      return date.toISOString().replace(/\.?0{0,3}Z$/, "Z")
  }
}
