/**
 * What has changed in a store since a stream's last message: keys only, so a slow reader costs one key for each changed object, whatever the number of
 * changes, and beyond a limit nothing at all, because then the whole is sent again. Plain and synchronous.
 */
import type { Changes } from "./protocol.ts"

/** What is read of a store. */
export interface Source<out A> {
  readonly keys: () => ReadonlyArray<string>
  readonly get: (key: string) => A | undefined
}

/** The most keys that are remembered. */
const limit = 20_000

export class Pending<A, B> {
  private readonly source: Source<A>
  private readonly show: (object: A) => B
  private readonly most: number
  private dirty = new Set<string>()
  /** The next message is the beginning of the whole. */
  private isReset = true
  /** The next message goes on with the whole. */
  private isRest = false

  constructor(source: Source<A>, show: (object: A) => B, most = limit) {
    this.source = source
    this.show = show
    this.most = most
  }

  /** The object of this key was created, changed or deleted. */
  mark(key: string): void {
    if (this.isReset) return
    this.dirty.add(key)
    if (this.dirty.size <= this.most) return
    this.isReset = true
    this.dirty = new Set()
  }

  /** Whether there is something to send. */
  get hasChanged(): boolean {
    return this.isReset || this.dirty.size > 0
  }

  /** At most `count` changes, from the present state of the store; the others remain. */
  take(count: number): Changes<B> {
    const reset = this.isReset
    const isRest = this.isRest && !reset
    if (reset) {
      this.dirty = new Set(this.source.keys())
      this.isReset = false
    }
    const changed: Array<B> = []
    const removed: Array<string> = []
    for (const key of this.dirty) {
      if (changed.length + removed.length === count) break
      this.dirty.delete(key)
      const object = this.source.get(key)
      if (object !== undefined) changed.push(this.show(object))
      else removed.push(key)
    }
    this.isRest = (reset || isRest) && this.dirty.size > 0
    return { reset, ...(isRest ? { rest: true } : {}), changed, removed }
  }
}
