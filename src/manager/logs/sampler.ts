/**
 * Keeps a message that repeats from drowning the rest: in each second, of each level and message the first hundred lines pass, and
 * then every hundredth. It looks at constant messages; what varies belongs into the values of a line. Pure but for its counts.
 * Source: zap's production defaults.
 */

const first = 100
const thereafter = 100

/** Messages counted apart within a second; those that come later share one count. */
const most = 1024

export class Sampler {
  /** The second that is counted, since 1970. */
  private second = Number.NaN
  /** Lines of this second by level and message; never more than `most` and the shared one. */
  private readonly counts = new Map<string, number>()

  /** Whether the line is to be written. `millis`: when it was said. */
  admits(level: string, message: string, millis: number): boolean {
    const second = Math.floor(millis / 1000)
    if (second !== this.second) {
      this.second = second
      this.counts.clear()
    }
    const own = `${level} ${message}`
    const key = this.counts.has(own) || this.counts.size < most ? own : ""
    const count = (this.counts.get(key) ?? 0) + 1
    this.counts.set(key, count)
    return count <= first || (count - first) % thereafter === 0
  }
}
