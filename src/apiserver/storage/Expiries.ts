/**
 * What is to be forgotten in time: versions of one collection, in the order in which they are due. Every write of an object
 * gives it its whole lifetime again; an entry whose version is no longer the present one means nothing. No timers: whoever
 * uses the collection asks first.
 */
import type { Version } from "./Version.ts"

interface Entry {
  readonly key: string
  readonly revision: number
  /** Milliseconds since the epoch. */
  readonly due: number
}

export class Expiries {
  private entries: Array<Entry> = []
  private head = 0

  /** Lifetimes in one collection are all the same, so that what is written later is due later. */
  note({ key, revision }: Version, due: number): void {
    this.entries.push({ key, revision, due })
  }

  /** The versions that are due, each once. */
  take(now: number): ReadonlyArray<Entry> {
    const from = this.head
    while ((this.entries[this.head]?.due ?? Number.POSITIVE_INFINITY) <= now) this.head++
    if (from === this.head) return []
    const taken = this.entries.slice(from, this.head)
    // Amortised: the array is cut only when most of it is gone.
    if (this.head * 2 > this.entries.length) {
      this.entries = this.entries.slice(this.head)
      this.head = 0
    }
    return taken
  }
}
